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

// Permissions caches for a minute what people may do. The zero value is not usable.
type Permissions struct {
	now   func() time.Time
	mu    sync.Mutex
	known map[permissionKey]cachedPermission
}

type permissionKey struct {
	repo   precedent.Repo
	person forge.Person
}

type cachedPermission struct {
	permission forge.Permission
	at         time.Time // when it was requested
}

// NewPermissions returns an empty cache. now is the clock.
func NewPermissions(now func() time.Time) *Permissions {
	return &Permissions{now: now, known: map[permissionKey]cachedPermission{}}
}

// Of returns what a person may do, from the cache or from ask. An error is not
// cached, and comes with None.
func (p *Permissions) Of(repo precedent.Repo, person forge.Person, ask func() (forge.Permission, error)) (forge.Permission, error) {
	key, at := permissionKey{repo, person}, p.now()
	p.mu.Lock()
	known, ok := p.known[key]
	p.mu.Unlock()
	if age := at.Sub(known.at); ok && age >= 0 && age < permissionAge {
		return known.permission, nil
	}
	permission, err := ask()
	if err != nil {
		return forge.None, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= maxPermissions {
		clear(p.known)
	}
	p.known[key] = cachedPermission{permission, at}
	return permission, nil
}
