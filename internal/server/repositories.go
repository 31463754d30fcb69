package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// rereadEvery is how often the repositories of owners and installations are listed again.
const rereadEvery = 10 * time.Minute

// Repositories say which repositories a server serves: those that are listed, those of the
// owners, and with All those that the token may write to. Without any, it is All.
type Repositories struct {
	Listed []precedent.Repo
	Owners []string
	All    bool
}

// served are the repositories that are served now. It is safe for concurrent use.
type served struct {
	from Repositories
	list func(ctx context.Context, owner string) ([]precedent.Repo, error)
	now  func() time.Time

	reading sync.Mutex // held while the sources are read

	mu     sync.Mutex
	sorted []precedent.Repo // by the name in lower case, each once
	whole  bool             // every source was read once
	due    time.Time        // of the next read
	others map[string]bool  // that webhooks named and that are not served, by the name in lower case
	asked  time.Time        // when a webhook last made the sources be read
}

func newServed(from Repositories, list func(context.Context, string) ([]precedent.Repo, error),
	now func() time.Time,
) *served {
	if len(from.Listed) == 0 && len(from.Owners) == 0 {
		from.All = true
	}
	s := &served{from: from, list: list, now: now, others: map[string]bool{}}
	s.set(from.Listed)
	s.whole = !from.All && len(from.Owners) == 0
	return s
}

func nameOf(r precedent.Repo) string { return strings.ToLower(r.String()) }

func byName(a, b precedent.Repo) int { return strings.Compare(nameOf(a), nameOf(b)) }

// set sets the repositories. Of those with the same name the first counts.
func (s *served) set(all []precedent.Repo) {
	s.sorted = slices.CompactFunc(slices.SortedStableFunc(slices.Values(all), byName), workspace.SameRepo)
}

// Sources are what the operator named, with the present names of what was renamed since the start.
func (s *served) Sources() Repositories {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from
}

func (s *served) All() []precedent.Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sorted
}

// Find returns the repository as it is served. It is unknown whether a repository is served as
// long as not every source was read.
func (s *served) Find(r precedent.Repo) (found precedent.Repo, is, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, is := slices.BinarySearchFunc(s.sorted, r, byName)
	if is {
		found = s.sorted[at]
	}
	return found, is, is || s.whole
}

// Rename makes a repository that is served be served under another name. One that belongs to somebody
// else now is not served any more, unless it was listed by name.
func (s *served) Rename(from, to precedent.Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := slices.Clone(s.from.Listed)
	keep := s.from.All || s.owns(to.Owner)
	for i, r := range listed {
		if nameOf(r) == nameOf(from) {
			listed[i], keep = to, true
		}
	}
	s.from.Listed = listed
	all := slices.DeleteFunc(slices.Clone(s.sorted), func(r precedent.Repo) bool { return nameOf(r) == nameOf(from) })
	if keep && len(all) < len(s.sorted) {
		all = append(all, to)
	}
	s.set(all)
}

// MayBeNew tells whether a repository that is not served may have been made since the sources were read, and
// makes the next refresh read again: once for each, and once a minute for all, because the webhook of an
// organization names all that it has.
func (s *served) MayBeNew(r precedent.Repo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.others[nameOf(r)] || len(s.others) >= 10_000 || !s.from.All && !s.owns(r.Owner) ||
		now.Sub(s.asked).Abs() < time.Minute {
		return false
	}
	s.others[nameOf(r)], s.due, s.asked = true, time.Time{}, now
	return true
}

// owns tells whether the repositories of an owner are served. The caller has the mutex.
func (s *served) owns(owner string) bool {
	return slices.ContainsFunc(s.from.Owners, func(o string) bool { return strings.EqualFold(o, owner) })
}

// Reread makes the next refresh read again.
func (s *served) Reread() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = time.Time{}
}

// Known returns the repositories, sorted, and reads the sources first if not every one was read
// yet. It fails if one cannot be.
func (s *served) Known(ctx context.Context) ([]precedent.Repo, error) {
	s.mu.Lock()
	whole := s.whole
	s.mu.Unlock()
	var err error
	if !whole {
		err = s.Refresh(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.whole {
		return nil, err
	}
	return s.sorted, nil
}

// Refresh reads the sources if that is due. If one fails, the repositories stay as they were, and
// those that other sources add are added. An owner who is gone, and one who has more than are listed, count as read;
// the error tells of them.
func (s *served) Refresh(ctx context.Context) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.mu.Lock()
	now := s.now()
	// A clock that was set back must not put it off.
	listed := s.from.Listed
	dynamic, due := s.from.All || len(s.from.Owners) > 0, !now.Before(s.due) || s.due.Sub(now) > rereadEvery
	s.mu.Unlock()
	if !dynamic || !due {
		return nil
	}
	owners := s.from.Owners
	if s.from.All {
		owners = append(slices.Clip(owners), "")
	}
	all, failed, gone, cut := slices.Clone(listed), error(nil), error(nil), error(nil)
	for _, owner := range owners {
		found, err := s.list(ctx, owner)
		all = append(all, found...)
		switch kind := forge.KindOf(err); {
		case err == nil:
		case kind == forge.KindTooLarge:
			cut = fmt.Errorf("list repositories: %w", err)
		case kind == forge.KindNotFound:
			gone = fmt.Errorf("list repositories: %w", err)
		default:
			failed = fmt.Errorf("list repositories: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if failed != nil || gone != nil {
		all = append(all, s.sorted...)
	}
	s.set(all)
	if failed == nil {
		s.whole, s.due = true, now.Add(rereadEvery)
	}
	return cmp.Or(failed, gone, cut)
}
