package eval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/precedent-dev/precedent"
)

// Fault is an error that a user can do something about.
type Fault struct {
	error
	Hint string
}

// Unwrap returns the error itself.
func (f *Fault) Unwrap() error { return f.error }

func fault(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &Fault{err, hint}
}

const (
	changesHint = "DIR holds a folder for each change, with its diff.patch and meta.json"
	pairsHint   = "DIR holds pairs.json or pairs.jsonl; docs/eval.md has its form, and the others that are read"
	casesHint   = "DIR holds cases.json or cases.jsonl; docs/eval.md has its form, and the others that are read"
)

// Run is one run of eval review, as its command line says.
type Run struct {
	Out        string // the candidates file that is written
	Resume     bool   // what is complete in Out is not done again
	Candidates string // a file that is scored instead of reviewing
	Judge      bool   // have the engine judge which remarks make the same point
	Options
	Notice func(format string, args ...any) // progress for people
}

// Asks tells whether an engine is asked anything.
func (o *Run) Asks() bool { return o.Candidates == "" || o.Judge }

// Check returns what is wrong with the command line; named tells whether it says
// anything about engines.
func (o *Run) Check(named bool) error {
	switch {
	case o.Asks() && o.Out == "":
		return errors.New("name the file that gets what was found: --out FILE")
	case !o.Asks() && (o.Out != "" || o.Resume || named):
		return errors.New("--candidates alone asks no engine and writes nothing: add --judge, or leave out --out, --resume and what is about engines")
	case o.Candidates != "" && o.Candidates == o.Out:
		return errors.New("--candidates and --out name the same file")
	case o.Near < 0:
		return fmt.Errorf("--near %d: want 0 or more lines", o.Near)
	}
	return nil
}

// MeasureReview makes or reads the candidates of the data set in dir, and scores
// them. The reviewer may be nil if no engine is asked.
func MeasureReview(ctx context.Context, dir string, o Run, v *Reviewer) (Result, error) {
	cases, err := Read(dir)
	if err != nil {
		return Result{}, fault(err, changesHint)
	}
	var file File
	var given *File
	if o.Candidates != "" {
		if file, err = ReadCandidates(o.Candidates); err != nil {
			return Result{}, fault(err, "--out of an earlier run has written it")
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

// Whole tells whether every change was scored, by the judge too if there is one.
func (r *Result) Whole() bool {
	return r.Scored == r.Cases && (r.Judge == nil || len(r.Judge.Unjudged) == 0)
}

// open opens the candidates file, and returns what it holds.
func (o *Run) open() (*Writer, File, error) {
	if o.Resume {
		return Resume(o.Out)
	}
	w, err := Create(o.Out)
	if errors.Is(err, fs.ErrExist) {
		err = fault(err, "go on with it: --resume, or name another file")
	}
	return w, File{Lines: map[string]Candidates{}}, err
}

// MeasureDedup reads the pairs in dir, has them judged if there is a judge, and
// scores them.
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

// How often rejections are drawn for each pool, as long as nobody says otherwise:
// with a judge less often, because every draw asks other questions.
const (
	Draws       = 10
	JudgedDraws = 1
)

// MeasureSuppress reads what was dismissed and found from dir, has it judged if
// there is a judge, and scores what is hidden.
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

// Whole tells whether the judge answered to the end, if there was one.
func (j *Judging) Whole() bool { return j == nil || j.Status == precedent.StatusOK }
