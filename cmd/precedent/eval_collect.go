package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/api"
	"github.com/precedent-dev/precedent/internal/eval"
	"github.com/precedent-dev/precedent/internal/settings"
)

// collect reviews the cases and has them judged, as far as the file of --out
// does not say already how that ended. Those of given are judged alone.
func (a *app) collect(ctx context.Context, cases []eval.Case, given eval.File, o evalOptions) (file eval.File, err error) {
	op, err := a.settings(o.flags)
	if err != nil {
		return file, err
	}
	e, end, err := a.evalEngine(op)
	if err != nil {
		return file, err
	}
	defer end()
	v := a.reviewer(op)
	v.Engine = e
	w, file, err := openCandidates(o)
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, c := range cases {
		if before, ok := file.Lines[c.Name]; ok && (before.Sum != c.Sum || o.candidates == "" && before.Engine != e.Info().Who) {
			return file, hinted(fmt.Errorf("resume %s: it was reviewed by %s, or as another change", c.Name, before.Engine), "name another file with --out")
		}
	}
	a.notice("engine %s", e.Info().Line)
	for i := range cases {
		c := &cases[i]
		before, ok := file.Lines[c.Name]
		if ok && before.Complete() && (!o.judge || before.Judged != nil && before.Judged.Status == precedent.StatusOK && (before.Judged.All || !o.All)) {
			continue
		}
		if o.candidates != "" {
			if before, ok = given.Lines[c.Name]; !ok {
				continue
			}
			before.Judged, before.Dismissed = nil, nil
		}
		line, err := a.evalCase(ctx, v, c, before, ok, o)
		if err != nil {
			return file, err
		}
		if err := w.Write(line); err != nil {
			return file, err
		}
		file.Lines[c.Name] = line
		file.Spent.Add(line.Spent)
		a.notice("%d of %d: %s %s, %d findings, %s", i+1, len(cases), c.Name, line.Verdict, len(line.Findings), spentLine(line.Spent))
		if line.OverBudget() {
			a.notice("a bound of what the run may take is reached; --resume goes on")
			return file, nil
		}
	}
	if !o.judge {
		return file, nil
	}
	trouble, err := v.JudgeDismissals(ctx, cases, file, o.Options, func(line eval.Candidates) error {
		file.Lines[line.Case] = line
		file.Spent.Add(line.Spent)
		return w.Write(line)
	})
	if trouble != "" {
		a.notice("what rejections cover was not judged to the end, %s; --resume goes on", trouble)
	}
	return file, err
}

// evalCase reviews a case, unless a complete review of it is there, and has it judged.
func (a *app) evalCase(ctx context.Context, v eval.Reviewer, c *eval.Case, before eval.Candidates, have bool, o evalOptions) (eval.Candidates, error) {
	line := before
	line.Spent = eval.Spent{}
	if o.candidates == "" && (!have || !before.Complete()) {
		var err error
		if line, err = v.Review(ctx, c); err != nil {
			return line, err
		}
	}
	if !o.judge || !line.Complete() {
		return line, nil
	}
	j, err := v.Judge(ctx, c, &line, o.All)
	if err != nil {
		return line, err
	}
	line.Judged = j
	line.Spent.Add(j.Spent)
	return line, nil
}

// reviewer has the operator's settings, but no engine yet.
func (a *app) reviewer(op *settings.Settings) eval.Reviewer {
	return eval.Reviewer{
		Threshold: op.Threshold.Value, Window: op.Context.Value, Concurrency: op.Concurrency.Value, Timeout: op.Timeout.Value,
		Now: a.now, NewID: newID,
	}
}

func openCandidates(o evalOptions) (*eval.Writer, eval.File, error) {
	if o.resume {
		return eval.Resume(o.out)
	}
	w, err := eval.Create(o.out)
	if errors.Is(err, fs.ErrExist) {
		err = hinted(err, "go on with it: --resume, or name another file")
	}
	return w, eval.File{Lines: map[string]eval.Candidates{}}, err
}

// evalEngine makes the engine that the operator chose, without a repository to
// look into, and with one budget for the whole run.
func (a *app) evalEngine(op *settings.Settings) (engine.Engine, func(), error) {
	end := func() {}
	r, err := a.reader(op)
	if err != nil {
		return nil, end, err
	}
	e, done := a.assemble(op, r, budget(op, nil, 0), api.Files{}, op.Context.Value)
	if e == nil {
		return nil, end, hinted(errors.New("there is no engine to be measured"), "name one: --engine anthropic, openai, claude or command:PATH")
	}
	return e, func() { _ = done() }, nil // what stays behind is a temporary folder
}
