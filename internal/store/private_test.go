package store

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

// writing are the methods of Repo that are not tried: they return what they were given, or counts.
var writing = []string{
	"ActivateLearning", "AddAudit", "AddLearning", "AskPull", "BeginConsolidation", "BeginCorpusListing", "Book",
	"ChangeLearning", "Clear", "ClearCorpus", "CountLearnings", "DismissInsight", "DropAnswers", "EndAsked",
	"EndConsolidation", "EndCorpusListing", "EndTurn", "ForgetWatchedShape", "KeepAnswer", "MergeShared", "Pause",
	"Prune", "RefreshCorpus", "Reject", "ResetThreshold", "Retire", "SaveCorpus", "SaveCorpusListed",
	"SaveCorpusVectors", "SaveHandled", "SaveHandledOnce", "SaveOutcomes", "SaveReview", "SaveThreads", "SaveWatched", "SetPosts",
	"SetWatchedDone", "TakeTurn", "Unreject",
}

// silent are those that do not return text that people or models wrote, so that the repository
// itself reads nothing recognizable with them.
var silent = []string{
	"Consolidation", "CorpusRegulars", "CorpusVectorSizes", "Count", "FinderRules", "HasCorpus", "Labels",
	"LastOutcomes", "LatestFacts", "LearningStates", "Names", "OwnerAlone", "OwnerLearnings", "Period",
	"PullAsked", "ReviewFacts", "ThreadStates", "WatchedPulls",
}

// testPrivateRowsStay: no method that reads returns a private repository's rows in another one
// of the same database and owner, whatever it is asked for. "Review of B never contains A text"
// (T16).
func testPrivateRowsStay(t *testing.T, open opener) {
	const marker = "zebra"
	ctx := t.Context()
	db := open(t)
	a, b := repoFor(t, db, remote), repoFor(t, db, precedent.Repo{Host: remote.Host, Owner: remote.Owner, Name: "public"})
	f := finding(remote, "a.go", marker, precedent.Bugs, precedent.Medium)
	f.Rule = marker
	f.Trail = []precedent.Decision{{Step: "score", Text: marker, By: "work"}}
	v := review(remote, "r1", 1, f)
	number := 7
	v.PullRequest, v.ThresholdFrom, v.Reading = &number, marker, &precedent.Reading{Work: "work", With: marker}
	v.Target.Head = marker
	needs.NoError(t, a.SaveReview(ctx, v, Post{
		ID: "p1", Pull: 7, Review: "r1", Kind: PostSummary, State: PostPlanned,
		Payload: []byte(`"` + marker + `"`),
	}))
	l := learningOf("Always ask the " + marker)
	l.Private, l.Scope = true, precedent.OwnerScope
	mustAdd(t, a, l)
	j := dismiss(t, a, precedent.Dismissal{
		Finding: f.ID, Fingerprint: f.Fingerprint, Claim: marker, Path: "a.go", Reason: marker, Who: marker, At: start,
	})
	retired := dismiss(t, a, precedent.Dismissal{
		Finding: "x", Fingerprint: "retired", Claim: marker, At: start.Add(-time.Hour),
	})
	needs.Value(a.Retire(ctx, retired.ID, marker, start))(t)
	thread := precedent.Thread{
		ID: "t1", PullRequest: 7, Fingerprint: f.Fingerprint, Title: marker, State: precedent.ThreadOpen, OpenedAt: start,
	}
	outcome := precedent.Outcome{
		Thread: "t1", Fingerprint: f.Fingerprint, PullRequest: 7, Title: marker,
		Kind: precedent.Fixed, Finder: marker, At: start,
	}
	handled := HandledComment{Comment: "issue 1", Hash: marker, Document: []byte(`{}`), At: start}
	answer := Post{ID: "p2", Pull: 7, Kind: PostAnswer, State: PostPlanned, Payload: []byte(`"` + marker + `"`), At: start}
	gone := dismiss(t, a, precedent.Dismissal{Finding: "y", Fingerprint: marker, At: start})
	needs.Value(a.Unreject(ctx, gone.ID))(t)
	for _, err := range []error{
		a.SaveHandled(ctx, 7, handled, answer), a.Pause(ctx, 7, marker, true),
		a.SaveThreads(ctx, []precedent.Thread{thread}), a.SaveOutcomes(ctx, []precedent.Outcome{outcome}),
		a.KeepAnswer(ctx, "task", []byte(`"`+marker+`"`)),
	} {
		needs.NoError(t, err)
	}
	needs.Result(t, "BeginConsolidation", true)(a.BeginConsolidation(ctx, "run", time.Hour))
	insight := precedent.Insight{ID: "insight1", State: precedent.InsightActive, Text: marker, UpdatedAt: start}
	needs.Result(t, "EndConsolidation", true)(a.EndConsolidation(ctx, "run", []precedent.Insight{insight}, false))
	needs.NoError(t, a.MergeShared(ctx, func(Shared) (Shared, error) {
		return Shared{Findings: []SharedFinding{{
			Fingerprint: "elsewhere", Path: marker, Category: precedent.Bugs, Severity: precedent.Low, Seen: 1, First: start, Last: start,
		}}}, nil
	}))
	page := corpusPage(corpusComment("issue 1", 7, marker), corpusComment(marker, 7, marker))
	page.Checkpoint = &CorpusCheckpoint{Stream: marker}
	needs.Value(a.SaveCorpus(ctx, page))(t)
	needs.NoError(t, a.BeginCorpusListing(ctx, []string{marker}, start, start.Add(time.Hour)))
	chunk := precedent.CorpusChunk{Text: marker, Words: marker}
	if n, err := a.SaveCorpusVectors(ctx, []CorpusVector{{
		Kind: "inline", ID: marker, Model: "inline", Hash: CorpusHash(&chunk), Vector: make([]float32, 7),
	}}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	needs.Value(a.AddAudit(ctx, AuditRow{Who: marker, At: start}))(t)
	texts := []string{"", "inline", insight.ID, "task", "work", "r1", "head1", f.ID, f.Fingerprint, l.ID, j.ID, "retired"}
	for i := range reflect.TypeFor[*Repo]().NumMethod() {
		name := reflect.TypeFor[*Repo]().Method(i).Name
		if slices.Contains(writing, name) {
			continue
		}
		own := false
		for _, text := range texts {
			own = own || strings.Contains(fmt.Sprint(read(t, a, name, text)...), marker)
			if got := fmt.Sprint(read(t, b, name, text)...); strings.Contains(got, marker) {
				t.Errorf("%s(%q) of another repository returns %s", name, text, got)
			}
		}
		if !own && !slices.Contains(silent, name) {
			t.Errorf("%s of the repository itself returns nothing recognizable: this test no longer tries it", name)
		}
	}
}

// read calls a method of a repository with the text for each string, and returns its results in
// full.
func read(t *testing.T, r *Repo, name, text string) []any {
	t.Helper()
	m := reflect.ValueOf(r).MethodByName(name)
	values := map[reflect.Type]any{
		reflect.TypeFor[context.Context](): t.Context(), reflect.TypeFor[string](): text, reflect.TypeFor[int](): 7,
		reflect.TypeFor[time.Time](): start.AddDate(-1, 0, 0),
		reflect.TypeFor[[]string]():  []string{"a.go", "zebra"}, reflect.TypeFor[Change](): Change{},
		reflect.TypeFor[precedent.Repo](): remote, reflect.TypeFor[bool](): false,
		reflect.TypeFor[precedent.LearningState](): precedent.LearningActive, reflect.TypeFor[Page](): Page{Limit: 7},
		reflect.TypeFor[int64](): int64(0), reflect.TypeFor[precedent.ForgeID](): precedent.ForgeID("issue 1"),
	}
	var results []any
	add := func(v any) {
		out, err := json.Marshal(v)
		if err != nil {
			out = fmt.Append(nil, v) // an error
		}
		results = append(results, string(out))
	}
	values[reflect.TypeFor[func(precedent.CorpusChunk) error]()] = func(c precedent.CorpusChunk) error { add(c); return nil }
	values[reflect.TypeFor[func(int64, []byte) error]()] = func(_ int64, doc []byte) error { add(string(doc)); return nil }
	values[reflect.TypeFor[[]int64]()] = []int64{1}
	values[reflect.TypeFor[func(CorpusVector) error]()] = func(v CorpusVector) error { add(v); return nil }
	var args []reflect.Value
	for i := range m.Type().NumIn() {
		if m.Type().IsVariadic() && i == m.Type().NumIn()-1 {
			break
		}
		in := m.Type().In(i)
		v, ok := values[in]
		if !ok {
			t.Fatalf("%s: no value for %s: add one, or the method to the list of those that write", name, in)
		}
		if in != reflect.TypeFor[time.Time]() || !strings.HasPrefix(name, "Reject") {
			args = append(args, reflect.ValueOf(v))
			continue
		}
		args = append(args, reflect.ValueOf(start)) // when dismissals hold
	}
	for _, out := range m.Call(args) {
		switch v := out.Interface().(type) {
		case iter.Seq2[*precedent.Review, error]:
			for review := range v {
				add(review)
			}
		case []byte: // JSON
			results = append(results, string(v))
		default:
			add(v)
		}
	}
	return results
}
