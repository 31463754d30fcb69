package wire

import (
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

const (
	// permissionAge is how long an answer holds: who was just removed from a
	// repository has a say for no longer.
	permissionAge = 60 * time.Second
	// maxPermissions bounds the answers that are kept.
	maxPermissions = 1000
)

// Permissions keeps for a minute what people may do. The zero value is not usable.
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
	at         time.Time // when it was asked for
}

// NewPermissions keeps nothing yet. now is the clock.
func NewPermissions(now func() time.Time) *Permissions {
	return &Permissions{now: now, known: map[permissionKey]cachedPermission{}}
}

// Of returns what a person may do: as it was asked for less than a minute ago, else
// as ask says. An error is not kept, and the answer beside it is None.
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
