package store

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestBook(t *testing.T) {
	now := start
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := repoFor(t, db, remote)
	book := func(usd float64, want bool, total float64) {
		t.Helper()
		got, booked, err := r.Book(t.Context(), usd, 1)
		if err != nil || booked != want || fmt.Sprintf("%.6f", got) != fmt.Sprintf("%.6f", total) {
			t.Errorf("Book(%v) = %v, %v, %v; want %v, %v", usd, got, booked, err, total, want)
		}
	}
	book(0.7, true, 0.7)
	book(0.4, false, 0.7)
	book(-0.5, true, 0.2)
	book(0.4, true, 0.6)
	now = now.Add(24 * time.Hour)
	book(0.9, true, 0.9)
	stranger := repoFor(t, db, local)
	if total, booked, err := stranger.Book(t.Context(), 1, 1); err != nil || !booked || total != 1 {
		t.Errorf("another repository: %v, %v, %v", total, booked, err)
	}
}

// TestBookAtOnce books from two connections; no sum is lost and the limit holds.
func TestBookAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	var group sync.WaitGroup
	for range 2 {
		r := repoFor(t, openFile(t, path), remote)
		group.Go(func() {
			for range 20 {
				if _, _, err := r.Book(t.Context(), 0.1, 3); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	r := repoFor(t, openFile(t, path), remote)
	if total, booked, err := r.Book(t.Context(), 0.1, 3); err != nil || booked || fmt.Sprintf("%.2f", total) != "3.00" {
		t.Errorf("total %v, booked %v, %v", total, booked, err)
	}
}

func TestAnswers(t *testing.T) {
	now := start
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
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
		if err := r.KeepAnswer(t.Context(), task, []byte(answer)); err != nil {
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
