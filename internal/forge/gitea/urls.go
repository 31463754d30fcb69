package gitea

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// pageLayout is how Gitea lays out its pages.
func (c *Client) pageLayout() forge.Pages {
	return forge.Pages{Web: c.web, Pull: "pulls", PullAliases: []string{"pull"}, Blob: "src/commit", LineSeparator: "-L"}
}

// PullRequestURL is the page of a pull request.
func (c *Client) PullRequestURL(repo precedent.Repo, number int) string {
	return c.pageLayout().PullRequest(repo, number)
}

// ReadPullRequestURL finds out which pull request a page is about.
func (c *Client) ReadPullRequestURL(page string) (precedent.Repo, int, error) {
	return c.pageLayout().ReadPullRequest(page)
}

// LineURL is the page of lines of a file at a commit.
func (c *Client) LineURL(repo precedent.Repo, commit string, s precedent.Span) string {
	return c.pageLayout().Lines(repo, commit, s)
}
