package forge

import (
	"errors"
	"net/url"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestParseAddress(t *testing.T) {
	for s, want := range map[string]Address{
		"github": {Kind: GitHub}, "github:https://ghe.example/api/v3": {GitHub, "https://ghe.example/api/v3"},
		"gitea:https://git.example:3000/code": {Gitea, "https://git.example:3000/code"},
		"local:C:/forge":                      {Local, "C:/forge"},
	} {
		if got, err := ParseAddress(s); err != nil || got != want || got.String() != s {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, wrong := range []string{"", "gitea", "gitea:", "local", "https://github.com", "GitHub"} {
		if got, err := ParseAddress(wrong); err == nil {
			t.Errorf("%q: %+v", wrong, got)
		}
	}
}

// TestRemotes: the operator's address of the forge says which host serves the pages.
func TestRemotes(t *testing.T) {
	for _, test := range []struct{ at, remote, want string }{
		{"github", "ssh://git@ssh.github.com:443/acme/app.git", "github.com/acme/app"},
		{"github", "ssh://git@git.example:2222/acme/app", "git.example:2222/acme/app"},
		{"github:https://ghe.example/api/v3", "ssh://git@ghe.example:122/acme/app", "ghe.example/acme/app"},
		{"github:https://api.octo.ghe.com", "git@octo.ghe.com:acme/app.git", "octo.ghe.com/acme/app"},
		{"gitea:https://git.example:3000", "ssh://git@git.example:2222/acme/app", "git.example:3000/acme/app"},
		{"gitea:https://git.example:3000", "[git@git.example:2222]:acme/app", "git.example:3000/acme/app"},
		{"gitea:https://git.example", "https://git.example:3000/acme/app", "git.example:3000/acme/app"},
		{"gitea:http://[::1]:3000", "ssh://git@[::1]:2222/acme/app", "[::1]:3000/acme/app"},
		{"gitea:https://host.example/code/", "https://host.example/code/acme/app.git", "host.example/acme/app"},
		{"gitea:https://host.example/code/api/v1", "https://host.example/code/acme/app.git", "host.example/acme/app"},
		{"gitea:https://host.example/code", "ssh://git@host.example:2222/acme/app.git", "host.example/acme/app"},
		{"gitea:https://host.example/code", "https://host.example/acme/app.git", "host.example/acme/app"},
		{"local:DIR", "git@host.example:acme/app", "host.example/acme/app"},
	} {
		a := needs.Value(ParseAddress(test.at))(t)
		if got, err := a.Remote(test.remote); err != nil || got.String() != test.want {
			t.Errorf("on %s, %s is %s, %v; want %s", test.at, test.remote, got, err, test.want)
		}
	}
	if _, err := (Address{Kind: GitHub}).Remote("ext::sh -c a/b/c"); !errors.Is(err, precedent.ErrRepo) {
		t.Error(err)
	}
}

// TestPages: of a forge below a path, the pages of pull requests and of lines are read and written.
func TestPages(t *testing.T) {
	const web = "https://host.example:8443/git"
	home := needs.Value(url.Parse(web))(t)
	p := Pages{Web: home, Pull: "pulls", Blob: "src/commit", Source: "display=source"}
	repo := precedent.Repo{Host: home.Host, Owner: "acme", Name: "app"}
	page := web + "/acme/app/pulls/7"
	if got := p.PullRequest(repo, 7); got != page || p.Own(page) != page || p.Own(web+".evil.example/x") != "" {
		t.Errorf("page %s, want %s", got, page)
	}
	for _, own := range []string{page, page + "/files", web + "/acme/app/pull/7"} {
		if r, n, err := p.ReadPullRequest(own); err != nil || r != repo || n != 7 {
			t.Errorf("%s is of %s#%d, %v", own, r, n, err)
		}
	}
	for path, want := range map[string]string{"a/b.go": "a/b.go#L3-L5", "A.MD": "A.MD?display=source#L3-L5"} {
		want = web + "/acme/app/src/commit/abc/" + want
		if got := p.Lines(repo, "abc", precedent.Span{Path: path, Start: 3, End: 5}); got != want {
			t.Errorf("lines %s, want %s", got, want)
		}
	}
	for _, wrong := range []string{"/app/pulls/7", "/acme/x/app/pulls/7", "/acme/app/pulls", "/acme/app/issues/7"} {
		if r, n, err := p.ReadPullRequest(web + wrong); err == nil {
			t.Errorf("%s is of %s#%d", wrong, r, n)
		}
	}
}
