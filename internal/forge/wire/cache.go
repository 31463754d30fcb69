package wire

import (
	"net/http"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

const (
	maxCache = 16 << 20     // bytes of the responses that are kept, and of the lists
	maxEntry = maxCache / 4 // bytes of one response
	overhead = 1 << 10      // approximate size of a response without its body, and of a pull request without its title
)

// bounded keeps values up to a size. It makes room for one by dropping any others: whatever the order in which they are
// asked for, some are found.
type bounded[K comparable, V any] struct {
	max   int
	mu    sync.Mutex
	size  int
	known map[K]sized[V]
}

type sized[V any] struct {
	value V
	size  int
}

func newBounded[K comparable, V any](most int) *bounded[K, V] {
	return &bounded[K, V]{max: most, known: map[K]sized[V]{}}
}

func (b *bounded[K, V]) get(k K) (V, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v, ok := b.known[k]
	return v.value, ok
}

// put keeps a value in place of an earlier one, unless it is larger than the bound.
func (b *bounded[K, V]) put(k K, v V, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(k)
	if size > b.max {
		return
	}
	b.size += size
	for other := range b.known {
		if b.size <= b.max {
			break
		}
		b.drop(other)
	}
	b.known[k] = sized[V]{v, size}
}

func (b *bounded[K, V]) drop(k K) {
	b.size -= b.known[k].size
	delete(b.known, k)
}

// cacheKey identifies a response. The token is not in it because a client has only one.
type cacheKey struct{ url, accept string }

// keep stores a response that has an ETag and is small enough. It is used only after the forge has confirmed that it is
// current.
func (t *Transport) keep(k cacheKey, g answer) {
	etag, size := g.header.Get("ETag"), len(g.body)+overhead
	if etag == "" || size > maxEntry {
		return
	}
	g.header = http.Header{
		"Etag": {etag}, "Content-Type": g.header.Values("Content-Type"), "Link": g.header.Values("Link"),
	}
	t.cache.put(k, g, size)
}

const (
	// permissionAge is how long an answer is used: the time for which somebody who
	// was removed from a repository still counts.
	permissionAge = 60 * time.Second
	// maxPermissions bounds the number of entries.
	maxPermissions = 1000
)

// Recent caches answers about permissions for a minute, by what was asked. The zero value is not usable.
type Recent[K comparable, V any] struct {
	now  func() time.Time
	kept *bounded[K, recent[V]]
}

type recent[V any] struct {
	answer V
	at     time.Time // when it was requested
}

// NewRecent returns an empty cache. now is the clock.
func NewRecent[K comparable, V any](now func() time.Time) *Recent[K, V] {
	return &Recent[K, V]{now, newBounded[K, recent[V]](maxPermissions)}
}

// Of returns the answer from the cache or from ask. An error is not cached.
func (r *Recent[K, V]) Of(key K, ask func() (V, error)) (V, error) {
	at := r.now()
	known, ok := r.kept.get(key)
	if age := at.Sub(known.at); ok && age >= 0 && age < permissionAge {
		return known.answer, nil
	}
	answer, err := ask()
	if err == nil {
		r.kept.put(key, recent[V]{answer, at}, 1)
	}
	return answer, err
}

// PersonIn is the key of what a person may do in a repository.
type PersonIn struct {
	Repo   precedent.Repo
	Person forge.Person
}

// pollAge is how long the first page of a list stands for the others.
const pollAge = 10 * time.Minute

// poll is the list of the open pull requests of a repository, and what tells whether its first
// page has changed.
type poll struct {
	tag   string
	pulls []forge.PullRequest
	at    time.Time
}

// poll returns the list of a repository that was read last. One of more than a page counts only for some minutes.
func (s *Site) poll(repo precedent.Repo, perPage int) poll {
	known, _ := s.polls.get(repo)
	if age := s.Now().Sub(known.at); len(known.pulls) >= perPage && (age < 0 || age >= pollAge) {
		return poll{}
	}
	return known
}
