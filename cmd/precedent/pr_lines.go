package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/settings"
)

// lineURL makes the addresses of lines on the forge as people look at them: of the
// reviewed head, and of its base for lines that the change took away. There is
// none where the forge has no pages, and where nobody knows what the file was
// called before.
func (s *station) lineURL(cloneURL string, r *precedent.Review, change *diff.Change) func(precedent.Span) string {
	page := map[string]string{settings.GitHub: "/blob/", settings.Gitea: "/src/commit/"}[s.kind]
	web, ok := strings.CutSuffix(cloneURL, ".git")
	if page == "" || !ok || !ownHost(web, s.Host()) {
		return nil
	}
	return func(at precedent.Span) string {
		commit, path := r.Head, at.Path
		if at.Side == precedent.Left {
			if change == nil || change.File(at.Path) == nil {
				return ""
			}
			commit, path = r.Base, change.File(at.Path).OldPath
		}
		address := web + page + commit + "/" + escapePath(path)
		switch {
		case at.Start <= 0:
			return address
		case at.End > at.Start:
			return fmt.Sprintf("%s#L%d-L%d", address, at.Start, at.End)
		}
		return fmt.Sprintf("%s#L%d", address, at.Start)
	}
}

// ownHost tells whether an address is on the forge's own host.
func ownHost(address, host string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host == host
}

// escapePath writes a path for an address in Markdown: but for what is plain in
// both, every byte is escaped.
func escapePath(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/._~-", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
