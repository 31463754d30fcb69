//go:build unix

package store

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func init() { childWork["full"] = childFull }

// childFull saves reviews in a process that may not make files larger than 256
// KiB, until that fails, then lifts the limit and saves one more.
func childFull(ctx context.Context, words []string) error {
	signal.Ignore(syscall.SIGXFSZ)
	db, err := Open(ctx, words[0], Options{})
	if err != nil {
		return err
	}
	r, err := db.RepoFor(ctx, remote)
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	narrow := limit
	narrow.Cur = 256 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &narrow); err != nil {
		return err
	}
	for i := 0; err == nil; i++ {
		v := seededReview("7", "0", i)
		if err = r.SaveReview(ctx, v); err == nil {
			fmt.Println(v.ID)
		}
	}
	if !errors.Is(err, ErrFull) {
		return err
	}
	narrow.Cur = 8 << 10 // not even the schema fits
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &narrow); err != nil {
		return err
	}
	if other, err := Open(ctx, filepath.Join(filepath.Dir(words[0]), "other.db"), Options{}); err == nil {
		return errors.Join(errors.New("a second file fitted"), other.Close())
	} else if !errors.Is(err, ErrFull) {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	return r.SaveReview(ctx, seededReview("7", "1", 0))
}

func TestNoRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	cmd, out, stderr := child(t, "full", path)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	ids := checkFile(t, path, "7")
	if !ids["review-1-0"] {
		t.Error("nothing could be saved after there was room again")
	}
	for _, id := range strings.Fields(out.String()) {
		if !ids[id] {
			t.Errorf("review %s was saved and is gone", id)
		}
	}
}
