package portable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
)

var (
	now  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	team = precedent.Repo{Host: "example.org", Owner: "team", Name: "app"}
)

// openMemory is an empty memory of the team's repository.
func openMemory(t testing.TB) *memory.Memory {
	t.Helper()
	db := needs.Value(store.OpenMemory(t.Context(), store.Options{Now: func() time.Time { return now }}))(t)
	t.Cleanup(func() { db.Close() })
	m := &memory.Memory{DB: db, Repo: team, Now: func() time.Time { return now }}
	needs.NoError(t, m.Open(t.Context()))
	return m
}

func reject(t testing.TB, m *memory.Memory, fingerprint string, at time.Time) precedent.Dismissal {
	t.Helper()
	j, _, err := m.Rows.Reject(t.Context(), precedent.Dismissal{
		Fingerprint: fingerprint, Finding: precedent.FindingID(m.Repo, fingerprint), Claim: "the error is ignored", Path: "a.go",
		Category: precedent.Categories[0], Severity: precedent.Low, Reason: "it cannot fail", Who: "dana", At: at,
	})
	needs.NoError(t, err)
	return j
}

// learningOf is an active learning of the repository.
func learningOf(id, directive string, at time.Time) precedent.Learning {
	return precedent.Learning{
		ID: id, Kind: precedent.LearnDo, State: precedent.LearningActive, Scope: precedent.RepositoryScope,
		Directive: directive, From: precedent.LearningSource{By: precedent.FromCommand, Who: "dana"},
		CreatedAt: at, UpdatedAt: at, Version: 1,
	}
}

func learn(t testing.TB, m *memory.Memory, l precedent.Learning) {
	t.Helper()
	_, _, err := m.Rows.AddLearning(t.Context(), l, "dana")
	needs.NoError(t, err)
}

func export(t testing.TB, m *memory.Memory) string {
	t.Helper()
	var b bytes.Buffer
	if _, left, err := Export(t.Context(), m, &b); err != nil || left != 0 {
		t.Fatal(left, err)
	}
	return b.String()
}

// drawRows draws rows of few keys and times, so that they collide.
func drawRows(t *rapid.T, label string) Rows {
	r := reader{now}
	rows := Rows{}
	for range rapid.IntRange(0, 12).Draw(t, label) {
		id := rapid.SampledFrom([]string{"aa", "bb", "cc"}).Draw(t, "id")
		at := now.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "at")) * time.Hour)
		who := rapid.SampledFrom([]string{"dana", "li"}).Draw(t, "who")
		var made row
		var err error
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			made, err = r.dismissal(dismissal{Fingerprint: id, Claim: "claim", Severity: precedent.Low, Who: who, At: at, ExpiresAt: at.Add(store.DismissalLife)})
		case 1:
			made, err = r.forgotten(store.Forgotten{Fingerprint: id, At: at})
		case 2:
			made, err = r.learning(drawLearning(t, id, who, at))
		case 3:
			made, err = r.history(store.SharedChange{Learning: id, LearningChange: store.LearningChange{At: at, Who: who, Action: "edited", After: drawLearning(t, id, who, at)}})
		case 4:
			kind := rapid.SampledFrom(precedent.OutcomeKinds).Draw(t, "outcome")
			made, err = r.outcome(precedent.Outcome{Fingerprint: id, PullRequest: 7, Kind: kind, Who: who, At: at})
		case 5:
			made, err = r.finding(store.SharedFinding{
				Fingerprint: id, Path: who + ".go", Category: precedent.Bugs, Severity: precedent.Low, Seen: 1, First: at, Last: at,
			})
		case 6:
			made, err = r.insight(precedent.Insight{
				ID: id, State: precedent.InsightActive, Text: "Errors are dropped", Category: precedent.Bugs, People: []string{who},
				CreatedAt: at, UpdatedAt: at,
			})
		}
		needs.NoError(t, err)
		rows[made.key] = made
	}
	return Merge(rows, nil)
}

func drawLearning(t *rapid.T, id, who string, at time.Time) precedent.Learning {
	l := learningOf(id, "check errors by "+who, at)
	l.State = rapid.SampledFrom([]precedent.LearningState{
		precedent.LearningPending, precedent.LearningActive, precedent.LearningForgotten,
	}).Draw(t, "state")
	l.From.Who = who
	return l
}

func bytesOf(s Rows) string { return string(encode(s.sorted(""))) }

// TestMergeLaws: the merge is commutative, associative and idempotent, and the same rows are the
// same bytes.
func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawRows(t, "a"), drawRows(t, "b"), drawRows(t, "c")
		same := func(law string, x, y Rows) {
			if bytesOf(x) != bytesOf(y) {
				t.Fatalf("%s:\n%s\n%s", law, bytesOf(x), bytesOf(y))
			}
		}
		same("commutative", Merge(a, b), Merge(b, a))
		same("associative", Merge(a, Merge(b, c)), Merge(Merge(a, b), c))
		same("idempotent", Merge(Merge(a, b), b), Merge(a, b))
		for k, r := range Merge(a, b) { // nothing is invented
			if a[k].line != r.line && b[k].line != r.line {
				t.Fatalf("%v is in neither", k)
			}
		}
		for k, r := range a {
			switch m, ok := Merge(a, b)[k]; {
			case k.kind == learningKind && r.final && !m.final:
				t.Fatalf("forgotten stays forgotten: %s", m.line)
			case k.kind == forgottenKind && (!ok || m.at < r.at):
				t.Fatalf("what was taken back returned: %v", k)
			case k.kind != dismissalKind && !ok:
				t.Fatalf("%v was lost", k)
			}
		}
	})
}

// TestKeptNewest: the bounds on what grows keep the laws.
func TestKeptNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) Rows {
			rows := Rows{}
			for _, n := range rapid.SliceOfN(rapid.IntRange(0, 120), 0, 90).Draw(t, label) {
				at := now.Add(-time.Duration(n) * time.Minute)
				r, err := reader{now}.history(store.SharedChange{Learning: "aa", LearningChange: store.LearningChange{
					At: at, Action: "edited", After: learningOf("aa", "x", at),
				}})
				needs.NoError(t, err)
				rows[r.key] = r
			}
			return Merge(rows, nil)
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		if x, y := Merge(a, Merge(b, c)), Merge(Merge(a, b), c); bytesOf(x) != bytesOf(y) || len(x) > maxHistory {
			t.Fatalf("%d and %d rows", len(x), len(y))
		}
	})
}

// TestLinesAreStable: a line that is read is written as the same bytes, with secrets and hidden
// characters removed the first time.
func TestLinesAreStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{" AKIA" + "QYLPMN5HFIQR7XYA ", "password = ", "'hunter2hunter2'", "\u202e", "<!-- x -->", "&lt;", "a", " ", "\n", "é", "🙂", "@team", "ghp_"})
		text := rapid.Map(rapid.SliceOfN(word, 0, 30), func(words []string) string { return strings.Join(words, "") })
		first, err := reader{now}.dismissal(dismissal{
			Fingerprint: "aa", Claim: text.Draw(t, "claim"), Reason: text.Draw(t, "reason"), Who: text.Draw(t, "who"), Severity: precedent.Low, At: now,
		})
		needs.NoError(t, err)
		if strings.Contains(first.line, "QYLPMN5HFIQR7XYA") || strings.Contains(first.line, "\u202e") {
			t.Fatalf("unsafe: %s", first.line)
		}
		again, err := reader{now}.parse([]byte(first.line))
		if err != nil || again.line != first.line || again.compare(first) != 0 {
			t.Fatalf("%v\n%s\n%s", err, first.line, again.line)
		}
	})
}

// TestExportAndImport: an export moves everything to another database, and a second time changes
// nothing.
func TestExportAndImport(t *testing.T) {
	from, to := openMemory(t), openMemory(t)
	reject(t, from, "aa", now.Add(-time.Hour))
	gone := reject(t, from, "bb", now.Add(-time.Hour))
	if ok, err := from.Rows.Unreject(t.Context(), gone.ID); !ok || err != nil {
		t.Fatal(ok, err)
	}
	reject(t, to, "bb", now.Add(-2*time.Hour))
	approved := learningOf("l1", "check errors", now)
	approved.From = precedent.LearningSource{By: precedent.FromAgent, Who: "an agent"}
	learn(t, from, approved)
	outcome := precedent.Outcome{Fingerprint: "aa", PullRequest: 3, Kind: precedent.Declined, At: now}
	needs.NoError(t, from.Rows.SaveOutcomes(t.Context(), []precedent.Outcome{outcome}))
	text := export(t, from)
	got, err := Read(t.Context(), to, strings.NewReader(text), false)
	if want := (Counts{Added: 3, Removed: 1}); err != nil || got.Counts != want {
		t.Fatalf("%+v, %v", got, err)
	}
	needs.Equal(t, text, export(t, to))
	if got, err = Read(t.Context(), to, strings.NewReader(text), false); err != nil || got.Added+got.Changed+got.Removed != 0 {
		t.Errorf("again: %+v, %v", got, err)
	}
	if h, err := to.Rows.LearningHistory(t.Context(), "l1"); err != nil || len(h) != 1 || h[0].Who != "dana" {
		t.Errorf("history %+v, %v", h, err)
	}
	j, err := to.Rows.Dismissal(t.Context(), "aa", now)
	if err != nil || j == nil || j.Finding != precedent.FindingID(team, "aa") || j.ID == "" {
		t.Errorf("%+v, %v", j, err)
	}
	// A later dismissal of the same finding wins again, also if the clock is behind.
	reject(t, to, "bb", now.Add(-3*time.Hour))
	needs.Value(Read(t.Context(), to, strings.NewReader(text), false))(t)
	if j, err := to.Rows.Dismissal(t.Context(), "bb", now); err != nil || j == nil {
		t.Errorf("the new dismissal was lost: %v", err)
	}
}

// TestClockAhead: what a person says of a row from a machine whose clock is ahead counts, and stays when the row comes
// again.
func TestClockAhead(t *testing.T) {
	from, to := openMemory(t), openMemory(t)
	ahead := now.Add(time.Hour)
	reject(t, from, "aa", ahead)
	learn(t, from, learningOf("l1", "check errors", ahead))
	outcome := precedent.Outcome{Fingerprint: "bb", PullRequest: 3, Kind: precedent.Declined, At: ahead}
	needs.NoError(t, from.Rows.SaveOutcomes(t.Context(), []precedent.Outcome{outcome}))
	text, rows := export(t, from), to.Rows
	needs.Value(Read(t.Context(), to, strings.NewReader(text), false))(t)
	held := needs.Value(rows.Dismissal(t.Context(), "aa", now))(t)
	needs.Value(rows.Retire(t.Context(), held.ID, "fixed", now))(t)
	_, err := rows.ChangeLearning(t.Context(), "l1", "li", "edited", now, func(l *precedent.Learning) error {
		l.Directive = "check all errors"
		return nil
	})
	needs.NoError(t, err)
	outcome.Kind, outcome.At = precedent.Fixed, now
	needs.NoError(t, rows.SaveOutcomes(t.Context(), []precedent.Outcome{outcome}))
	needs.Value(Read(t.Context(), to, strings.NewReader(text), false))(t)
	if j := needs.Value(rows.Dismissal(t.Context(), "aa", now))(t); j != nil {
		t.Errorf("the dismissal came back: %+v", j)
	}
	if l := needs.Value(rows.Learnings(t.Context()))(t); len(l) != 1 || l[0].Directive != "check all errors" {
		t.Errorf("the edit was lost: %+v", l)
	}
	if o := needs.Value(rows.Outcomes(t.Context(), 3))(t); len(o) != 1 || o[0].Kind != precedent.Fixed {
		t.Errorf("the outcome was lost: %+v", o)
	}
}

// TestRefusedFiles: a damaged or hostile file changes nothing and says the line.
func TestRefusedFiles(t *testing.T) {
	m := openMemory(t)
	reject(t, m, "aa", now)
	good := export(t, m)
	head, line, _ := strings.Cut(good, "\n")
	line = strings.TrimSuffix(line, "\n")
	edit := func(old, to string) string {
		if !strings.Contains(line, old) {
			t.Fatalf("%s has no %s", line, old)
		}
		return head + "\n" + strings.Replace(line, old, to, 1) + "\n"
	}
	for name, test := range map[string]struct{ text, says string }{
		"empty":            {"", "no first line"},
		"newer":            {`{"precedent_memory":9}` + "\n", "another precedent"},
		"other repository": {strings.Replace(good, "team/app", "other/app", 1), "example.org/other/app"},
		"cut off":          {good[:len(good)-9], "line 2 is cut off"},
		"not JSON":         {head + "\n{\n", "line 2: it is not a JSON object"},
		"wrong type":       {edit(`"claim":"the error is ignored"`, `"claim":7`), "line 2"},
		"unknown field":    {edit(`"claim":`, `"html":"x","claim":`), `unknown field "html"`},
		"unknown kind":     {head + "\n" + `{"post":{}}` + "\n", "unknown kind"},
		"two keys":         {head + "\n" + `{"label":{},"outcome":{}}` + "\n", "one key"},
		"huge line":        {head + "\n" + strings.Repeat("x", 2*maxLine) + "\n", "more than 256 KiB"},
		"not UTF-8":        {edit("dana", "da\xffna"), "UTF-8"},
		"future":           {edit(`"at":"2026-03-01`, `"at":"2026-03-03`), "in the future"},
		"never expires":    {edit(`"expires_at":"2026`, `"expires_at":"9999`), "too far in the future"},
		"severity":         {edit(`"severity":"low"`, `"severity":"none"`), "invalid severity"},
		"fingerprint":      {edit(`"fingerprint":"aa"`, `"fingerprint":"../x"`), "invalid fingerprint"},
		"twice, uppercase": {edit(`"claim":`, `"CLAIM":"never flag it","claim":`), "twice"},
		"glob":             {edit(`"reason"`, `"glob":"[","reason"`), "line 2"},
		"owner's learning": {head + "\n" + `{"learning":{"id":"x","kind":"obey"}}` + "\n", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			to := openMemory(t)
			reject(t, to, "zz", now)
			before := export(t, to)
			got, err := Read(t.Context(), to, strings.NewReader(test.text), false)
			said := fmt.Sprint(err)
			for _, l := range got.Lines {
				said += "\n" + l.Where + ": " + l.Why
			}
			if err == nil && got.Refused == 0 || !strings.Contains(said, test.says) {
				t.Errorf("said %s, want %q", said, test.says)
			}
			if after := export(t, to); after != before {
				t.Errorf("changed to\n%s", after)
			}
		})
	}
	// One bad line refuses all, unless it is to be skipped.
	to := openMemory(t)
	bad := good + "{}\n"
	if got, err := Read(t.Context(), to, strings.NewReader(bad), false); err != nil || got.Refused != 1 || got.Added != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Read(t.Context(), to, strings.NewReader(bad), true); err != nil || got.Refused != 1 || got.Added != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	lost := errors.New("the disk is gone")
	if _, err := Read(t.Context(), to, io.MultiReader(strings.NewReader(good), iotest.ErrReader(lost)), true); !errors.Is(err, lost) {
		t.Errorf("a file that cannot be read to its end: %v", err)
	}
}

// FuzzParse: whatever a line holds, it is refused, or written again as the same bytes.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"rejection":{"fingerprint":"aa","claim":"x","severity":"low","at":"2026-01-01T00:00:00Z"}}`))
	f.Add([]byte(`{"learning":{"id":"a","about":{}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := reader{now}.parse(line)
		if err != nil {
			return
		}
		again, err := reader{now}.parse([]byte(r.line))
		if err != nil || again.line != r.line || !slices.Contains(kinds, r.kind) {
			t.Fatalf("%v\n%s\n%s", err, r.line, again.line)
		}
	})
}

// TestOldRowsEnd: what has expired is not shared any more, and what was taken back is, forever. What was replaced by a
// learning that was forgotten before it was approved holds again, unless one that holds replaced it first. One that says
// the opposite of an older one waits, but not for one of the owner.
func TestOldRowsEnd(t *testing.T) {
	r := reader{now}
	rows := Rows{}
	add := func(made row, err error) {
		needs.NoError(t, err)
		rows[made.key] = made
	}
	year := 366 * 24 * time.Hour
	add(r.dismissal(dismissal{Fingerprint: "aa", Claim: "x", At: now.Add(-year), ExpiresAt: now}))
	add(r.dismissal(dismissal{Fingerprint: "bb", Claim: "x", At: now.Add(-year), ExpiresAt: now.Add(time.Hour)}))
	add(r.forgotten(store.Forgotten{Fingerprint: "cc", At: now.Add(-year)}))
	add(r.outcome(precedent.Outcome{Fingerprint: "dd", PullRequest: 1, Kind: precedent.Fixed, At: now.Add(-year)}))
	replaced, stays := learningOf("old", "always log it", now.Add(-time.Hour)), learningOf("stays", "never wait", now)
	replaced.State, stays.State = precedent.LearningSuperseded, precedent.LearningSuperseded
	by := learningOf("by", "never log it", now)
	by.State, by.Supersedes = precedent.LearningForgotten, "stays"
	first, last := learningOf("first", "lock the table", now), learningOf("last", "never lock the table", now)
	first.State, last.Supersedes = precedent.LearningSuperseded, "another"
	owners := learningOf("owners", "mock the clock", now.Add(-time.Hour))
	owners.Scope = precedent.OwnerScope
	for _, l := range []precedent.Learning{
		replaced, stays, by, first, last, owners, learningOf("mock", "never mock the clock", now),
		learningOf("older", "wrap the errors", now), learningOf("younger", "never wrap the errors", now),
	} {
		made := needs.Value(r.learning(l))(t)
		rows[made.key] = made
	}
	rows.current(now)
	for id, want := range map[string]precedent.LearningState{
		"old": precedent.LearningActive, "stays": precedent.LearningSuperseded,
		"first": precedent.LearningSuperseded, "last": precedent.LearningActive, "mock": precedent.LearningActive,
		"older": precedent.LearningActive, "younger": precedent.LearningPending,
	} {
		if l := rows[key{learningKind, id}].value.(precedent.Learning); l.State != want {
			t.Errorf("%s is %s, want %s", id, l.State, want)
		}
	}
	maps.DeleteFunc(rows, func(k key, _ row) bool { return k.kind == learningKind || k.kind == historyKind })
	left := slices.Collect(maps.Keys(rows.current(now)))
	if len(left) != 2 || slices.ContainsFunc(left, func(k key) bool { return k.id == "aa" || k.kind == outcomeKind }) {
		t.Error(left)
	}
}
