package store

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/precedent-dev/precedent"
)

const corpusPullColumns = "p.number, p.title, p.author_id, p.author, p.merged, p.reverted, p.updated_at"

func scanCorpusPull(s scanner) (precedent.CorpusPull, error) {
	var p precedent.CorpusPull
	var merged, updated int64
	err := s.Scan(&p.Number, &p.Title, &p.AuthorID, &p.Author, &merged, &p.Reverted, &updated)
	p.Merged, p.UpdatedAt = fromZeroMillis(merged), fromZeroMillis(updated)
	return p, err
}

// loadPulls reads the pull requests with the numbers.
func (s *corpusSave) loadPulls(ctx context.Context, numbers []int) (map[int]precedent.CorpusPull, error) {
	found := make(map[int]precedent.CorpusPull, len(numbers))
	err := s.eachPullBatch(numbers, func(places string, args []any) error {
		return rows(ctx, s.tx,
			"SELECT "+corpusPullColumns+" FROM corpus_pulls p WHERE p.repo_id = $1 AND p.number IN ("+places+")", args,
			func(r scanner) error {
				p, err := scanCorpusPull(r)
				found[p.Number] = p
				return err
			})
	})
	return found, err
}

// eachPullBatch calls use for batches of numbers, as inBatches does; the first argument is the
// repository.
func (s *corpusSave) eachPullBatch(numbers []int, use func(places string, args []any) error) error {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return inBatches(texts, 2, func(places string, args []any) error {
		for i := range args {
			args[i] = numbers[i]
		}
		numbers = numbers[len(args):]
		return use(places, append([]any{s.repo.id}, args...))
	})
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

// savePulls saves the pull requests, and finds out which of them were reverted.
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
	reverts := false
	for _, p := range s.page.Pulls {
		in := p.CorpusPull
		in.Merged, in.UpdatedAt, in.Reverted = corpusTime(in.Merged), corpusTime(in.UpdatedAt), 0
		old, ok := known[in.Number]
		merged := mergePull(old, in)
		if ok && merged == old {
			continue
		}
		known[in.Number] = merged
		changed = append(changed, in.Number)
		if p.Reverts != 0 || p.RevertsTitle != "" {
			reverts = true
			_, err := s.tx.ExecContext(ctx, `INSERT INTO corpus_reverts (repo_id, pull, of, title) VALUES ($1, $2, $3, $4)
				ON CONFLICT (repo_id, pull) DO UPDATE SET of = excluded.of, title = excluded.title`, s.repo.id, p.Number, p.Reverts, p.RevertsTitle)
			if err != nil {
				return err
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	changed = slices.Compact(changed)
	if err := s.writePulls(ctx, known, changed); err != nil {
		return err
	}
	more, err := s.findReverted(ctx, changed, reverts)
	if err != nil {
		return err
	}
	return s.touchPulls(ctx, append(changed, more...))
}

func (s *corpusSave) writePulls(ctx context.Context, known map[int]precedent.CorpusPull, changed []int) error {
	save, err := s.tx.PrepareContext(ctx, `INSERT INTO corpus_pulls (repo_id, number, title, author_id, author, merged, reverted, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (repo_id, number) DO UPDATE SET title = excluded.title,
			author_id = excluded.author_id, author = excluded.author, merged = excluded.merged, updated_at = excluded.updated_at`)
	if err != nil {
		return err
	}
	defer save.Close()
	for _, n := range changed {
		p := known[n]
		_, err := save.ExecContext(ctx, s.repo.id, p.Number, p.Title, string(p.AuthorID), p.Author, zeroMillis(p.Merged),
			p.Reverted, zeroMillis(p.UpdatedAt))
		if err != nil {
			return err
		}
	}
	return nil
}

// touchPulls has the conversations of pull requests chunked again.
func (s *corpusSave) touchPulls(ctx context.Context, numbers []int) error {
	return s.eachPullBatch(numbers, func(places string, args []any) error {
		return rows(ctx, s.tx, "SELECT DISTINCT kind, root FROM corpus_comments WHERE repo_id = $1 AND pull IN ("+places+")",
			args, func(r scanner) error {
				var c conversation
				err := r.Scan(&c.kind, &c.root)
				s.touch(c)
				return err
			})
	})
}

// revert is a merged pull request that reverts another one.
type revert struct {
	by, of int
	title  string
	merged time.Time
}

// maxReverts limits the pull requests whose state of being reverted one page changes: those that
// revert one that reverts one, and so on.
const maxReverts = 1_000

// findReverted sets which pull request reverted each of the changed ones and those that these
// revert. It returns the pull requests that it changed.
func (s *corpusSave) findReverted(ctx context.Context, changed []int, more bool) ([]int, error) {
	reverts, err := s.reverts(ctx)
	if err != nil || len(reverts) == 0 {
		return nil, err
	}
	var found []int
	work := slices.Clone(changed)
	if more {
		for _, r := range reverts {
			if _, ok := slices.BinarySearch(changed, r.by); !ok {
				continue
			}
			targets, err := s.targets(ctx, r)
			if err != nil {
				return nil, err
			}
			work = append(work, targets...)
		}
	}
	for i := 0; i < len(work) && i < len(changed)+maxReverts; i++ {
		pulls, err := s.loadPulls(ctx, work[i:i+1])
		if err != nil {
			return nil, err
		}
		p, ok := pulls[work[i]]
		if !ok {
			continue
		}
		by, err := s.revertedBy(ctx, p, reverts)
		if err != nil || by == p.Reverted {
			if err != nil {
				return nil, err
			}
			continue
		}
		if _, err := s.tx.ExecContext(ctx, "UPDATE corpus_pulls SET reverted = $3 WHERE repo_id = $1 AND number = $2",
			s.repo.id, p.Number, by); err != nil {
			return nil, err
		}
		found = append(found, p.Number)
		for _, r := range reverts {
			if r.by != p.Number {
				continue
			}
			targets, err := s.targets(ctx, r)
			if err != nil {
				return nil, err
			}
			work = append(work, targets...)
		}
	}
	return found, nil
}

// reverts returns the merged pull requests that revert one.
func (s *corpusSave) reverts(ctx context.Context) ([]revert, error) {
	var all []revert
	err := rows(ctx, s.tx, `SELECT v.pull, v.of, v.title, p.merged FROM corpus_reverts v JOIN corpus_pulls p ON p.repo_id = v.repo_id AND p.number = v.pull
		WHERE v.repo_id = $1 AND p.merged > 0 ORDER BY v.pull`, []any{s.repo.id}, func(row scanner) error {
		var r revert
		var merged int64
		err := row.Scan(&r.by, &r.of, &r.title, &merged)
		r.merged = fromMillis(merged)
		all = append(all, r)
		return err
	})
	return all, err
}

// targets returns the pull request that one reverts: by number, or the only merged one with the
// title.
func (s *corpusSave) targets(ctx context.Context, r revert) ([]int, error) {
	if r.of != 0 {
		return []int{r.of}, nil
	}
	var all []int
	err := rows(ctx, s.tx,
		"SELECT number FROM corpus_pulls WHERE repo_id = $1 AND title = $2 AND merged > 0 AND merged <= $3 ORDER BY "+
			"number LIMIT 2",
		[]any{s.repo.id, r.title, millis(r.merged)}, func(row scanner) error {
			var n int
			err := row.Scan(&n)
			all = append(all, n)
			return err
		})
	if len(all) != 1 {
		return nil, err
	}
	return all, err
}

// revertedBy returns the first pull request that reverted one and is not reverted itself; 0 for
// none.
func (s *corpusSave) revertedBy(ctx context.Context, p precedent.CorpusPull, reverts []revert) (int, error) {
	if p.Merged.IsZero() {
		return 0, nil
	}
	for _, r := range reverts {
		if r.by == p.Number || r.merged.Before(p.Merged) || r.of != p.Number && (r.of != 0 || r.title != p.Title) {
			continue
		}
		if r.of == 0 {
			if targets, err := s.targets(ctx, r); err != nil || !slices.Contains(targets, p.Number) {
				if err != nil {
					return 0, err
				}
				continue
			}
		}
		pulls, err := s.loadPulls(ctx, []int{r.by})
		if err != nil {
			return 0, err
		}
		if pulls[r.by].Reverted == 0 {
			return r.by, nil
		}
	}
	return 0, nil
}
