package sandbox

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
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
