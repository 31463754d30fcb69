package comment_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent/internal/markdown/markdowntest"
)

// TestUpdatesAreReadBack: whatever the words are, the comment stays ours, its text stays, and
// the answer is found by its commit.
func TestUpdatesAreReadBack(t *testing.T) {
	w := writer(t)
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		m := marks().Draw(t, "mark")
		body := w.Finding(findingOf(m, markdowntest.Wild().Draw(t, "words")), m, false)
		if rapid.Bool().Draw(t, "line ends") {
			body = strings.ReplaceAll(body, "\n", "\r\n")
		}
		var kept []string
		for n := range rapid.IntRange(1, 9).Draw(t, "updates") {
			commit := fmt.Sprintf("%010x", n+1) + strings.Repeat("0", 30)
			updated, ok := w.Update(body, markdowntest.Wild().Draw(t, "answer"), commit, at)
			if !ok {
				t.Fatalf("no update of\n%s", body)
			}
			again, ok := w.Update(updated, "At last.", commit, at)
			if !ok || !strings.Contains(again, "at `"+commit[:10]+"`:** At last\\.") &&
				!strings.Contains(again, "at `"+commit[:10]+"`:** At last.") {
				t.Fatalf("the line of one commit was not replaced in\n%s", again)
			}
			body, kept = again, append(kept, commit)
			if got, ok := w.Read(body); !ok || got != m {
				t.Fatalf("read back as %+v, %v", got, ok)
			}
		}
		for i, commit := range kept {
			if got := w.HasUpdate(body, commit); got != (i >= len(kept)-5) {
				t.Fatalf("update %d of %d is there: %v\n%s", i, len(kept), got, body)
			}
		}
		markdowntest.Inert(t, unmarked(t, body))
	})
}

// TestUpdatesKeepPeoplesText: what people wrote into our comment stays, and a comment that they
// took from us is left alone.
func TestUpdatesKeepPeoplesText(t *testing.T) {
	w := writer(t)
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	body := w.Finding(finding(), mark(), false)
	text, tail, _ := strings.Cut(body, "\n\n<sub>")
	edited := text + "\n\nEdit by ann: see #12, @bo\n\n<sub>" + tail
	got, ok := w.Update(edited, "Fixed.", strings.Repeat("c", 40), at)
	want := text + "\n\nEdit by ann: see #12, @bo\n\n**Update of 2026-03-04 at `cccccccccc`:** Fixed.\n\n<sub>" + tail
	if !ok || got != want {
		t.Errorf("%v, got\n%s\nwant\n%s", ok, got, want)
	}
	elsewhere := w
	elsewhere.PullRequest.Number++
	for name, body := range map[string]string{
		"without a marker": text, "marker not at the end": body + "\nBo: why?",
		"of another pull request": elsewhere.Finding(finding(), mark(), false),
		"full":                    strings.Repeat("words ", 11_000) + "\n\n" + body,
	} {
		if got, ok := w.Update(body, "Fixed.", strings.Repeat("c", 40), at); ok {
			t.Errorf("%s: updated to\n%.300s", name, got)
		}
	}
}

// TestARunIsInTheMarkerAlone: naming the run changes nothing that people see, and taking it away
// gives the same comment again.
func TestARunIsInTheMarkerAlone(t *testing.T) {
	for _, w := range writers(t) {
		tried := mark()
		tried.Tries = 100 // of which as many count as a marker can say
		body := w.Summary("# All is well", tried)
		run, ok := w.WithRun(body, "0198-run")
		m, read := w.Read(run)
		if !ok || !read || m.Run != "0198-run" || m.Thread != tried.Thread || m.Tries != 99 ||
			unmarked(t, run) != unmarked(t, body) {
			t.Errorf("%v, %v: %+v of\n%s", ok, read, m, run)
		}
		if without, ok := w.WithRun(run, ""); !ok || without != body {
			t.Errorf("%v: it is\n%s", ok, without)
		}
		if _, ok := w.WithRun("# All is well", "0198-run"); ok {
			t.Error("a text without a marker got a run")
		}
	}
}
