package forge

import (
	"fmt"
	"strings"
)

// Kind is the software of a forge.
type Kind string

// The kinds.
const (
	GitHub Kind = "github"
	Gitea  Kind = "gitea" // and Forgejo
	Local  Kind = "local"
)

// Address identifies a forge.
type Address struct {
	Kind Kind
	// At is the URL of the forge, or the folder of a local one. If it is empty,
	// GitHub is github.com.
	At string
}

// ParseAddress parses KIND:AT, or "github" for github.com.
func ParseAddress(s string) (Address, error) {
	kind, at, _ := strings.Cut(s, ":")
	a := Address{Kind(kind), at}
	switch {
	case a.Kind == GitHub, a.Kind == Gitea && at != "", a.Kind == Local && at != "":
		return a, nil
	}
	return Address{}, fmt.Errorf("invalid forge %q: want github, github:https://HOST/api/v3, gitea:https://HOST or local:DIR", s)
}

// String returns the form that ParseAddress parses.
func (a Address) String() string {
	if a.At == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.At
}
