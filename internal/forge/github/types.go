package github

import (
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// sender converts an account of a webhook, which may lack it.
func sender(u *wire.User) forge.Person {
	if u == nil || u.ID <= 0 || !forge.IsLogin(u.Login) {
		return forge.Person{}
	}
	return u.Person()
}

// isMember reports whether an association is that of a member of the team. GitHub does not
// say of a member what they may do.
func isMember(association string) bool {
	return association == "OWNER" || association == "MEMBER" || association == "COLLABORATOR"
}
