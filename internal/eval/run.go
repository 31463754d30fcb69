package eval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/precedent-dev/precedent"
)

// HintError is an error with a hint for the user.
type HintError struct {
	error
	Hint string
}

// Unwrap returns the error itself.
func (f *HintError) Unwrap() error { return f.error }

func fault(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &HintError{err, hint}
}

const (
	changesHint  = "DIR has a folder for each change, with diff.patch and meta.json"
	pairsHint    = "DIR has pairs.json or pairs.jsonl; docs/eval.md describes this and the other formats"
	commentsHint = "DIR has files *.jsonl or *.jsonl.gz with review comments; docs/eval.md describes the format"
	casesHint    = "DIR has cases.json or cases.jsonl; docs/eval.md describes this and the other formats"
)

// Run is one run of eval review: its options.
type Run struct {
	Out        string // the candidates file to write
	Resume     bool   // keep what is complete in Out
	Candidates string // a candidates file to score instead of reviewing
	Judge      bool   // let the engine judge which remarks make the same point
	Options
	Notice func(format string, args ...any) // reports progress
}

// Asks reports whether an engine is needed.
func (o *Run) Asks() bool { return o.Candidates == "" || o.Judge }

// Check returns what is wrong with the options; named is set if any option is about engines.
func (o *Run) Check(named bool) error {
	switch {
	case o.Asks() && o.Out == "":
		return errors.New("name the file for the candidates: --out FILE")
	case !o.Asks() && (o.Out != "" || o.Resume || named):
		return errors.New("--candidates alone uses no engine and writes nothing: add --judge, or remove --out, --resume and the engine options")
	case o.Candidates != "" && o.Candidates == o.Out:
		return errors.New("--candidates and --out name the same file")
	case o.Near < 0:
		return fmt.Errorf("--near %d: want 0 or more lines", o.Near)
	}
	return nil
}

// MeasureReview creates or reads the candidates of the data set in dir, and scores
// them. The reviewer may be nil if no engine is needed.
func MeasureReview(ctx context.Context, dir string, o Run, v *Reviewer) (Result, error) {
	cases, err := Read(dir)
	if err != nil {
		return Result{}, fault(err, changesHint)
	}
	var file File
	var given *File
	if o.Candidates != "" {
		if file, err = ReadCandidates(o.Candidates); err != nil {
			return Result{}, fault(err, "use the --out file of an earlier run")
		}
		given = &file
	}
	if o.Asks() {
		if file, err = v.collect(ctx, cases, o, given); err != nil {
			return Result{}, err
		}
	}
	return Compute(ctx, cases, file, o.Options)
}

// Whole reports whether every change was scored, and also judged if there is a judge.
func (r *Result) Whole() bool {
	return r.Scored == r.Cases && (r.Judge == nil || len(r.Judge.Unjudged) == 0)
}

// open opens the candidates file, and returns its content.
func (o *Run) open() (*Writer, File, error) {
	if o.Resume {
		return Resume(o.Out)
	}
	w, err := Create(o.Out)
	if errors.Is(err, fs.ErrExist) {
		err = fault(err, "continue with --resume, or use another file")
	}
	return w, File{Lines: map[string]Candidates{}}, err
}

// MeasureDedup reads the pairs in dir, judges them if there is a judge, and scores them.
func MeasureDedup(ctx context.Context, dir string, judge *Reviewer, seed uint64) (Dedup, error) {
	pairs, err := ReadPairs(dir)
	if err != nil {
		return Dedup{}, fault(err, pairsHint)
	}
	var j *Judging
	if judge != nil {
		if j, err = judge.JudgePairs(ctx, pairs); err != nil {
			return Dedup{}, err
		}
	}
	return ScoreDedup(pairs, j, seed), nil
}

// The default number of draws of dismissals per pool: fewer with a judge, because
// every draw asks new questions.
const (
	Draws       = 10
	JudgedDraws = 1
)

// MeasureSuppress reads dismissals and findings from dir, judges them if there is a
// judge, and scores what is hidden.
func MeasureSuppress(ctx context.Context, dir string, judge *Reviewer, draws int, seed uint64) (Suppress, error) {
	m, err := ReadMemories(dir, seed)
	if err != nil {
		return Suppress{}, fault(err, casesHint)
	}
	var j *Judging
	if judge != nil {
		if j, err = judge.JudgeMemories(ctx, m, draws, seed); err != nil {
			return Suppress{}, err
		}
	}
	return ScoreSuppress(m, j, draws, seed), nil
}

// Whole reports whether the judge answered everything, or there was none.
func (j *Judging) Whole() bool { return j == nil || j.Status == precedent.StatusOK }
