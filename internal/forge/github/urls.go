package github

import "github.com/precedent-dev/precedent/internal/forge"

// Pages returns the layout of GitHub's web pages.
func (c *Client) Pages() forge.Pages {
	return forge.Pages{Web: c.web, Pull: "pull", PullAliases: []string{"pulls"}, Blob: "blob", LineSeparator: "-L"}
}
