package chat

import (
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/intent"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxBody is how much of a comment is read, in bytes.
const maxBody = 64 << 10

// Prose returns what the author of a comment wrote as text: without quotations, which end at a
// blank line, code blocks, HTML comments, folded details, and what mail programs add. Lines are
// trimmed. It reads at most 64 KiB.
func Prose(body precedent.Untrusted) string { return join(body, isProse) }

// Words is Prose with the author's code blocks.
func Words(body precedent.Untrusted) string { return join(body, isProse, isCode) }

func join(body precedent.Untrusted, wanted ...lineKind) string {
	var kept []string
	for _, l := range readLines(body) {
		for _, kind := range wanted {
			if l.kind == kind && kind == isCode {
				kept = append(kept, l.text)
			} else if l.kind == kind {
				kept = append(kept, strings.TrimSpace(l.text))
			}
		}
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n")
}

// lineKind tells whose words a line holds.
type lineKind int

const (
	isProse  lineKind = iota
	isCode            // the author's, in a block
	isHidden          // someone else's, or not shown
)

type line struct {
	text string
	kind lineKind
}

// reader reads the lines of a comment in order.
type reader struct {
	left  []string
	lines []line

	fence  string // the marks that opened a block of code; empty outside
	until  string // what ends hidden text, in lower case; empty outside
	depth  int    // how many elements of the same name are open in a hidden one
	quoted bool   // the line before belongs to a quotation
	blank  bool   // the line before is blank or code

	// lastComment is the number of the last line with the end of a comment.
	lastComment int
}

// readLines tells for each line of a comment whose words it holds.
func readLines(body precedent.Untrusted) []line {
	s := string(body[:min(len(body), maxBody)])
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	r := reader{left: strings.Split(s, "\n"), blank: true, lastComment: -1}
	for i, l := range r.left {
		if strings.Contains(l, "-->") {
			r.lastComment = i
		}
	}
	for n := len(r.left); len(r.left) > 0; {
		l := r.left[0]
		r.left = r.left[1:]
		if r.fence == "" && r.until == "" {
			if skip, all := mailed(l, r.left, r.blank); all {
				r.add("", isHidden)
				break
			} else if skip > 0 {
				r.left = r.left[skip-1:]
				r.add("", isHidden)
				continue
			}
		}
		r.read(l, n-len(r.left)-1)
	}
	return r.lines
}

func (r *reader) add(text string, kind lineKind) { r.lines = append(r.lines, line{text, kind}) }

// listMark matches what may precede a block in a list.
var listMark = text.Pattern(`^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*`)

// read reads one line, which has the number at.
func (r *reader) read(l string, at int) {
	content := strings.TrimSpace(l)
	inner := content[len(listMark().FindString(content)):]
	if r.until == "" && r.fence != "" {
		if mark := text.FenceMark(content); strings.HasPrefix(mark, r.fence) && len(content) == len(mark) {
			r.fence = ""
		}
		r.add(l, isCode)
		r.blank = true
		return
	}
	if r.until == "" {
		r.quoted = strings.HasPrefix(inner, ">") || r.quoted && content != "" && text.FenceMark(content) == ""
		mark := text.FenceMark(inner)
		indented := r.blank && content != "" && (strings.HasPrefix(l, "    ") || strings.HasPrefix(l, "\t"))
		switch {
		case r.quoted:
			r.add("", isHidden)
			r.blank = false
			return
		case mark != "":
			r.fence = mark
			r.add(l, isCode)
			return
		case indented:
			r.add(l, isCode)
			return
		}
	}
	shown := r.show(l, at)
	r.blank = content == ""
	switch {
	case strings.TrimSpace(shown) != "" || content == "" && r.until == "":
		r.add(strings.TrimRight(shown, " \t"), isProse)
	default:
		r.add("", isHidden)
	}
}

// hiddenTag matches the tags of elements whose text is folded, quoted or code.
var hiddenTag = text.Pattern(`^<(details|blockquote|pre|script|style|template|table)\b[^>]*>`)

// show returns the part of a line that is outside of HTML comments and hidden elements, which
// may begin and end on other lines. An element without end hides the rest of the comment. A
// comment without end does so at the beginning of a line; elsewhere forges show it.
func (r *reader) show(l string, at int) string {
	var b strings.Builder
	low := intent.Lower(l)
	end := strings.LastIndex(l, "-->")
	if at < r.lastComment {
		end = len(l)
	}
	for done := 0; ; {
		if r.until != "" {
			i := strings.Index(low[done:], r.until)
			inner := low[done:]
			if i >= 0 {
				inner = inner[:i]
			}
			if tag, ok := strings.CutPrefix(strings.TrimSuffix(r.until, ">"), "</"); ok {
				r.depth += strings.Count(inner, "<"+tag)
			}
			if i < 0 {
				return b.String()
			}
			done += i + len(r.until)
			if r.depth--; r.depth >= 0 {
				continue
			}
			r.until, r.depth = "", 0
		}
		mark := nextHidden(low, done, end)
		b.WriteString(l[done:mark.from])
		if mark.from == len(l) {
			return b.String()
		}
		r.until, done = mark.until, mark.to
	}
}

// opening is the mark that hides what follows it, up to another one.
type opening struct {
	from, to int
	until    string
}

// nextHidden finds the next opening in a line, outside of code spans, or the end of the line.
// lastEnd is where the last comment ends.
func nextHidden(l string, from, lastEnd int) opening {
	const mark = "<!--"
	for i := from; i < len(l); i++ {
		switch l[i] {
		case '\\':
			i++
		case '`':
			run := len(l[i:]) - len(strings.TrimLeft(l[i:], "`"))
			if closing := text.ClosingRun(l[i+run:], run); closing >= 0 {
				i += closing
			}
			i += run - 1
		case '<':
			if strings.HasPrefix(l[i:], mark) && (i < lastEnd || strings.TrimSpace(l[:i]) == "") {
				return opening{i, i + len(mark), "-->"}
			}
			if tag := hiddenTag().FindStringSubmatch(l[i:min(len(l), i+200)]); tag != nil {
				return opening{i, i + len(tag[0]), "</" + tag[1] + ">"}
			}
		}
	}
	return opening{from: len(l)}
}

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
