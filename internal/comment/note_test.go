package comment_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/markdown/markdowntest"
)

// TestNote: every kind of note is inert, whatever its parts say, what bots obey, too, and its marker comes back.
func TestNote(t *testing.T) {
	all, words := writers(t), rapid.OneOf(markdowntest.Wild(), rapid.SampledFrom(orders))
	rapid.Check(t, func(t *rapid.T) {
		m := mark()
		m.Kind = rapid.SampledFrom(comment.Notes).Draw(t, "kind")
		m.Answers = rapid.StringMatching(`(?:gate|checks|fix)\.[0-9a-f]{40}(?:\.[a-z]{1,8})?`).Draw(t, "key")
		wild := func(name string) string { return words.Draw(t, name) }
		n := comment.Note{Lead: "**Words of ours.**", Text: wild("text"), Log: wild("log"), End: "An end."}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			n.Items = append(n.Items, comment.NoteItem{
				Name: wild("name"), Words: wild("words"),
				URL: rapid.SampledFrom([]string{"", "https://good.example/a", "https://evil.example/a", wild("url")}).Draw(t,
					"to"),
			})
		}
		for _, w := range all {
			body := w.Note(n, m)
			if got, ok := w.Read(body); !ok || got != m {
				t.Fatalf("read back as %+v, %v:\n%s", got, ok, body)
			}
			markdowntest.Inert(t, unmarked(t, body))
		}
	})
}

// TestNoteIsBounded: a list and a log of any length fit.
func TestNoteIsBounded(t *testing.T) {
	w := writer(t)
	n := comment.Note{Lead: "**31 checks failed.**", Log: strings.Repeat("a line of a log\n", 1<<16)}
	for i := range 31 {
		n.Items = append(n.Items, comment.NoteItem{
			Name: fmt.Sprintf("check %d", i), Words: strings.Repeat("x", 1<<16),
			URL: "https://good.example/" + strings.Repeat("y", 1<<16),
		})
	}
	body := w.Note(n, checksMark())
	if len(body) > 65_536 || !strings.Contains(body, "- … and 11 more") || strings.Contains(body, "check 20") {
		t.Errorf("%d bytes:\n%.2000s", len(body), body)
	}
	readBack(t, w, body, comment.ChecksEnded)
}

func checksMark() comment.Marker {
	m := mark()
	m.Kind, m.Answers = comment.ChecksEnded, "checks."+m.Head
	return m
}
