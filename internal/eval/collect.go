package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent"
)

// collect reviews and judges the cases, except for what the candidates file already has. If candidates are
// given, they are judged instead. It ends early when a budget limit is reached.
func (v Reviewer) collect(ctx context.Context, cases []Case, o Run, given *File) (file File, err error) {
	w, file, err := o.open()
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	info := v.Engine.Info()
	for _, one := range cases {
		if before, ok := file.Lines[one.Name]; ok && (before.Sum != one.Sum || given == nil && before.Engine != info.Who) {
			err := fmt.Errorf("resume %s: it was reviewed by %s, or with another patch", one.Name, before.Engine)
			return file, &HintError{err, "use another file: --out FILE"}
		}
	}
	o.Notice("engine %s", info.Line)
	save := func(line Candidates) error {
		file.Lines[line.Case] = line
		file.Spent.Add(line.Spent)
		return w.Write(line)
	}
	for i := range cases {
		before, ok := file.Lines[cases[i].Name]
		if ok && o.done(&before) {
			continue
		}
		if given != nil {
			if before, ok = given.Lines[cases[i].Name]; !ok {
				continue
			}
			before.Judged, before.Dismissed = nil, nil
		}
		line, err := v.candidates(ctx, &cases[i], before, o, given == nil)
		if err != nil {
			return file, err
		}
		if err := save(line); err != nil {
			return file, err
		}
		o.Notice("%d of %d: %s %s, %d findings, %s", i+1, len(cases), line.Case, line.Verdict, len(line.Findings), line.Spent)
		if line.OverBudget() {
			o.Notice("the run reached its cost or token limit; --resume continues it")
			return file, nil
		}
	}
	if !o.Judge {
		return file, nil
	}
	trouble, err := v.JudgeDismissals(ctx, cases, file, o.Options, save)
	if trouble != "" {
		o.Notice("judging dismissals did not finish, %s; continue with --resume", trouble)
	}
	return file, err
}

// done reports whether a line of the candidates file is complete.
func (o *Run) done(line *Candidates) bool {
	j := line.Judged
	return line.Complete() && (!o.Judge || j != nil && j.Status == precedent.StatusOK && (j.All || !o.All))
}

// candidates reviews a case, if it should be reviewed and it has no complete review yet,
// and judges it. before is the zero Candidates if the file has no line of it.
func (v Reviewer) candidates(ctx context.Context, c *Case, before Candidates, o Run, reviews bool) (Candidates, error) {
	line := before
	line.Spent = Spent{}
	if reviews && (before.Case == "" || !before.Complete()) {
		var err error
		if line, err = v.Review(ctx, c); err != nil {
			return line, err
		}
	}
	if !o.Judge || !line.Complete() {
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
