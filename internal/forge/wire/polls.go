package wire

import (
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

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

// Polls keeps the lists of open pull requests that are asked for again and again. A list that does
// not fit is not kept: dropping another would keep none if they are asked for in turn.
type Polls struct {
	now   func() time.Time
	mu    sync.Mutex
	size  int
	known map[precedent.Repo]poll
}

// NewPolls returns an empty cache. now is the clock.
func NewPolls(now func() time.Time) *Polls { return &Polls{now: now, known: map[precedent.Repo]poll{}} }

// get returns the list of a repository. One of more than a page counts only for some minutes.
func (p *Polls) get(repo precedent.Repo, perPage int) (poll, bool) {
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
func (p *Polls) put(repo precedent.Repo, tag string, pulls []forge.PullRequest) {
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

func (p *Polls) drop(repo precedent.Repo) {
	p.size -= p.known[repo].size
	delete(p.known, repo)
}
