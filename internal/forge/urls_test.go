package forge

import (
	"net/url"
	"testing"

	"github.com/precedent-dev/precedent"
)

func TestParseAddress(t *testing.T) {
	for s, want := range map[string]Address{
		"github": {Kind: GitHub}, "github:https://ghe.example/api/v3": {GitHub, "https://ghe.example/api/v3"},
		"gitea:https://git.example:3000/code": {Gitea, "https://git.example:3000/code"}, "local:C:/forge": {Local, "C:/forge"},
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

// TestPagesOfGitLab: a forge whose owners hold slashes needs nothing but its words.
func TestPagesOfGitLab(t *testing.T) {
	for _, web := range []string{"https://gitlab.example", "https://host.example:8443/git"} {
		home, err := url.Parse(web)
		if err != nil {
			t.Fatal(err)
		}
		p := Pages{Web: home, Pull: "-/merge_requests", Blob: "-/blob", LineSeparator: "-", Nested: true}
		for _, owner := range []string{"group", "group/sub/project"} {
			repo := precedent.Repo{Host: home.Host, Owner: owner, Name: "app"}
			page := web + "/" + owner + "/app/-/merge_requests/7"
			if got := p.PullRequest(repo, 7); got != page {
				t.Errorf("page %s, want %s", got, page)
			}
			if r, n, err := p.ReadPullRequest(page + "/diffs"); err != nil || r != repo || n != 7 {
				t.Errorf("%s is of %s#%d, %v", page, r, n, err)
			}
			want := web + "/" + owner + "/app/-/blob/abc/a/b.go#L3-5"
			if got := p.Lines(repo, "abc", precedent.Span{Path: "a/b.go", Start: 3, End: 5}); got != want {
				t.Errorf("lines %s, want %s", got, want)
			}
		}
		for _, wrong := range []string{"/app/-/merge_requests/7", "/group/app/merge_requests/7", "/group/app/-/merge_requests", "/group/app/-/issues/7"} {
			if r, n, err := p.ReadPullRequest(web + wrong); err == nil {
				t.Errorf("%s is of %s#%d", wrong, r, n)
			}
		}
	}
}
