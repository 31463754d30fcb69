package store

import (
	"fmt"
	"testing"
	"time"
)

func testBook(t *testing.T, open opener) {
	now := start
	db := open(t, Options{Now: func() time.Time { return now }})
	r := repoFor(t, db, remote)
	book := func(usd float64, want bool, total float64) {
		t.Helper()
		got, err := r.Book(t.Context(), usd, Bounds{Day: 1})
		if err != nil || got.Over == "" != want || fmt.Sprintf("%.6f", got.Day) != fmt.Sprintf("%.6f", total) {
			t.Errorf("Book(%v) = %+v, %v; want %v, %v", usd, got, err, total, want)
		}
	}
	book(0.7, true, 0.7)
	book(0.4, false, 0.7)
	book(-0.5, true, 0.2)
	book(0.4, true, 0.6)
	now = now.Add(24 * time.Hour)
	book(0.9, true, 0.9)
	stranger := repoFor(t, db, local)
	if got, err := stranger.Book(t.Context(), 1, Bounds{Day: 1}); err != nil || got.Over != "" || got.Day != 1 {
		t.Errorf("another repository: %+v, %v", got, err)
	}
}

// testBookOfPullRequests: what a pull request takes is bounded over days, and
// what one bound refuses is in no book.
func testBookOfPullRequests(t *testing.T, open opener) {
	now := start
	db := open(t, Options{Now: func() time.Time { return now }})
	r := repoFor(t, db, remote)
	for i, step := range []struct {
		usd    float64
		number int
		over   string
		day    float64
		pull   float64
	}{
		{2, 7, "", 2, 2},
		{2, 7, "pull request", 2, 2},
		{2, 8, "", 4, 2},
		{2, 8, "day", 4, 2},
		{-1, 7, "", 3, 1},
		{1, 0, "", 4, 0},
	} {
		got, err := r.Book(t.Context(), step.usd, Bounds{Day: 5, Pull: 3, Number: step.number})
		if want := (Booked{step.day, step.pull, step.over}); err != nil || got != want {
			t.Errorf("%d: %+v, %v; want %+v", i, got, err, want)
		}
	}
	now = now.Add(24 * time.Hour)
	if got, err := r.Book(t.Context(), 2.5, Bounds{Day: 5, Pull: 3, Number: 7}); err != nil || got.Over != "pull request" {
		t.Errorf("the next day: %+v, %v", got, err)
	}
}

func testAnswers(t *testing.T, open opener) {
	now := start
	db := open(t, Options{Now: func() time.Time { return now }})
	r := repoFor(t, db, remote)
	has := func(task, want string) {
		t.Helper()
		got, found, err := r.Answer(t.Context(), task)
		if err != nil || found != (want != "") || string(got) != want {
			t.Errorf("Answer(%s) = %q, %v, %v; want %q", task, got, found, err, want)
		}
	}
	keep := func(task, answer string) {
		t.Helper()
		if err := r.KeepAnswers(t.Context(), map[string][]byte{task: []byte(answer)}); err != nil {
			t.Fatal(err)
		}
	}
	has("a", "")
	keep("a", `{"n":1}`)
	keep("a", `{"n":2}`)
	keep("b", `{}`)
	keep("c", `{}`)
	has("a", `{"n":2}`)
	if _, found, err := repoFor(t, db, local).Answer(t.Context(), "a"); found || err != nil {
		t.Errorf("another repository has it: %v, %v", found, err)
	}
	if err := r.DropAnswers(t.Context(), []string{"a", "x"}); err != nil {
		t.Fatal(err)
	}
	has("a", "")
	has("b", `{}`)
	now = now.Add(answerLife + time.Hour)
	has("b", "")
	keep("c", `{}`)
	if err := r.DropAnswers(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	now = start
	has("b", "") // it was dropped, not only too old
}
