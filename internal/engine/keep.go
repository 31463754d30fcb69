package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/precedent-dev/precedent"
)

// Keeper wraps an engine and stores good answers as they arrive. A review that was killed, or failed in part,
// can be resumed from them and pays for nothing twice. It is safe for concurrent use.
type Keeper struct {
	Engine
	// Of names what the answers are about in addition to the tasks: base and head.
	Of string
	// Load and Save access the store. Their errors never stop a task.
	Load func(ctx context.Context, task string) (answer []byte, found bool, err error)
	Save func(ctx context.Context, task string, answer []byte) error
	// Resume tells whether stored answers are used; otherwise they are only stored.
	Resume bool

	mu       sync.Mutex
	tasks    map[string]Answer
	failures []precedent.Failure
}

// Run returns the stored answer, or asks the engine and stores its answer.
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
	// The answer is paid for, so it is stored even if the review is cancelled now.
	if err := k.save(context.WithoutCancel(ctx), task, a); err != nil {
		k.fail("keep answer", err)
	} else {
		k.note(task, a)
	}
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
		k.note(task, a)
	}
	return a, found
}

func (k *Keeper) save(ctx context.Context, task string, a Answer) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return k.Save(ctx, task, raw)
}

// Kept tells whether the answer to a task is stored and will be used.
func (k *Keeper) Kept(ctx context.Context, t Task) bool {
	if !k.Resume {
		return false
	}
	_, found, err := k.Load(ctx, k.key(t))
	return err == nil && found
}

// key returns the hash of everything that an answer depends on.
func (k *Keeper) key(t Task) string {
	h := sha256.New()
	info := k.Info()
	for _, part := range []string{k.Of, info.Name, info.Who, string(t.Role), t.Name, t.System, t.User(), string(t.Schema)} {
		fmt.Fprintf(h, "%d:%s", len(part), part) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (k *Keeper) note(task string, a Answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tasks == nil {
		k.tasks = map[string]Answer{}
	}
	k.tasks[task] = a
}

// fail records the first error of each step: a database that cannot be written fails for every answer.
func (k *Keeper) fail(step string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.ContainsFunc(k.failures, func(f precedent.Failure) bool { return f.Step == step }) {
		k.failures = append(k.failures, precedent.Failure{Step: step, Error: err.Error()})
	}
}

// Done returns the tasks whose answers are stored, to be deleted once the review is complete and saved, and the
// failures of storing.
func (k *Keeper) Done() (tasks []string, failures []precedent.Failure) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.tasks)), slices.Clone(k.failures)
}

// Settle takes the usage out of the stored answers once a review that counts it is saved: one that is resumed from
// them does not count it again.
func (k *Keeper) Settle(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for task, a := range k.tasks {
		a.Usage, a.CostUSD = precedent.Usage{}, 0
		if err := k.save(ctx, task, a); err != nil {
			return err
		}
	}
	return nil
}
