package local

import (
	"net/url"

	"github.com/precedent-dev/precedent/internal/forge"
)

// Pages returns a layout with URLs of pull requests, although no server serves them,
// and without URLs of files.
func (f *Forge) Pages() forge.Pages {
	return forge.Pages{Web: &url.URL{Scheme: "https", Host: f.host}, Pull: "pull", PullAliases: []string{"pulls"}}
}

// ReadEvent reads nothing: a folder tells of no events.
func (f *Forge) ReadEvent(string, []byte) (forge.Event, error) { return forge.Event{}, nil }
