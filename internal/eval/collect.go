package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent"
)

// collect reviews the cases and has them judged, as far as the candidates file
// does not say already how that ended. Those that are given, if any are, are judged
// alone. It ends early when a bound of what may be spent is reached.
func (v Reviewer) collect(ctx context.Context, cases []Case, o Run, given *File) (file File, err error) {
	w, file, err := o.open()
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	info := v.Engine.Info()
	for _, one := range cases {
		if before, ok := file.Lines[one.Name]; ok && (before.Sum != one.Sum || given == nil && before.Engine != info.Who) {
			err := fmt.Errorf("resume %s: it was reviewed by %s, or as another change", one.Name, before.Engine)
			return file, &Fault{err, "name another file with --out"}
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
		o.Notice("what rejections cover was not judged to the end, %s; --resume goes on", trouble)
	}
	return file, err
}

// done tells whether nothing is left to do for a line of the candidates file.
func (o *Run) done(line *Candidates) bool {
	j := line.Judged
	return line.Complete() && (!o.Judge || j != nil && j.Status == precedent.StatusOK && (j.All || !o.All))
}

// candidates reviews a case, if it is to be reviewed and no complete review of it is
// there, and has it judged. Before is the zero Candidates if nothing is there.
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
