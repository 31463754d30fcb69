package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestRoomOfNorms: at most eight norms, 1,200 tokens in a large window and less in a small one; one
// that does not fit leaves its room to the next. Who checks a finding is not told any.
func TestRoomOfNorms(t *testing.T) {
	in := sample()
	in.Norms = nil
	bare := New(in)
	for i := range 20 {
		in.Norms = append(in.Norms, Norm{Text: precedent.Untrusted(fmt.Sprintf("norm %d", i)), Pulls: []int{i}})
	}
	if s := New(in); s.Norms() != 8 || !strings.Contains(s.common, "- norm 7 (pull request 7)\n") ||
		strings.Contains(s.common, "norm 8") || s.team != strings.ReplaceAll(bare.team, bare.nonce, s.nonce) {
		t.Errorf("%d norms:\n%s", s.Norms(), s.common)
	}
	for i := range in.Norms[:12] {
		in.Norms[i].Text = precedent.Untrusted(strings.Repeat("Close what you open. ", 1000))
	}
	for _, window := range []int{0, 128_000, 16_000} {
		in.Window = window
		s := New(in)
		_, block, _ := strings.Cut(s.common, `kind="precedents">`)
		block, _, _ = strings.Cut(block, "</data-")
		most := roomIn(window, maxNormTokens)
		if got := Tokens(block); s.Norms() < 2 || s.Norms() > 8 || got > most || got < most/2 {
			t.Errorf("window %d: %d norms with %d of %d tokens", window, s.Norms(), got, most)
		}
	}
}
