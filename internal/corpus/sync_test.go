package corpus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/forge/github"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/needs"
)

// syncStage is a scripted forge, and a corpus that follows it.
type syncStage struct {
	*forgetest.Stage
	t      *testing.T
	forge  forge.Forge
	repo   precedent.Repo
	corpus *Corpus
	began  time.Time
	edits  bool // the forge tells when a review was edited
	waited time.Time
}

// build makes the forge that a stage is synced with.
type build func(s *forgetest.Stage, token wire.Token) (forge.Forge, error)

// newSyncStage is a world with n comments, one every so often: three quarters on lines, and the
// others reviews and comments on 130 pull requests as a whole.
func newSyncStage(t *testing.T, n int, every time.Duration, build build) *syncStage {
	t.Helper()
	s := &syncStage{Stage: forgetest.NewStage(t), t: t, began: forgetest.Epoch, edits: true}
	shop := forgetest.Shop()
	template := shop.Pulls[1].PullRequest
	shop.Pulls = map[int]*forgetest.Pull{}
	s.World.Add(shop)
	for number := 1; number <= 130; number++ {
		p := template
		p.Number, p.Title = number, precedent.Untrusted(fmt.Sprint("Change ", number))
		p.Updated = s.began
		shop.Pulls[number] = &forgetest.Pull{PullRequest: p}
	}
	for i := range n {
		s.Clock.Pass(every)
		s.say(i)
	}
	s.Clock.Pass(time.Hour)
	s.forge = needs.Value(build(s.Stage, needs.Value(wire.NewToken(forgetest.Secret))(t)))(t)
	s.repo = precedent.Repo{Host: s.forge.Host(), Owner: "acme", Name: "shop"}
	s.corpus = openCorpus(t, "", s.Clock.Now)
	s.corpus.Me = s.World.Me.ID
	return s
}

// say adds the i-th comment to the world.
func (s *syncStage) say(i int) {
	s.World.Change(func() {
		p := s.World.Repo("acme", "shop").Pulls[1+i*7%130]
		at := s.Clock.Now().Truncate(time.Second)
		m := forge.Comment{
			ID: precedent.NumberID(int64(10_000 + i)), Kind: forge.OnLine, Author: forgetest.Bo, At: at, Edited: at,
			Body: precedent.Untrusted(fmt.Sprintf("Please check the error of call %d before its result is used.", i)),
		}
		switch i % 8 {
		case 0:
			m.Kind = forge.OnReview
		case 1:
			m.Kind = forge.OnThread
		default:
			m.Span = precedent.Span{Path: "src/till.go", Side: precedent.Right, Start: i + 1, End: i + 1}
			m.Commit = p.Head.SHA
		}
		p.Comments, p.Updated = append(p.Comments, m), at
	})
}

// sync runs a sync that reads the last year. A kill ends it after so many pages; 0 is none.
func (s *syncStage) sync(full bool, kill int) (SyncResult, error) {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	return s.corpus.Sync(ctx, SyncOptions{
		Forge: s.forge, Repo: s.repo, Since: s.began.AddDate(-1, 0, 0), Full: full, Sleep: s.Clock.Sleep,
		Progress: func(p SyncProgress) {
			if !p.Waiting.IsZero() {
				s.waited = p.Waiting
				return
			}
			s.checkWatermarks()
			if p.Pages == kill {
				cancel()
			}
		},
	})
}

// stored are the comments of the corpus that exist.
func (s *syncStage) stored() map[forge.CommentRef]precedent.CorpusComment {
	s.t.Helper()
	all := map[forge.CommentRef]precedent.CorpusComment{}
	needs.NoError(s.t, s.corpus.Rows.CorpusChunks(s.t.Context(), func(c precedent.CorpusChunk) error {
		all[forge.CommentRef{Kind: forge.CommentKind(c.Kind), ID: c.ID}] = c.CorpusComment
		return nil
	}))
	return all
}

// check compares the corpus with the world: nothing is missing, nothing is there twice, and
// everything is as it was last written.
func (s *syncStage) check() {
	s.t.Helper()
	stored := s.stored()
	want, wrong := 0, 0
	s.World.Change(func() {
		for n, p := range s.World.Repo("acme", "shop").Pulls {
			for _, m := range p.Comments {
				want++
				c, ok := stored[forge.CommentRef{Kind: m.Kind, ID: m.ID}]
				// The time of a review's edit is not told by Gitea, and by GitHub only with GraphQL.
				edited := c.UpdatedAt.Equal(m.Edited) || m.Kind == forge.OnReview && (!s.edits || c.UpdatedAt.After(m.Edited))
				if ok && c.Body == m.Body && edited && c.Pull == n && c.MayWrite == (m.Author.ID == forgetest.Bo.ID) {
					continue
				}
				if wrong++; wrong <= 5 {
					s.t.Errorf("comment %s %s of #%d, edited %s: %q is stored %v as %q, edited %s", m.Kind, m.ID, n, m.Edited,
						string(m.Body), ok, string(c.Body), c.UpdatedAt)
				}
			}
		}
	})
	status := needs.Value(s.corpus.Rows.CorpusStatus(s.t.Context()))(s.t)
	total := 0
	for _, kind := range status.Comments {
		total += kind.Count
	}
	if total != len(stored) {
		s.t.Errorf("%d comments in %d chunks", total, len(stored))
	}
	if total != want || wrong > 0 {
		s.t.Errorf("%d comments are stored and %d are wrong or missing, want %d", total, wrong, want)
	}
}

// checkWatermarks checks that everything before a watermark is stored. A review counts as updated
// when its pull request was, which it is listed with.
func (s *syncStage) checkWatermarks() {
	s.t.Helper()
	marks := needs.Value(s.corpus.Rows.CorpusCheckpoints(s.t.Context()))(s.t)
	stored := s.stored()
	through := map[string]time.Time{}
	for _, m := range marks {
		through[m.Stream] = m.Watermark
	}
	s.World.Change(func() {
		for n, p := range s.World.Repo("acme", "shop").Pulls {
			for _, m := range p.Comments {
				mark, updated := through[string(m.Kind)], m.Edited
				if !slices.Contains(s.forge.Streams(), forge.HistoryStream(m.Kind)) {
					mark, updated = through["pulls"], p.Updated
				}
				if !updated.Before(mark) {
					continue
				}
				if c := stored[forge.CommentRef{Kind: m.Kind, ID: m.ID}]; c.Body != m.Body {
					s.t.Errorf("the watermark %s is past %s %s of #%d, updated %s: stored as %+v", mark, m.Kind, m.ID, n, updated, c)
				}
			}
		}
	})
}

// change edits and deletes a few comments, and adds some.
func (s *syncStage) change(random *rand.Rand, next int) int {
	s.Clock.Pass(time.Hour)
	for range 40 {
		p := s.World.Repo("acme", "shop").Pulls[1+random.IntN(130)]
		if len(p.Comments) == 0 {
			continue
		}
		m := p.Comments[random.IntN(len(p.Comments))]
		ref := forge.CommentRef{Kind: m.Kind, ID: m.ID}
		s.Clock.Pass(time.Second)
		if random.IntN(3) == 0 {
			s.World.Remove(p, ref)
			continue
		}
		s.World.Rewrite(p, ref, fmt.Sprintf("On reflection, check the error first (%d).", random.IntN(1000)))
		s.World.Change(func() { p.Updated = s.Clock.Now().Truncate(time.Second) })
	}
	for range 30 {
		s.Clock.Pass(time.Second)
		s.say(next)
		next++
	}
	s.Clock.Pass(time.Minute)
	return next
}

// plague plans faults of all kinds.
func (s *syncStage) plague(random *rand.Rand) {
	for i := range 6 {
		f := forgetest.Fault{Skip: 1 + random.IntN(6)}
		switch i % 3 {
		case 0:
			f.Status, f.Times = 500, 1+random.IntN(2)
		case 1:
			f.Status, f.Body = 403, `{"message":"You have exceeded a secondary rate limit. Please wait."}`
		case 2:
			f.Status, f.Header = 429, map[string]string{"Retry-After": "90"}
		}
		s.Script.Plan(f)
	}
}

// runThrough syncs with a kill on every tenth page until nothing is left to read.
func (s *syncStage) runThrough(random *rand.Rand, full bool) SyncResult {
	s.t.Helper()
	for range 60 {
		s.plague(random)
		got, err := s.sync(full, 10)
		s.Script.Forget()
		full = false // it was asked for once
		if !errors.Is(err, context.Canceled) {
			needs.NoError(s.t, err)
			return got
		}
	}
	s.t.Fatal("the syncs do not end")
	return SyncResult{}
}

func (s *syncStage) test(n int) {
	s.t.Helper()
	random := needs.Random(s.t)
	if got := s.runThrough(random, false); !got.Full || got.Deleted != 0 {
		s.t.Errorf("the first sync: %+v", got)
	}
	s.check()
	n = s.change(random, n)
	if got := s.runThrough(random, true); !got.Full || got.Deleted == 0 {
		s.t.Errorf("a full sync: %+v", got)
	}
	s.check()
	n = s.change(random, n)
	if got := s.runThrough(random, false); got.Full {
		s.t.Errorf("a catch-up: %+v", got)
	}
	s.change(random, n)
	// By itself, everything is listed again after a week.
	s.Clock.Pass(8 * 24 * time.Hour)
	if got := s.runThrough(random, false); !got.Full || got.Deleted == 0 {
		s.t.Errorf("a sync after a week: %+v", got)
	}
	s.check()
	came := len(s.Script.Requests())
	got, err := s.sync(false, 0)
	if err != nil || got.Full || slices.ContainsFunc(got.Streams, func(r SyncedStream) bool {
		return !r.Whole || r.Stored+r.Updated > 0
	}) {
		s.t.Errorf("a sync with nothing new: %+v, %v", got, err)
	}
	if asked := len(s.Script.Requests()) - came; asked > 40 {
		s.t.Errorf("a sync with nothing new sent %d requests", asked)
	}
}

func network(s *forgetest.Stage) wire.Network {
	return wire.Network{
		Now: s.Clock.Now, Sleep: s.Clock.Sleep, Rand: func(d time.Duration) time.Duration { return d / 2 },
	}
}

func buildGitHub(t *testing.T) build {
	return func(s *forgetest.Stage, token wire.Token) (forge.Forge, error) {
		return github.New(github.Options{BaseURL: s.GitHub(t).URL, Token: token, Network: network(s)})
	}
}

// TestSyncGitHub: 12,000 comments, edits and deletions between runs, faults, and a kill on every tenth page.
func TestSyncGitHub(t *testing.T) {
	n := needs.Rounds(12_000, 1_000) // 130 pages or 12
	newSyncStage(t, n, 20*time.Minute, buildGitHub(t)).test(n)
}

func TestSyncGitea(t *testing.T) {
	n := needs.Rounds(1_500, 500)
	s := newSyncStage(t, n, 2*time.Hour, func(s *forgetest.Stage, token wire.Token) (forge.Forge, error) {
		return gitea.New(gitea.Options{BaseURL: s.Gitea(t).URL, Token: token, Network: network(s)})
	})
	s.edits = false
	s.test(n)
}

// TestSyncKeepsWhatIsHidden: if a forge suddenly lists much less, nothing is deleted unless that
// was asked for, and nothing is after a listing that failed.
func TestSyncKeepsWhatIsHidden(t *testing.T) {
	s := newSyncStage(t, 400, time.Hour, buildGitHub(t))
	needs.Value(s.sync(false, 0))(t)
	shop := s.World.Repo("acme", "shop")
	all := map[int][]forge.Comment{}
	s.World.Change(func() {
		for n, p := range shop.Pulls {
			all[n] = p.Comments
			if n%2 == 0 {
				p.Comments = nil
			}
		}
	})
	s.Script.Plan(forgetest.Fault{On: "/issues/comments", Status: 404, Times: 100})
	if got, err := s.sync(true, 0); err == nil || got.Full || got.Deleted > 0 {
		t.Errorf("a listing that failed: %+v, %v", got, err)
	}
	s.Script.Forget()
	got, err := s.sync(false, 0)
	if err != nil || got.Kept == 0 || got.Deleted > 0 || got.Full {
		t.Errorf("a listing of half: %+v, %v", got, err)
	}
	s.World.Change(func() {
		for n, p := range shop.Pulls {
			p.Comments = all[n]
		}
	})
	s.check()
}

// TestSyncWaits: less of the quota makes the sync slower, and a limit that is used up is waited for and told.
func TestSyncWaits(t *testing.T) {
	var server *forgetest.GitHub
	s := newSyncStage(t, 200, time.Hour, func(s *forgetest.Stage, token wire.Token) (forge.Forge, error) {
		server = s.GitHub(t)
		return github.New(github.Options{BaseURL: server.URL, Token: token, Network: network(s)})
	})
	for i, left := range []int{4000, 2400, 900} { // the first page of a sync is after the quota of the last one
		want := []time.Duration{0, 1500 * time.Millisecond, 3 * time.Second}[i]
		server.Budget(left, s.Clock.Now().Add(time.Hour))
		before := len(s.Clock.Waits())
		needs.Value(s.sync(true, 0))(t)
		if waits := s.Clock.Waits()[before:]; (len(waits) > 0) != (want > 0) || want > 0 && waits[len(waits)-1] != want {
			t.Errorf("with %d left: waited %v", left, waits)
		}
	}
	server.Budget(0, s.Clock.Now().Add(50*time.Minute))
	needs.Value(s.sync(true, 0))(t)
	if s.waited.IsZero() || s.waited.After(s.Clock.Now()) {
		t.Errorf("waited until %s", s.waited)
	}
	s.check()
}

// TestApply: an event adds, changes and deletes a comment, if there is a corpus.
func TestApply(t *testing.T) {
	s := newSyncStage(t, 30, time.Hour, buildGitHub(t))
	at := s.Clock.Now()
	change := forge.CommentChange{
		Action: forge.CommentCreated, Pull: forge.PullRequest{Number: 7, Title: "Seven", Author: forgetest.Ann, Updated: at},
		NumberedComment: forge.NumberedComment{Number: 7, Comment: forge.Comment{
			ID: "777", Kind: forge.OnThread, Author: forgetest.Bo, Body: "Please close the file in every case.", At: at,
			Edited: at,
		}},
	}
	apply := func(e forge.CommentChange) Saved {
		t.Helper()
		return needs.Value(s.corpus.Apply(t.Context(), s.forge, s.repo, []forge.CommentChange{e}))(t)
	}
	needs.Equal(t, (Saved{}), apply(change))
	needs.Value(s.sync(false, 0))(t)
	if saved := apply(change); saved.Stored != 1 || saved.Chunks != 1 {
		t.Errorf("created: %+v", saved)
	}
	all := needs.Value(s.corpus.Rows.CorpusCommentsOf(t.Context(), "issue", []string{"777"}))(t)
	if c := all["777"]; !c.MayWrite || c.Pull != 7 {
		t.Errorf("%+v", all)
	}
	change.Action, change.Kind, change.Body, change.Edited = forge.CommentEdited, "",
		"Please close the file, also after an error.", at.Add(time.Minute)
	if saved := apply(change); saved.Updated != 1 {
		t.Errorf("edited, of an unknown kind: %+v", saved)
	}
	change.ID = "778"
	needs.Equal(t, (Saved{}), apply(change))
	change.ID, change.Action = "777", forge.CommentDeleted
	s.Clock.Pass(time.Hour)
	if saved := apply(change); saved.Deleted != 1 {
		t.Errorf("deleted: %+v", saved)
	}
}
