package thread

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/precedent-dev/precedent/internal/text"
)

// maxSentence is the length in bytes beyond which a sentence is not read to its
// end: a plain word is shorter.
const maxSentence = 1_000

// sentence is one of a message.
type sentence struct {
	verbatim string // as it was written, with its mark
	plain    string // to compare: lower case, straight apostrophes, without its mark
	question bool
	long     bool // plain is only its beginning
}

var (
	htmlComment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`) })
	inlineCode  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("``[^`]*``|`[^`]*`") })
	quotedWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"|“[^”]*”`) })
	fence       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^ {0,3}(```+|~~~+)") })
	quotation   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}>`) })
	ending      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.!?]+(?:["'”’)\]*_]+)?(?:\s|$)`) })
	marks       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s*_#>+-]+|[\s*_.!?"'”’)\]]+$`) })
)

// prose is what of a message its author says: without quotations, fenced and
// indented code, and comments that nobody sees. A quotation goes to its blank line.
func prose(message string) string {
	message = strings.ReplaceAll(htmlComment().ReplaceAllString(message, " "), "\r\n", "\n")
	var b strings.Builder
	open, quoted, blank := "", false, true
	for line := range strings.SplitSeq(message, "\n") {
		bare := strings.TrimSpace(line)
		switch m := fence().FindStringSubmatch(line); {
		case open != "":
			if m != nil && strings.HasPrefix(m[1], open) && bare == m[1] {
				open = ""
			}
			b.WriteByte('\n')
			continue
		case m != nil:
			open, blank = m[1], true
			b.WriteByte('\n')
			continue
		}
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		quoted = quotation().MatchString(line) || quoted && bare != ""
		if !quoted && (!indented || !blank) {
			b.WriteString(line)
		}
		b.WriteByte('\n')
		blank = bare == "" || indented && blank
	}
	return b.String()
}

// sentences splits prose at marks that end sentences, and at lines: people leave
// the marks out there. Code and quoted words within a sentence stand in its
// verbatim form alone.
func sentences(prose string) []sentence {
	var all []sentence
	for line := range strings.SplitSeq(prose, "\n") {
		for line != "" {
			end := len(line)
			if at := ending().FindStringIndex(line); at != nil {
				end = at[1]
			}
			if s := sentenceOf(line[:end]); s.plain != "" {
				all = append(all, s)
			}
			line = line[end:]
		}
	}
	return all
}

func sentenceOf(s string) sentence {
	s = strings.TrimSpace(s)
	tail := strings.TrimRightFunc(s, func(r rune) bool { return r != '?' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	plain := quotedWords().ReplaceAllString(inlineCode().ReplaceAllString(s, " thing "), " thing ")
	plain = strings.ToLower(strings.NewReplacer("’", "'", "‘", "'", "*", "", "_", " ", "…", " ").Replace(plain))
	plain = text.Collapse(marks().ReplaceAllString(plain, ""))
	long := len(plain) > maxSentence
	if long {
		plain = plain[:maxSentence]
	}
	return sentence{verbatim: s, plain: plain, question: strings.HasSuffix(tail, "?"), long: long}
}
