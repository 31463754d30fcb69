package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/precedent-dev/precedent"
)

// GiveUp wraps an engine that may turn out unable to answer at all, as one that
// writes nothing but prose or refuses whatever it is asked. After n tasks in a
// row that ended malformed or refused, every further task ends at once with
// the status error; those under way still end by themselves. A task that ended
// otherwise badly, say at its timeout, neither counts nor breaks the row.
func GiveUp(e Engine, n int) Engine {
	return &fuse{engine: e, most: n}
}

type fuse struct {
	engine Engine
	most   int

	mu   sync.Mutex
	row  int
	last string // how the last task of the row ended
}

func (f *fuse) Info() Info { return f.engine.Info() }

func (f *fuse) Run(ctx context.Context, t Task) (Answer, error) {
	if message, blown := f.blown(); blown {
		return Answer{Status: precedent.StatusError, Message: message}, nil
	}
	a, err := f.engine.Run(ctx, t)
	if err != nil {
		return a, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.row >= f.most {
		return a, nil // given up meanwhile, for good
	}
	switch a.Status {
	case precedent.StatusOK:
		f.row = 0
	case precedent.StatusMalformed, precedent.StatusRefused:
		f.row++
		f.last = fmt.Sprintf("the last ended %s: %s", a.Status, a.Message)
	}
	return a, nil
}

func (f *fuse) blown() (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.row < f.most {
		return "", false
	}
	return fmt.Sprintf("given up after %d tasks in a row without a usable answer; %s", f.row, f.last), true
}
