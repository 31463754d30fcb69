package run

import (
	"context"
	"errors"
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
	q := corpus.Query{Before: p.Before}
	if p.Number != nil {
		q.Pull = *p.Number
	}
	change := withoutIgnored(in.Change, in.Policy.Ignore)
	found, err := within(ctx, precedentTime, func(ctx context.Context) (review.Precedents, error) {
		x, err := p.openIndex(ctx, w)
		if err != nil || x == nil {
			return review.Precedents{}, err
		}
		out := review.Precedents{Index: x, Query: q}
		if prime {
			out.Priming, err = x.Prime(ctx, change, q)
		}
		return out, err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		found.Failures = append(found.Failures, "what people wrote on earlier pull requests is not used: "+err.Error())
	}
	in.Precedents = found
	return nil
}

// openIndex returns an index of the repository's corpus; nil if that has no comments.
func (p *Prepared) openIndex(ctx context.Context, w *workspace.Workspace) (*corpus.Index, error) {
	rows, err := w.Rows(ctx)
	if err != nil {
		return nil, err
	}
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

// within runs work for at most a time. After that it returns an error, even if work does not heed its
// context. A panic, which hostile text may cause, is an error, too.
func within[T any](ctx context.Context, limit time.Duration, work func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if crash := recover(); crash != nil {
				r.err = fmt.Errorf("crashed: %v", crash)
			}
			done <- r
		}()
		r.value, r.err = work(limited)
	}()
	var none T
	select {
	case r := <-done:
		if r.err != nil && limited.Err() != nil && ctx.Err() == nil {
			return none, tooLong(limit)
		}
		return r.value, r.err
	case <-limited.Done():
		return none, errors.Join(ctx.Err(), tooLong(limit))
	}
}

func tooLong(limit time.Duration) error { return fmt.Errorf("it took longer than %s", limit) }
