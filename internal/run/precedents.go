package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// precedentTime bounds how long a review waits for the corpus to be opened and searched for norms.
const precedentTime = 20 * time.Second

// recallPrecedents opens what people wrote on earlier pull requests of the repository, and finds
// what to tell finders, unless the policy or the operator turned that off. If that fails or takes
// too long, the review goes on without it, and says so.
func (p *Prepared) recallPrecedents(ctx context.Context, w *workspace.Workspace, prime bool) error {
	in := &p.Input
	if in.Policy.Precedents == precedent.PrecedentsOff || !p.settings.Precedents.Value {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, precedentTime)
	defer cancel()
	found, err := p.findPrecedents(limited, w, prime)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && limited.Err() != nil:
		found, err = review.Precedents{}, fmt.Errorf("it took longer than %s", precedentTime)
	}
	if err != nil {
		found.Failures = append(found.Failures, "what people wrote on earlier pull requests is not used: "+err.Error())
	}
	in.Precedents = found
	return nil
}

// findPrecedents returns a panic, which hostile text may cause, as an error.
func (p *Prepared) findPrecedents(ctx context.Context, w *workspace.Workspace, prime bool) (out review.Precedents,
	err error,
) {
	defer func() {
		if crash := recover(); crash != nil {
			out, err = review.Precedents{}, fmt.Errorf("crashed: %v", crash)
		}
	}()
	x, err := p.openIndex(ctx, w)
	if err != nil || x == nil {
		return out, err
	}
	out.Index, out.Query = x, corpus.Query{Before: p.Before}
	if p.Number != nil {
		out.Query.Pull = *p.Number
	}
	if prime {
		out.Priming, err = x.Prime(ctx, withoutIgnored(p.Input.Change, p.Input.Policy.Ignore), out.Query)
	}
	return out, err
}

// openIndex returns an index of the repository's corpus; nil if that has no comments.
func (p *Prepared) openIndex(ctx context.Context, w *workspace.Workspace) (*corpus.Index, error) {
	rows := w.Memory.Rows
	if has, err := rows.HasCorpus(ctx); err != nil || !has {
		return nil, err
	}
	c := corpus.Corpus{Rows: rows, Now: p.reviewer.Now, Embedding: p.embedding(rows)}
	x, err := c.Open(ctx)
	if err != nil || x.Empty() {
		return nil, err
	}
	return x, nil
}

// withoutIgnored returns a change without the files whose findings are not shown.
func withoutIgnored(c *diff.Change, globs []string) *diff.Change {
	return &diff.Change{Files: slices.DeleteFunc(slices.Clone(c.Files), func(f diff.File) bool {
		return slices.ContainsFunc(globs, func(glob string) bool { return guide.Match(glob, f.Path) })
	})}
}
