package gitea

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

func (c *Client) pageLayout() forge.Pages {
	return forge.Pages{Web: c.web, Pull: "pulls", PullAliases: []string{"pull"}, Blob: "src/commit", LineSeparator: "-L"}
}

// PullRequestURL returns the URL of a pull request's page.
func (c *Client) PullRequestURL(repo precedent.Repo, number int) string {
	return c.pageLayout().PullRequest(repo, number)
}

// ReadPullRequestURL parses the URL of a pull request's page.
func (c *Client) ReadPullRequestURL(page string) (precedent.Repo, int, error) {
	return c.pageLayout().ReadPullRequest(page)
}

// LineURL returns the URL of lines of a file at a commit.
func (c *Client) LineURL(repo precedent.Repo, commit string, s precedent.Span) string {
	return c.pageLayout().Lines(repo, commit, s)
}
