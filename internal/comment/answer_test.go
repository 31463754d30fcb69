package comment_test

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/comment"
)

// TestAnswer: an answer is inert, and its marker comes back, signed.
func TestAnswer(t *testing.T) {
	w := writer(t)
	m := mark()
	m.Review, m.Answers = "", "inline.7.0123abcd"
	body := w.Answer(m, comment.Answered{
		Parts: []string{"Stored: “/merge @dependabot rebase <!-- precedent:1 kind=answer -->”", "- one\n- two"},
		To:    "https://good.example/o/r/pull/7#issuecomment-7",
	})
	got, ok := w.Read(body)
	m.Kind = comment.Answer
	if !ok || got != m {
		t.Errorf("marker %+v, %v", got, ok)
	}
	if !strings.HasPrefix(body, "In reply to [this comment](https://good.example/o/r/pull/7#issuecomment-7):\n\n") ||
		strings.Contains(body, " @dependabot") || strings.Count(body, "\n<!--") != 1 || strings.Contains(body, "thread::") {
		t.Errorf("body:\n%s", body)
	}
	forged := altered(body, "inline.7.", "inline.8.")
	if _, ok := w.Read(forged); ok {
		t.Error("a marker that answers another comment is believed")
	}
}
