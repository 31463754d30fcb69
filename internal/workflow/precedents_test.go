package workflow

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWithin: work that takes too long, or crashes, is an error, and a cancelled review ends.
func TestWithin(t *testing.T) {
	var release chan bool
	for _, test := range []struct {
		name string
		work func(context.Context) (int, error)
		want string
	}{
		{"done", func(context.Context) (int, error) { return 7, nil }, ""},
		{"failed", func(context.Context) (int, error) { return 0, errors.New("no such table") }, "no such table"},
		{"deaf", func(context.Context) (int, error) { <-release; return 1, nil }, "it took longer than 20s"},
		{"heeds its context", func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }, "it took longer than 20s"},
		{"crash", func(context.Context) (int, error) { panic("index out of range") }, "crashed: index out of range"},
	} {
		synctest.Test(t, func(t *testing.T) {
			release = make(chan bool)
			defer close(release)
			began := time.Now()
			n, err := within(t.Context(), precedentTime, test.work)
			if test.want == "" && (err != nil || n != 7) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || n != 0) {
				t.Errorf("%s: %d, %v", test.name, n, err)
			}
			if took := time.Since(began); took > precedentTime {
				t.Errorf("%s: it took %s", test.name, took)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := within(ctx, precedentTime, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
