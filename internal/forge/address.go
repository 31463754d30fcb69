package forge

import (
	"fmt"
	"strings"
)

// Kind is a kind of forge.
type Kind string

// The kinds.
const (
	GitHub Kind = "github"
	Gitea  Kind = "gitea" // and Forgejo
	Local  Kind = "local"
)

// Address says which forge is meant.
type Address struct {
	Kind Kind
	// At is the forge's URL, or the folder of a local one. It may be empty for
	// GitHub: github.com.
	At string
}

// ParseAddress reads KIND:AT, or the kind alone where that says enough.
func ParseAddress(s string) (Address, error) {
	kind, at, _ := strings.Cut(s, ":")
	a := Address{Kind(kind), at}
	switch {
	case a.Kind == GitHub, a.Kind == Gitea && at != "", a.Kind == Local && at != "":
		return a, nil
	}
	return Address{}, fmt.Errorf("invalid forge %q: want github, github:https://HOST/api/v3, gitea:https://HOST or local:DIR", s)
}

// String is what ParseAddress reads.
func (a Address) String() string {
	if a.At == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.At
}
