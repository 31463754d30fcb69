package store

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// notReaders are methods of Repo that write, and two that are about all repositories of an owner, which
// testLearningsOfTheOwner tries.
var notReaders = []string{
	"ActivateLearning", "AddAudit", "AddLearning", "AskPull", "BeginConsolidation", "BeginCorpusListing", "Book",
	"ChangeLearning", "Clear", "ClearCorpus", "CountLearnings", "DismissInsight", "DropAnswers", "EndAsked",
	"EndConsolidation", "EndCorpusListing", "EndTurn", "ForgetWatchedShape", "KeepAnswer", "MergeShared", "OwnerAlone",
	"OwnerLearnings", "Pause", "Prune", "RefreshCorpus", "Reject", "ResetThreshold", "Retire", "SaveCorpus",
	"SaveCorpusListed", "SaveCorpusVectors", "SaveHandled", "SaveHandledOnce", "SaveOutcomes", "SaveReview", "SaveThreads",
	"SaveWatched", "SetPosts", "SetWatchedDone", "TakeTurn", "Unreject",
}

// testReaders: every other method, also one that comes later, reads the same beside a full repository of the same owner
// as in a database without it (T16), and something else in the full one.
func testReaders(t *testing.T, open opener) {
	db := open(t)
	full, beside, alone := repoFor(t, db, remote), repoFor(t, db, other), repoFor(t, open(t), other)
	texts := fill(t, full)
	for _, r := range []*Repo{beside, alone} { // which may then miss comments
		needs.NoError(t, r.BeginCorpusListing(t.Context(), []string{"review"}, start, start.Add(time.Hour)))
	}
	for m := range reflect.TypeFor[*Repo]().Methods() {
		if slices.Contains(notReaders, m.Name) {
			continue
		}
		own := false
		for _, text := range texts {
			want := read(t, alone, m, text)
			if got := read(t, beside, m, text); !reflect.DeepEqual(got, want) {
				t.Errorf("%s(%q) of another repository returns %+v, want %+v", m.Name, text, got, want)
			}
			own = own || !reflect.DeepEqual(read(t, full, m, text), want)
		}
		if !own {
			t.Errorf("%s of the full repository returns nothing: it is not tried", m.Name)
		}
	}
}

// fill saves something of everything, and returns texts by which to ask for it.
func fill(t *testing.T, r *Repo) []string {
	t.Helper()
	ctx := t.Context()
	f, gone := bug("x"), bug("gone")
	f.Rule, f.Trail = "rule", []precedent.Decision{{Step: "score", Text: "said", By: "work"}}
	v := pullReview("r1", 1, 1, f)
	v.ThresholdFrom, v.Reading = "the policy", &precedent.Reading{Work: "work"}
	thread, l := threadOf(f, "t1", 1), learningOf("check errors")
	mustAdd(t, r, l)
	j, retired := dismiss(t, r, dismissalOf(f)), dismiss(t, r, dismissalOf(gone))
	needs.Value(r.Retire(ctx, retired.ID, "it was fixed", start))(t)
	page := corpusPage(corpusComment("1", 1, "one"), corpusComment("2", 1, "two"))
	page.Checkpoint = &CorpusCheckpoint{Stream: "inline"}
	chunk := page.Chunk
	page.Chunk = func(c CorpusConversation) []precedent.CorpusChunk {
		all := chunk(c)
		all[0].Outcome = precedent.CommentAdopted
		return all
	}
	saveCorpus(t, r, page)
	answer := Post{ID: "p2", Pull: 1, Kind: PostAnswer, State: PostPlanned, Payload: []byte(`""`), At: start}
	needs.NoError(t, errors.Join(
		r.SaveReview(ctx, v, postsOf(v, 1)...),
		r.SaveThreads(ctx, []precedent.Thread{thread}),
		r.SaveOutcomes(ctx, []precedent.Outcome{outcomeOfThread(thread, precedent.Fixed, start)}),
		r.AskPull(ctx, 1, AskedReview),
		r.SaveHandled(ctx, 1, HandledComment{Comment: "issue 1", Document: []byte(`{}`), At: start}, answer),
		r.Pause(ctx, 1, "dana", true),
		r.KeepAnswer(ctx, "task", []byte(`""`)),
		r.SaveWatched(ctx, []WatchedPull{{Pull: 1}}, nil),
		r.MergeShared(ctx, func(Shared) (Shared, error) {
			return Shared{Findings: []SharedFinding{{Fingerprint: "elsewhere", Path: "b.go", Seen: 1, First: start, Last: start}}}, nil
		}),
		r.BeginCorpusListing(ctx, []string{"inline"}, start, start.Add(time.Hour)),
	))
	consolidate(t, r, "run", precedent.Insight{ID: "insight1", State: precedent.InsightActive, Text: "said", UpdatedAt: start})
	c := needs.Value(r.CorpusWithoutVectors(ctx, "inline", 1, 1))(t)[0]
	needs.Result(t, "vectors", 1)(r.SaveCorpusVectors(ctx, []CorpusVector{{
		Kind: c.Kind, ID: c.ID, Model: "inline", Hash: CorpusHash(&c), Vector: make([]float32, 1),
	}}))
	needs.Value(r.AddAudit(ctx, AuditRow{Who: "dana", At: start}))(t)
	return []string{"", "inline", "insight1", "task", "work", v.ID, v.Head, f.ID, f.Fingerprint, gone.Fingerprint, l.ID, j.ID}
}

// read calls a method with the text for each string, and returns what it says.
func read(t *testing.T, r *Repo, m reflect.Method, text string) (said []any) {
	t.Helper()
	say := func(v any) {
		if err, failed := v.(error); failed {
			v = errors.Unwrap(err).Error() // without the place of the database
		}
		said = append(said, v)
	}
	values := map[reflect.Type]any{
		reflect.TypeFor[*Repo](): r, reflect.TypeFor[context.Context](): t.Context(), reflect.TypeFor[string](): text,
		reflect.TypeFor[int](): 1, reflect.TypeFor[[]int64](): []int64{1}, reflect.TypeFor[bool](): false,
		reflect.TypeFor[[]string](): []string{"a.go", "b.go", "1", "ada", "x", text}, reflect.TypeFor[Change](): Change{},
		reflect.TypeFor[Page](): Page{Limit: 1}, reflect.TypeFor[precedent.ForgeID](): precedent.ForgeID("1"),
		reflect.TypeFor[precedent.LearningState]():           precedent.LearningActive,
		reflect.TypeFor[func(precedent.CorpusChunk) error](): func(c precedent.CorpusChunk) error { say(c); return nil },
		reflect.TypeFor[func(CorpusVector) error]():          func(v CorpusVector) error { say(v); return nil },
		reflect.TypeFor[func(int64, []byte) error]():         func(_ int64, doc []byte) error { say(doc); return nil },
	}
	args, times := []reflect.Value{}, []time.Time{start.AddDate(-1, 0, 0), start.AddDate(1, 0, 0)}
	for in := range m.Type.Ins() {
		switch value, ok := values[in]; {
		case ok:
			args = append(args, reflect.ValueOf(value))
		case in == reflect.TypeFor[time.Time]():
			args, times = append(args, reflect.ValueOf(times[0])), times[1:]
		case !m.Type.IsVariadic():
			t.Fatalf("%s: no value for %s", m.Name, in)
		}
	}
	for _, out := range m.Func.Call(args) {
		if out.Kind() != reflect.Func {
			say(out.Interface())
			continue
		}
		for v, err := range out.Seq2() {
			say(v.Interface())
			say(err.Interface())
		}
	}
	return said
}
