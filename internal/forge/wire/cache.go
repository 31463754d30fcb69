package wire

import (
	"net/http"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

const (
	maxCache = 16 << 20     // bytes kept for conditional requests
	maxEntry = maxCache / 4 // bytes of one body
	overhead = 1 << 10      // approximate size of an entry without its body: address and headers
)

// cacheKey identifies a response. The token is not in it because a client has only one.
type cacheKey struct{ url, accept string }

// cache keeps responses. One is used only after the forge has confirmed that it is current.
type cache struct {
	max int

	mu    sync.Mutex
	size  int
	known map[cacheKey]answer
}

func newCache(maxBytes int) *cache { return &cache{max: maxBytes, known: map[cacheKey]answer{}} }

func (c *cache) get(k cacheKey) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.known[k]
	return g, ok
}

// put stores a response that has an ETag and is small enough. It makes room for it by dropping any others.
func (c *cache) put(k cacheKey, g answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(k)
	etag := g.header.Get("ETag")
	if etag == "" || len(g.body) > min(maxEntry, c.max-overhead) {
		return
	}
	c.size += len(g.body) + overhead
	for other := range c.known {
		if c.size <= c.max {
			break
		}
		c.drop(other)
	}
	g.header = http.Header{
		"Etag": {etag}, "Content-Type": g.header.Values("Content-Type"), "Link": g.header.Values("Link"),
	}
	c.known[k] = g
}

func (c *cache) drop(k cacheKey) {
	if old, ok := c.known[k]; ok {
		delete(c.known, k)
		c.size -= len(old.body) + overhead
	}
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

// PersonIn is the key of what a person may do in a repository.
type PersonIn struct {
	Repo   precedent.Repo
	Person forge.Person
}

const (
	// maxPolls bounds the kept lists of all repositories, in bytes.
	maxPolls = 16 << 20
	// pollOverhead is the approximate size of a pull request without its texts.
	pollOverhead = 1 << 10
	// pollAge is how long the first page of a list stands for the others.
	pollAge = 10 * time.Minute
	// pollIdle is when a list that nobody asked for makes room for others.
	pollIdle = time.Hour
)

// poll is the list of the open pull requests of a repository, and what tells whether its first
// page has changed.
type poll struct {
	tag      string
	pulls    []forge.PullRequest
	at, used time.Time
	size     int
}

// polls keeps the lists of open pull requests that are asked for again and again. A list that does
// not fit is not kept: dropping another would keep none if they are asked for in turn.
type polls struct {
	now   func() time.Time
	mu    sync.Mutex
	size  int
	known map[precedent.Repo]poll
}

// newPolls returns an empty cache. now is the clock.
func newPolls(now func() time.Time) *polls { return &polls{now: now, known: map[precedent.Repo]poll{}} }

// get returns the list of a repository. One of more than a page counts only for some minutes.
func (p *polls) get(repo precedent.Repo, perPage int) (poll, bool) {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.known[repo]
	if age := now.Sub(known.at); !ok || len(known.pulls) >= perPage && (age < 0 || age >= pollAge) {
		return poll{}, false
	}
	known.used = now
	p.known[repo] = known
	return known, true
}

// put keeps a list. Without a tag it is forgotten.
func (p *polls) put(repo precedent.Repo, tag string, pulls []forge.PullRequest) {
	now := p.now()
	size := pollOverhead
	for i := range pulls {
		size += pollOverhead + len(pulls[i].Title)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(repo)
	if tag == "" {
		return
	}
	if p.size+size > maxPolls {
		for other, known := range p.known {
			if now.Sub(known.used) >= pollIdle {
				p.drop(other)
			}
		}
	}
	if p.size+size <= maxPolls {
		p.known[repo] = poll{tag: tag, pulls: pulls, at: now, used: now, size: size}
		p.size += size
	}
}

func (p *polls) drop(repo precedent.Repo) {
	p.size -= p.known[repo].size
	delete(p.known, repo)
}
