package text

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// cleanRounds limits how many layers of hidden text Clean unwraps before it removes
// the characters that wrap it. Deep nesting is never an accident.
const cleanRounds = 8

// maxMarks limits the combining marks on one character. No language needs more; the
// normal form inserts hidden characters into runs of more than 30.
const maxMarks = 8

// Clean makes prose read the same to a model as to a person. It decodes character references, removes HTML
// comments and hidden characters (all of [Hidden], except the joiners within emoji), converts line endings to
// line feeds, and applies Unicode's normal form C. It repeats this until nothing changes, so nothing can hide
// behind a second encoding: Clean(Clean(s)) = Clean(s).
//
// Code spans and fenced blocks keep their references and comments, as people see them.
// It is not for code itself, where these are content: use [Visible].
func Clean(s string) string {
	for range cleanRounds {
		t := cleanOnce(s)
		if t == s {
			return s
		}
		s = t
	}
	s = strings.NewReplacer("&", "", "<", "").Replace(s)
	for range cleanRounds {
		t := cleanOnce(s)
		if t == s {
			break
		}
		s = t
	}
	return s
}

// isPlain reports whether the text has only characters that never hide anything.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func cleanOnce(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	var b strings.Builder
	at := 0
	for _, code := range codeSpans(s) {
		b.WriteString(stripComments(html.UnescapeString(s[at:code.start])))
		b.WriteString(s[code.start:code.end])
		at = code.end
	}
	b.WriteString(stripComments(html.UnescapeString(s[at:])))
	return norm.NFC.String(stripHidden(b.String()))
}

// stripComments removes HTML comments as a browser does. An unclosed comment at the
// start of a line hides all text after it, as in Markdown. Elsewhere an unclosed one
// is displayed, so its text is kept and only the marker is removed.
func stripComments(s string) string {
	const mark = "<!--"
	i := strings.Index(s, mark)
	if i < 0 {
		return s
	}
	var b strings.Builder
	endless := false
	for ; i >= 0; i = strings.Index(s, mark) {
		b.WriteString(s[:i])
		end := -1
		if !endless {
			end = commentEnd(s[i+len("<!"):])
		}
		switch {
		case end >= 0:
			s = s[i+len("<!")+end:]
		case beginsLine(b.String()):
			return b.String()
		default:
			endless = true
			s = s[i+len(mark):]
		}
	}
	b.WriteString(s)
	return b.String()
}

// beginsLine reports whether a block can begin after the text: Markdown allows three spaces.
func beginsLine(before string) bool {
	for range 4 {
		if before == "" || before[len(before)-1] == '\n' {
			return true
		}
		var ok bool
		if before, ok = strings.CutSuffix(before, " "); !ok {
			return false
		}
	}
	return false
}

// commentEnd returns the index after the end of a comment whose text starts with the
// dashes of its opening marker; -1 if it has no end. "<!-->" is a complete comment.
func commentEnd(s string) int {
	end := -1
	if i := strings.Index(s, "-->"); i >= 0 {
		end = i + len("-->")
		s = s[:i]
	}
	if len(s) > 2 {
		if i := strings.Index(s[2:], "--!>"); i >= 0 {
			end = 2 + i + len("--!>")
		}
	}
	return end
}

// stripHidden removes hidden characters and converts line endings to line feeds.
func stripHidden(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last, marks := rune(0), 0
	for i, r := range s {
		if r >= ' ' && r < 0x7f {
			b.WriteByte(byte(r))
			last, marks = r, 0
			continue
		}
		_, bad := Hidden(r)
		switch {
		case r == '\r':
			if strings.HasPrefix(s[i+1:], "\n") {
				continue
			}
			r = '\n'
		case r == '\f' || r == '\v' || r == 0x85 || r == 0x2028 || r == 0x2029:
			r = '\n'
		case r == zwj:
			if after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(zwj):]); !joinsEmoji(last, after) {
				continue
			}
		case bad:
			continue
		}
		if unicode.Is(unicode.M, r) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// Alike returns a form of a name that is equal for names which a file system, or a reader, may take
// for the same one: those that differ in case, in the normal form of Unicode, or in letters that
// are compatible, such as the long s and s.
func Alike(name string) string {
	return norm.NFKC.String(strings.ToLower(strings.ToUpper(norm.NFKC.String(name))))
}
