package chat

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

var (
	// wrote begins and ends the line above a quotation in a mail, in the languages of common mail programs.
	wroteBegin = text.Pattern(`^(?:On|Am|Le|El|Il|Op|Em|Den) .`)
	wroteEnd   = text.Pattern(`(?i)(?:\bwrote|\bschrieb(?: .{1,100})?|\ba écrit|\bescribió|\bha scritto|\bschreef(?: .{1,100})?|\bescreveu|\bskrev(?: .{1,100})?) ?:$`)
	// divider is a line above the message that a mail answers or forwards.
	divider = text.Pattern(`(?i)^(?:-{2,} ?(?:original message|forwarded message|ursprüngliche nachricht|message d'origine) ?-{2,}|_{30,}|from: .+@.+|reply to this email directly.*)$`)
	// sent is a line that a mail program adds.
	sent = text.Pattern(`(?i)^(?:sent from my |sent from mail for |get outlook for |von meinem .{1,40} gesendet)`)
)

// Bounds of the line above a quotation: lines that it may be wrapped to, and its bytes.
const (
	maxWrote      = 3
	maxWroteBytes = 300
)

// mailed tells how many lines, from this one on, a mail program has added, and whether
// everything after them is not the author's either.
func mailed(l string, next []string, blank bool) (lines int, rest bool) {
	content := strings.TrimSpace(l)
	switch {
	case l == "-- ", blank && content == "--", divider().MatchString(content):
		return 0, true
	case sent().MatchString(content):
		return 1, false
	case len(content) > maxWroteBytes || !wroteBegin().MatchString(content):
		return 0, false
	}
	whole := content
	for n := 1; ; n++ {
		if strings.HasSuffix(whole, ":") && wroteEnd().MatchString(whole) {
			for _, l := range next[n-1:] {
				if l = strings.TrimSpace(l); l != "" {
					return n, !strings.HasPrefix(l, ">")
				}
			}
			return n, true
		}
		if n == maxWrote || n > len(next) || len(whole) > maxWroteBytes {
			return 0, false
		}
		whole += " " + strings.TrimSpace(next[n-1])
	}
}
