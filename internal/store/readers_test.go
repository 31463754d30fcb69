package store

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

// readers are methods that read rows which no other test of the suite asks for. Each tells how much it found.
var readers = map[string]func(ctx context.Context, r *Repo) (int, error){
	"Accepted": func(ctx context.Context, r *Repo) (int, error) { return number(r.Accepted(ctx, []string{"a.go"}, 9)) },
	"AcceptedSince": func(ctx context.Context, r *Repo) (int, error) {
		return number(r.AcceptedSince(ctx, start.Add(-1), 9))
	},
	"CorpusCommentsOf": func(ctx context.Context, r *Repo) (int, error) {
		found, err := r.CorpusCommentsOf(ctx, "inline", []string{"1"})
		return len(found), err
	},
	"CorpusListings": func(ctx context.Context, r *Repo) (int, error) { return number(r.CorpusListings(ctx)) },
	"CorpusRegulars": func(ctx context.Context, r *Repo) (int, error) {
		found, err := r.CorpusRegulars(ctx, []string{"ada"}, 1)
		return len(found), err
	},
	"FinderRules": func(ctx context.Context, r *Repo) (int, error) { return number(r.FinderRules(ctx, []string{"x"})) },
	"Judged":      func(ctx context.Context, r *Repo) (int, error) { return number(r.Judged(ctx, start, 9)) },
	"LastOutcomes": func(ctx context.Context, r *Repo) (int, error) {
		found, err := r.LastOutcomes(ctx, []string{bug("x").Fingerprint})
		return len(found), err
	},
	"OutcomesSince": func(ctx context.Context, r *Repo) (int, error) { return number(r.OutcomesSince(ctx, start)) },
	"Period": func(ctx context.Context, r *Repo) (int, error) {
		first, last, err := r.Period(ctx)
		return zeroOne(!first.IsZero() && first.Equal(last)), err
	},
	"PullAsked": func(ctx context.Context, r *Repo) (int, error) {
		asked, err := r.PullAsked(ctx, 7)
		return int(asked), err
	},
	"ReviewFacts": func(ctx context.Context, r *Repo) (int, error) {
		return number(r.ReviewFacts(ctx, start, start.AddDate(1, 0, 0)))
	},
	"ReviewsOf":     func(ctx context.Context, r *Repo) (int, error) { return each(r.ReviewsOf(ctx, "work", 9)) },
	"ReviewsOfHead": func(ctx context.Context, r *Repo) (int, error) { return each(r.ReviewsOfHead(ctx, "head1", 9)) },
	"ReviewsOfPull": func(ctx context.Context, r *Repo) (int, error) { return each(r.ReviewsOfPull(ctx, 7, 9)) },
	"ReviewsSince":  func(ctx context.Context, r *Repo) (int, error) { return each(r.ReviewsSince(ctx, start, 9)) },
	"Shared": func(ctx context.Context, r *Repo) (int, error) {
		s, err := r.Shared(ctx)
		return len(s.Outcomes), err
	},
	"ShownElsewhere": func(ctx context.Context, r *Repo) (int, error) {
		return number(r.ShownElsewhere(ctx, []string{"b.go"}))
	},
	"ThreadStates": func(ctx context.Context, r *Repo) (int, error) {
		states, err := r.ThreadStates(ctx, start)
		return len(states), err
	},
	"UnlistedCorpus": func(ctx context.Context, r *Repo) (int, error) {
		_, stored, err := r.UnlistedCorpus(ctx, start)
		return stored, err
	},
}

func number[T any](found []T, err error) (int, error) { return len(found), err }

func each(reviews iter.Seq2[*precedent.Review, error]) (n int, err error) {
	for _, err = range reviews {
		n++
	}
	return n, err
}

// testReaders: what is read of a repository is not read of another one in the same database, of the same owner (T16).
func testReaders(t *testing.T, open opener) {
	ctx, db := t.Context(), open(t)
	a, b := repoFor(t, db, remote), repoFor(t, db, other)
	v := pullReview("r1", 1, 7, bug("x"))
	v.Reading = &precedent.Reading{Work: "work"}
	save(t, a, v)
	thread := threadOf(bug("x"), "t1", 7)
	needs.NoError(t, a.SaveThreads(ctx, []precedent.Thread{thread}))
	needs.NoError(t, a.SaveOutcomes(ctx, []precedent.Outcome{outcomeOfThread(thread, precedent.Fixed, start)}))
	needs.NoError(t, a.AskPull(ctx, 7, AskedReview))
	needs.NoError(t, a.MergeShared(ctx, func(Shared) (Shared, error) {
		return Shared{Findings: []SharedFinding{{Fingerprint: "elsewhere", Path: "b.go", Seen: 1, First: start, Last: start}}}, nil
	}))
	page := corpusPage(corpusComment("1", 7, "one"))
	chunk := page.Chunk
	page.Chunk = func(c CorpusConversation) []precedent.CorpusChunk {
		all := chunk(c)
		all[0].Outcome = precedent.CommentAdopted
		return all
	}
	saveCorpus(t, a, page)
	needs.NoError(t, a.BeginCorpusListing(ctx, []string{"inline"}, start, start.Add(time.Hour)))
	for name, read := range readers {
		if n, err := read(ctx, a); err != nil || n != 1 {
			t.Errorf("%s finds %d, %v, want 1", name, n, err)
		}
		if n, err := read(ctx, b); err != nil || n != 0 {
			t.Errorf("%s finds %d of another repository, %v", name, n, err)
		}
	}
}
