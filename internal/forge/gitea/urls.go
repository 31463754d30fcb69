package gitea

import "github.com/precedent-dev/precedent/internal/forge"

// Pages returns the layout of Gitea's web pages.
func (c *Client) Pages() forge.Pages {
	return forge.Pages{Web: c.web, Pull: "pulls", PullAliases: []string{"pull"}, Blob: "src/commit", LineSeparator: "-L", FixedLines: true}
}
