package git

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// BenchmarkReview is what one review of a ten-file change asks of this
// package: open, resolve, diff, and read ten files; over a range of commits
// and over the work tree.
func BenchmarkReview(b *testing.B) {
	f := newRepo(b)
	var files []string
	for i := range 300 {
		files = append(files, fmt.Sprintf("dir%d/file%d.go", i%20, i), strings.Repeat(fmt.Sprintf("func f%d() {}\n", i), 100))
	}
	f.commit("base", files...)
	f.git("tag", "base")
	change := func(text string) {
		for i := 0; i < 20; i += 2 {
			f.write(files[i], files[i+1]+text)
		}
	}
	change("// committed\n")
	f.commit("change")
	change("// not committed\n")
	temp := scratch(b)
	for name, spec := range map[string]Spec{"range": {Range: "base..HEAD"}, "branch": {Range: "base...HEAD"}, "worktree": {Worktree: true}, "default": {}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ctx := context.Background()
				r, err := Open(ctx, f.dir, Options{TempDir: temp})
				if err != nil {
					b.Fatal(err)
				}
				rg := resolve(b, r, spec)
				if err := r.Diff(ctx, rg, func(in io.Reader) error { _, err := io.Copy(io.Discard, in); return err }); err != nil {
					b.Fatal(err)
				}
				blobs := blobs(b, r)
				for i := 0; i < 20; i += 2 {
					if _, err := blobs.Read(rg.Head, files[i], 1<<20); err != nil {
						b.Fatal(err)
					}
				}
				r.Close()
			}
		})
	}
}
