package forge

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/precedent-dev/precedent"
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
	// At is the URL of the forge, or the folder of a local one. If it is empty, GitHub is github.com.
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
	return Address{}, fmt.Errorf("invalid forge %q: want github, github:https://HOST/api/v3, gitea:https://HOST or "+
		"local:DIR", s)
}

// Remote returns the repository that a remote of git names. On this forge it has the host of
// the pages, whatever the port of SSH, and its owner does not contain the path that the pages
// are below. Errors wrap precedent.ErrRepo.
func (a Address) Remote(remote string) (precedent.Repo, error) {
	r, ssh, err := precedent.ParseRemote(remote)
	if err != nil || a.Kind == Local {
		return r, err
	}
	web, err := url.Parse(cmp.Or(a.At, "https://github.com"))
	if err != nil {
		return r, nil //nolint:nilerr // the client of the forge reports it
	}
	path := strings.TrimSuffix(strings.Trim(web.Path, "/"), "api/v1")
	if a.Kind == GitHub {
		path, web.Host = "", strings.TrimPrefix(strings.ToLower(web.Host), "api.")
	}
	home, err := precedent.ParseRepo(web.Scheme + "://" + web.Host + "/owner/name")
	if err != nil {
		return r, nil //nolint:nilerr // as above
	}
	switch path = strings.Trim(path, "/"); {
	case ssh && (&url.URL{Host: r.Host}).Hostname() == (&url.URL{Host: home.Host}).Hostname():
		r.Host = home.Host
	case !ssh && path != "" && r.Host == home.Host:
		if owner, ok := strings.CutPrefix(r.Owner, path+"/"); ok {
			r.Owner = owner
		}
	}
	return r, nil
}

// String returns the form that ParseAddress parses.
func (a Address) String() string {
	if a.At == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.At
}
