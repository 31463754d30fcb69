package github

import (
	"context"
	"errors"
	"fmt"
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

// permissions keeps answers for a short time.
type permissions struct {
	now   func() time.Time
	mu    sync.Mutex
	known map[asked]answer
}

type asked struct {
	repo   precedent.Repo
	person forge.Person
}

type answer struct {
	permission forge.Permission
	at         time.Time // when it was asked for
}

// Permission asks what a person may do now. Whatever goes wrong, the answer is
// None: an account that is deleted, a login that has become somebody else's, a
// role that is not known here.
func (c *Client) Permission(ctx context.Context, repo precedent.Repo, p forge.Person) (forge.Permission, error) {
	doing := fmt.Sprintf("read permission of %q in %s", p.Login, repo)
	ctx, err := c.enter(ctx, doing, repo)
	if err != nil {
		return forge.None, err
	}
	if p.ID <= 0 {
		return forge.None, nil
	}
	if !login.MatchString(p.Login) || p.Login == "." || p.Login == ".." {
		return forge.None, &forge.Error{Kind: forge.KindRefused, Msg: doing + ": GitHub has no such login"}
	}
	key := asked{repo, p}
	if known, ok := c.permissions.get(key); ok {
		return known, nil
	}
	at := c.permissions.now()
	level, _, err := c.api.Repositories.GetPermissionLevel(ctx, repo.Owner, repo.Name, p.Login)
	var e *forge.Error
	switch {
	case errors.As(err, &e) && e.Kind == forge.KindNotFound:
		c.permissions.put(key, answer{forge.None, at})
		return forge.None, nil
	case err != nil:
		return forge.None, c.wire.Fail(doing, err)
	}
	permission := forge.None
	if level.GetUser().GetID() == p.ID {
		permission = role(level.GetPermission())
	}
	c.permissions.put(key, answer{permission, at})
	return permission, nil
}

// role translates what GitHub calls the base roles; maintain is given as write,
// and triage as read.
func role(s string) forge.Permission {
	switch p := forge.Permission(s); p {
	case forge.Read, forge.Write, forge.Admin:
		return p
	}
	return forge.None
}

func (p *permissions) get(k asked) (forge.Permission, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.known[k]
	age := p.now().Sub(a.at)
	if !ok || age < 0 || age >= permissionAge {
		return forge.None, false
	}
	return a.permission, true
}

func (p *permissions) put(k asked, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= maxPermissions {
		clear(p.known)
	}
	p.known[k] = a
}
