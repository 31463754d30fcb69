package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/precedent-dev/precedent"
)

// Keeper wraps an engine so that good answers are kept as they come. A review
// that was killed, or of which a part went wrong, can go on from them and pays
// for nothing twice. It is safe for concurrent use.
type Keeper struct {
	Engine
	// Of names what the answers are about, beside what the tasks themselves
	// say: base and head.
	Of string
	// Load and Save reach the store. Their trouble never stops a task.
	Load func(ctx context.Context, task string) (answer []byte, found bool, err error)
	Save func(ctx context.Context, task string, answer []byte) error
	// Resume tells whether kept answers are used; else they are only kept.
	Resume bool

	mu       sync.Mutex
	tasks    []string
	failures []precedent.Failure
}

// Run answers from what was kept, or asks and keeps.
func (k *Keeper) Run(ctx context.Context, t Task) (Answer, error) {
	task := k.key(t)
	if a, ok := k.kept(ctx, task); ok {
		if t.FirstByte != nil {
			t.FirstByte()
		}
		return a, nil
	}
	a, err := k.Engine.Run(ctx, t)
	if err != nil || a.Status != precedent.StatusOK {
		return a, err
	}
	raw, err := json.Marshal(a)
	if err == nil {
		// The answer is paid for: it is kept even if the review is cancelled now.
		err = k.Save(context.WithoutCancel(ctx), task, raw)
	}
	k.note(task, err)
	return a, nil
}

func (k *Keeper) kept(ctx context.Context, task string) (Answer, bool) {
	if !k.Resume {
		return Answer{}, false
	}
	raw, found, err := k.Load(ctx, task)
	var a Answer
	if err == nil && found {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil {
		k.fail("read kept answer", err)
		return Answer{}, false
	}
	if found {
		k.note(task, nil)
	}
	return a, found
}

// key is the hash of all that an answer depends on.
func (k *Keeper) key(t Task) string {
	h := sha256.New()
	info := k.Info()
	for _, s := range []string{k.Of, info.Name, info.Who, string(t.Role), t.Name, t.System, t.User(), string(t.Schema)} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (k *Keeper) note(task string, err error) {
	k.mu.Lock()
	k.tasks = append(k.tasks, task)
	k.mu.Unlock()
	if err != nil {
		k.fail("keep answer", err)
	}
}

// fail remembers the first trouble of a kind: a database that cannot be written
// would say the same for every answer.
func (k *Keeper) fail(step string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.ContainsFunc(k.failures, func(f precedent.Failure) bool { return f.Step == step }) {
		k.failures = append(k.failures, precedent.Failure{Step: step, Error: err.Error()})
	}
}

// Done returns the tasks whose answers are kept, to be dropped once the review
// is complete and saved, and what went wrong with keeping.
func (k *Keeper) Done() (tasks []string, failures []precedent.Failure) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.tasks), slices.Clone(k.failures)
}
