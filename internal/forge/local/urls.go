package local

import (
	"net/url"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// pageLayout has URLs of pull requests, although no server serves them, and none of
// files.
func (f *Forge) pageLayout() forge.Pages {
	return forge.Pages{Web: &url.URL{Scheme: "https", Host: f.host}, Pull: "pull", PullAliases: []string{"pulls"}}
}

// PullRequestURL is the address of a pull request.
func (f *Forge) PullRequestURL(repo precedent.Repo, number int) string {
	return f.pageLayout().PullRequest(repo, number)
}

// ReadPullRequestURL finds out which pull request an address is of.
func (f *Forge) ReadPullRequestURL(page string) (precedent.Repo, int, error) {
	return f.pageLayout().ReadPullRequest(page)
}

// LineURL is empty: there are no pages of files.
func (f *Forge) LineURL(repo precedent.Repo, commit string, s precedent.Span) string {
	return f.pageLayout().Lines(repo, commit, s)
}

// ReadEvent reads nothing: a folder tells of no events.
func (f *Forge) ReadEvent(string, []byte) (forge.Event, error) { return forge.Event{}, nil }
