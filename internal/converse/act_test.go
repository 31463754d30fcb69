package converse

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestTarget: a run after a kill names what the command changes again, which adds nothing.
func TestTarget(t *testing.T) {
	h := &request{}
	for range 2 {
		h.target("k7m2q0v5xa")
	}
	needs.Equal(t, map[int][]string{0: {"k7m2q0v5xa"}}, h.record.Targets)
}
