package wire

import (
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

const (
	// permissionAge is how long an answer is used: the time for which somebody who
	// was removed from a repository still counts.
	permissionAge = 60 * time.Second
	// maxPermissions bounds the number of entries.
	maxPermissions = 1000
)

// Recent caches answers about permissions for a minute, by what was asked. The zero value is not usable.
type Recent[K comparable, V any] struct {
	now   func() time.Time
	mu    sync.Mutex
	known map[K]recent[V]
}

type recent[V any] struct {
	answer V
	at     time.Time // when it was requested
}

// NewRecent returns an empty cache. now is the clock.
func NewRecent[K comparable, V any](now func() time.Time) *Recent[K, V] {
	return &Recent[K, V]{now: now, known: map[K]recent[V]{}}
}

// Of returns the answer from the cache or from ask. An error is not cached.
func (r *Recent[K, V]) Of(key K, ask func() (V, error)) (V, error) {
	at := r.now()
	r.mu.Lock()
	known, ok := r.known[key]
	r.mu.Unlock()
	if age := at.Sub(known.at); ok && age >= 0 && age < permissionAge {
		return known.answer, nil
	}
	answer, err := ask()
	if err != nil {
		return answer, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxPermissions {
		clear(r.known)
	}
	r.known[key] = recent[V]{answer, at}
	return answer, nil
}

// PersonIn is a person and a repository, of which Recent knows what the person may do there.
type PersonIn struct {
	Repo   precedent.Repo
	Person forge.Person
}
