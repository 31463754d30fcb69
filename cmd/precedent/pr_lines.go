package main

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/settings"
)

// lineURL makes the addresses of lines on the forge as people look at them: of the
// reviewed head, and of its base for lines that the change took away. There is
// none where the forge has no pages, and where nobody knows what the file was
// called before.
func (p *publication) lineURL(r *precedent.Review, change *diff.Change) func(precedent.Span) string {
	page := map[string]string{settings.GitHub: "/blob/", settings.Gitea: "/src/commit/"}[p.station.kind]
	web, ok := strings.CutSuffix(p.cloneURL, ".git")
	if page == "" || !ok || !ownHost(web, p.station.Host()) {
		return nil
	}
	return func(s precedent.Span) string {
		commit, path := r.Head, s.Path
		if s.Side == precedent.Left {
			if change == nil || change.File(s.Path) == nil {
				return ""
			}
			commit, path = r.Base, change.File(s.Path).OldPath
		}
		address := web + page + commit + "/" + escapePath(path)
		switch {
		case s.Start <= 0:
			return address
		case s.End > s.Start:
			return fmt.Sprintf("%s#L%d-L%d", address, s.Start, s.End)
		}
		return fmt.Sprintf("%s#L%d", address, s.Start)
	}
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
