package corpus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// The delay before a page depends on how much of the forge's quota is left.
const (
	halfDelay  = 1500 * time.Millisecond // below 50 %
	fifthDelay = 3 * time.Second         // below 20 %
)

const (
	// maxPatience bounds the waits for one page.
	maxPatience = 8
	// maxWait bounds one wait: GitHub's limits last at most an hour.
	maxWait    = 2 * time.Hour
	firstPause = 15 * time.Second
)

// readStream reads a list to its end: what is left of an unfinished pass, or everything if a
// complete listing is unfinished, or what was edited since the last pass.
func (s *syncRun) readStream(ctx context.Context, stream forge.HistoryStream) error {
	at, listing := s.checkpoints[string(stream)], s.listings[string(stream)]
	at.Stream = string(stream)
	whole := !listing.Began.IsZero() && !listing.Done
	switch {
	case whole && (at.Cursor == "" || !at.Since.Equal(listing.Since)):
		at.Since, at.Cursor, at.Pages = listing.Since, "", 0
	case at.Cursor != "":
	case at.Watermark.IsZero():
		at.Since, at.Pages = s.since, 0
	default:
		at.Since, at.Pages = at.Watermark.Add(-overlap), 0
	}
	s.result.Streams = append(s.result.Streams, SyncedStream{Stream: stream, Cut: []int{}, Watermark: at.Watermark})
	out := &s.result.Streams[len(s.result.Streams)-1]
	for {
		if err := s.slowDown(ctx); err != nil {
			return err
		}
		last, err := s.readPage(ctx, &at, whole, out)
		if err != nil {
			return err
		}
		s.pages++
		s.report(at, last, time.Time{}, "")
		if last {
			out.Whole = true
			return nil
		}
	}
}

// readPage reads and stores the page at a checkpoint, which it moves. It reports whether that was
// the last one.
func (s *syncRun) readPage(ctx context.Context, at *store.CorpusCheckpoint, whole bool, out *SyncedStream) (bool,
	error,
) {
	var got forge.HistoryPage
	var page Page
	err := s.patiently(ctx, *at, func() error {
		var err error
		got, err = s.o.Forge.History(ctx, s.o.Repo, forge.HistoryQuery{
			Stream: out.Stream, Since: at.Since,
			Cursor: at.Cursor,
		})
		if err != nil {
			return err
		}
		page, err = s.page(ctx, got)
		return err
	})
	if err != nil {
		return false, err
	}
	last := got.Next == ""
	if !last && got.Next == at.Cursor {
		return false, fmt.Errorf("list %s: the forge does not go on after page %d", at.Stream, at.Pages+1)
	}
	next := *at
	next.Cursor, next.Pages = got.Next, at.Pages+1
	// The pass began at the watermark or before, so that there is no gap between it and Through.
	if got.Through.After(next.Watermark) {
		next.Watermark = got.Through
	}
	if whole {
		if err := s.corpus.Rows.SaveCorpusListed(ctx, at.Stream, met(got), last); err != nil {
			return false, err
		}
		if last {
			l := s.listings[at.Stream]
			l.Done = true
			s.listings[at.Stream] = l
		}
	}
	page.Checkpoint = &next
	saved, err := s.corpus.Save(ctx, page)
	if err != nil {
		return false, err
	}
	*at = next
	s.read += len(got.Comments)
	out.Pages++
	out.Pulls += len(got.Pulls)
	out.Read += len(got.Comments)
	out.Add(saved)
	out.Cut = append(out.Cut, got.Cut...)
	out.Watermark = next.Watermark
	return last, nil
}

// met are the comments of a page. Those on a pull request of which not all were read count as met.
func met(p forge.HistoryPage) []store.CorpusRef {
	all := make([]store.CorpusRef, 0, len(p.Comments))
	for i := range p.Comments {
		all = append(all, store.CorpusRef{Kind: string(p.Comments[i].Kind), ID: p.Comments[i].ID})
	}
	for _, n := range p.Cut {
		all = append(all, store.CorpusRef{Kind: store.CorpusPullKind, ID: precedent.NumberID(int64(n))})
	}
	return all
}

// slowDown waits before a page if much of the quota was used.
func (s *syncRun) slowDown(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch q := s.o.Forge.Quota(); {
	case q.Limit <= 0:
		return nil
	case q.Left*5 < q.Limit:
		return s.o.Sleep(ctx, fifthDelay)
	case q.Left*2 < q.Limit:
		return s.o.Sleep(ctx, halfDelay)
	}
	return nil
}

// pauses are the waits after a page failed that may be read later. Requests are repeated by the client of the
// forge before.
var pauses = backoff.Policy{First: firstPause, Max: maxWait}

// patiently calls do, and again after a wait that the forge asks for, or if it does not answer.
func (s *syncRun) patiently(ctx context.Context, at store.CorpusCheckpoint, do func() error) error {
	clock := backoff.Clock{Now: s.corpus.Now, Sleep: s.o.Sleep}
	return backoff.Do(ctx, clock, do, func(err error, failures int) (time.Duration, bool) {
		e, ok := errors.AsType[*forge.Error](err)
		if !ok || failures == maxPatience || e.Unreached {
			return 0, false
		}
		var wait time.Duration
		var why string
		switch e.Kind {
		case forge.KindRate:
			wait, why = max(e.Retry.Sub(s.corpus.Now()), time.Second), "the forge's limit is used up"
		case forge.KindServer, forge.KindNetwork:
			wait, why = max(pauses.Bound(failures), e.Retry.Sub(s.corpus.Now())), "the forge does not answer"
		default:
			return 0, false
		}
		if wait <= maxWait {
			s.report(at, false, s.corpus.Now().Add(wait), why)
		}
		return wait, wait <= maxWait
	})
}

func (s *syncRun) report(at store.CorpusCheckpoint, done bool, waiting time.Time, why string) {
	if s.o.Progress == nil {
		return
	}
	s.o.Progress(SyncProgress{
		Stream: forge.HistoryStream(at.Stream), Done: done, Pages: s.pages, Comments: s.read,
		Since: at.Since, Through: at.Watermark, Until: s.corpus.Now(), Quota: s.o.Forge.Quota(), Waiting: waiting, Why: why,
	})
}
