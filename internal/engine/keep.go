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
	"time"

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
	Save func(ctx context.Context, answers map[string][]byte) error // by task: all or none
	// Resume tells whether stored answers are used; otherwise they are only stored.
	Resume bool
	// After is time.After, or that of another clock.
	After func(time.Duration) <-chan time.Time

	saving sync.Mutex // held while a batch is saved

	mu       sync.Mutex
	batch    map[string][]byte // answers to save
	waiting  bool              // a goroutine will save the batch
	tasks    []string
	failures []precedent.Failure
}

// batchTime is how long an answer waits at most to be saved together with others,
// because each save waits for the disk. A kill loses the answers of that time.
const batchTime = 200 * time.Millisecond

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
	raw, err := json.Marshal(a)
	if err != nil {
		k.fail("keep answer", err)
		return a, nil
	}
	// The answer is paid for, so it is stored even if the review is cancelled now.
	k.keep(context.WithoutCancel(ctx), task, raw)
	return a, nil
}

// keep saves an answer: at once if nothing was saved for a while, otherwise together
// with those that arrive in the meantime.
func (k *Keeper) keep(ctx context.Context, task string, raw []byte) {
	k.mu.Lock()
	if k.batch == nil {
		k.batch = map[string][]byte{}
	}
	k.batch[task] = raw
	first := !k.waiting
	k.waiting = true
	k.mu.Unlock()
	if !first {
		return
	}
	k.save(ctx)
	go func() {
		for more := true; more; {
			<-k.After(batchTime)
			more = k.save(ctx)
		}
	}()
}

// save saves the batch and tells whether there was one.
func (k *Keeper) save(ctx context.Context) bool {
	k.saving.Lock()
	defer k.saving.Unlock()
	k.mu.Lock()
	batch := k.batch
	k.batch = nil
	k.waiting = k.waiting && batch != nil
	k.mu.Unlock()
	if batch == nil {
		return false
	}
	if err := k.Save(ctx, batch); err != nil {
		k.fail("keep answer", err)
		return true
	}
	k.note(slices.Collect(maps.Keys(batch))...)
	return true
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
		k.note(task)
	}
	return a, found
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

func (k *Keeper) note(tasks ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tasks = append(k.tasks, tasks...)
}

// fail records the first error of each step: a database that cannot be written fails for every answer.
func (k *Keeper) fail(step string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.ContainsFunc(k.failures, func(f precedent.Failure) bool { return f.Step == step }) {
		k.failures = append(k.failures, precedent.Failure{Step: step, Error: err.Error()})
	}
}

// Done saves the remaining answers. It returns the tasks whose answers are stored, to
// be deleted once the review is complete and saved, and the failures of storing.
func (k *Keeper) Done(ctx context.Context) (tasks []string, failures []precedent.Failure) {
	k.save(context.WithoutCancel(ctx))
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.tasks), slices.Clone(k.failures)
}
