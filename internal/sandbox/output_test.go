package sandbox

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent/internal/needs"
)

func TestRecorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := recorder{most: rapid.IntRange(1, 40).Draw(t, "most")}
		var all []byte
		for _, piece := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 60)).Draw(t, "pieces") {
			if n, err := r.Write(piece); n != len(piece) || err != nil {
				t.Fatalf("wrote %d of %d, %v", n, len(piece), err)
			}
			all = append(all, piece...)
		}
		got := r.output()
		if !bytes.HasPrefix(all, got.Head) || !bytes.HasSuffix(all, got.Tail) {
			t.Fatalf("%q and %q of %q", got.Head, got.Tail, all)
		}
		kept := len(got.Head) + len(got.Tail)
		if int64(kept)+got.Omitted != int64(len(all)) || kept != min(len(all), r.most) {
			t.Fatalf("kept %d, omitted %d of %d, at most %d", kept, got.Omitted, len(all), r.most)
		}
		if got.Omitted > 0 && len(got.Tail) != r.most/2 {
			t.Fatalf("a tail of %d, want half of %d", len(got.Tail), r.most)
		}
	})
}

func TestRecorderLimit(t *testing.T) {
	over := 0
	var passed bytes.Buffer
	for _, out := range []*bytes.Buffer{nil, &passed} {
		over = 0
		r := recorder{most: 4, limit: 6, over: func() { over++ }}
		if out != nil {
			r.out = out
		}
		for i, want := range []int{0, 0, 1} {
			if n, err := r.Write([]byte("abc")); n != 3 || err != nil || over != want {
				t.Errorf("write %d: %d, %v; over %d times", i, n, err, over)
			}
		}
	}
	needs.Equal(t, "abcabc", passed.String())
}

func TestOutputString(t *testing.T) {
	needs.Equal(t, "abcd", (Output{Head: []byte("ab"), Tail: []byte("cd")}).String())
	got := (Output{Head: []byte("ab\n"), Tail: []byte("cd"), Omitted: 7}).String()
	if !strings.HasPrefix(got, "ab\n[") || !strings.Contains(got, "7 bytes") || !strings.HasSuffix(got, "]\ncd") {
		t.Errorf("%q", got)
	}
}
