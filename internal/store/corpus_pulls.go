package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
)

func (s *corpusSave) loadPulls(ctx context.Context, numbers []int) (map[int]precedent.CorpusPull, error) {
	found := make(map[int]precedent.CorpusPull, len(numbers))
	all, err := collectIn(ctx, s.tx, "SELECT number, title, author_id, author, merged, reverted, updated_at FROM corpus_pulls "+
		"WHERE repo_id = $1 AND number IN (%s)", []any{s.repo.id}, numbers, func(r scanner, p *precedent.CorpusPull) error {
		return r.Scan(&p.Number, &p.Title, &p.AuthorID, &p.Author, (*moment)(&p.Merged), &p.Reverted, (*moment)(&p.UpdatedAt))
	})
	for _, p := range all {
		found[p.Number] = p
	}
	return found, err
}

// mergePull returns what is known of a pull request from two versions of it.
func mergePull(old, in precedent.CorpusPull) precedent.CorpusPull {
	if in.UpdatedAt.Before(old.UpdatedAt) {
		old, in = in, old
	}
	in.Title, in.Author = cmp.Or(in.Title, old.Title), cmp.Or(in.Author, old.Author)
	in.AuthorID = cmp.Or(in.AuthorID, old.AuthorID)
	if in.Merged.IsZero() {
		in.Merged = old.Merged
	}
	in.Reverted = max(in.Reverted, old.Reverted)
	return in
}

func (s *corpusSave) savePulls(ctx context.Context) error {
	if len(s.page.Pulls) == 0 {
		return nil
	}
	numbers := make([]int, len(s.page.Pulls))
	for i, p := range s.page.Pulls {
		numbers[i] = p.Number
	}
	known, err := s.loadPulls(ctx, numbers)
	if err != nil {
		return err
	}
	var changed []int
	reverted := map[int]int{} // by which
	for _, p := range s.page.Pulls {
		in := p.CorpusPull
		in.Merged, in.UpdatedAt, in.Reverted = corpusTime(in.Merged), corpusTime(in.UpdatedAt), 0
		old, ok := known[in.Number]
		merged := mergePull(old, in)
		if p.Reverts != 0 && p.Reverts != in.Number && !merged.Merged.IsZero() {
			reverted[p.Reverts] = max(reverted[p.Reverts], in.Number)
		}
		if ok && merged == old {
			continue
		}
		known[in.Number] = merged
		changed = append(changed, in.Number)
	}
	slices.Sort(changed)
	changed = slices.Compact(changed)
	if err := s.writePulls(ctx, known, changed); err != nil {
		return err
	}
	more, err := s.markReverted(ctx, reverted)
	if err != nil {
		return err
	}
	return s.touchPulls(ctx, append(changed, more...))
}

func (s *corpusSave) writePulls(ctx context.Context, known map[int]precedent.CorpusPull, changed []int) error {
	var pulls [][]any
	for _, n := range changed {
		p := known[n]
		pulls = append(pulls, []any{
			s.repo.id, p.Number, p.Title, string(p.AuthorID), p.Author, zeroMillis(p.Merged), p.Reverted, zeroMillis(p.UpdatedAt),
		})
	}
	return putRows(ctx, s.tx, "corpus_pulls", "repo_id, number", "title, author_id, author, merged, reverted, updated_at",
		pulls...)
}

func (s *corpusSave) touchPulls(ctx context.Context, numbers []int) error {
	all, err := collectIn(ctx, s.tx, "SELECT DISTINCT kind, root FROM corpus_comments WHERE repo_id = $1 AND pull IN (%s)",
		[]any{s.repo.id}, numbers, scanConversation)
	s.touch(all...)
	return err
}

// markReverted saves which merged pull request reverted others, by their numbers, and returns those that
// changed. One that is not known yet gets a row, so that the order does not matter.
func (s *corpusSave) markReverted(ctx context.Context, by map[int]int) ([]int, error) {
	var changed []int
	for number, reverter := range by {
		n, err := affected(s.tx.ExecContext(ctx, `INSERT INTO corpus_pulls (repo_id, number, title, author_id, author, merged, reverted, updated_at)
			VALUES ($1, $2, '', '', '', 0, $3, 0) ON CONFLICT (repo_id, number) DO UPDATE SET reverted = excluded.reverted
			WHERE corpus_pulls.reverted < excluded.reverted`, s.repo.id, number, reverter))
		if err != nil {
			return nil, err
		}
		if n > 0 {
			changed = append(changed, number)
		}
	}
	return changed, nil
}
