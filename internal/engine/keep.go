package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

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
	Save func(ctx context.Context, answers map[string][]byte) error // by task: all or none
	// Resume tells whether kept answers are used; else they are only kept.
	Resume bool
	// After is time.After, or another clock's.
	After func(time.Duration) <-chan time.Time

	saving sync.Mutex // held while a batch is saved

	mu       sync.Mutex
	batch    map[string][]byte // what is to be saved
	waiting  bool              // a goroutine saves the batch before long
	tasks    []string
	failures []precedent.Failure
}

// batchTime is how long an answer waits for others at most, so that they are
// saved together: each time something is saved, the disk is waited for. A kill
// loses what came in that time.
const batchTime = 200 * time.Millisecond

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
	if err != nil {
		k.fail("keep answer", err)
		return a, nil
	}
	// The answer is paid for: it is kept even if the review is cancelled now.
	k.keep(context.WithoutCancel(ctx), task, raw)
	return a, nil
}

// keep saves an answer: at once if nothing was saved for a while, else together
// with those that come in the meantime.
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

// save saves the batch. If there is none, it says so, and nobody waits any more.
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

// key is the hash of all that an answer depends on.
func (k *Keeper) key(t Task) string {
	h := sha256.New()
	info := k.Info()
	for _, parts := range [][]string{
		{k.Of}, {info.Name}, {info.Who}, {string(t.Role)}, {t.Name}, {t.System}, {t.Common, t.Prefix, t.Prompt}, {string(t.Schema)},
	} {
		n := 0
		for _, s := range parts {
			n += len(s)
		}
		_, _ = io.WriteString(h, strconv.Itoa(n)+":") // a hash takes everything
		for _, s := range parts {
			_, _ = io.WriteString(h, s)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (k *Keeper) note(tasks ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tasks = append(k.tasks, tasks...)
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

// Done saves what is still to be saved. It returns the tasks whose answers are
// kept, to be dropped once the review is complete and saved, and what went wrong
// with keeping.
func (k *Keeper) Done(ctx context.Context) (tasks []string, failures []precedent.Failure) {
	k.save(context.WithoutCancel(ctx))
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.tasks), slices.Clone(k.failures)
}
