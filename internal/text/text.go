// Package text splits, compares, cleans and displays text that other people wrote.
//
// Comparison decides which findings are duplicates and which were dismissed before: [NewVector] and [Cosine]
// for prose, [Ratio] for lines of code. Cleaning decides what a model sees: [Clean] for prose. Display
// decides what reaches a terminal: [Visible] for text, code included.
//
// All text is untrusted: every function takes at most linear time and memory.
package text

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Collapse replaces every run of white space with one space, and trims both ends.
func Collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// Squeeze removes all white space.
func Squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// leastProof is the minimum of letters and digits in a quote that proves something, in
// bytes. Less is punctuation, or a keyword that ends a block.
const leastProof = 4

// Proves reports whether a quote says enough to prove anything: brackets and other
// punctuation are in every file and in every remark.
func Proves(quote string) bool {
	n := 0
	for _, r := range quote {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if n += utf8.RuneLen(r); n >= leastProof {
				return true
			}
		}
	}
	return false
}

// ellipsis ends text that was cut.
const ellipsis = "…"

// Cut shortens text to at most n characters, including the ellipsis. It cuts between words unless that would
// lose more than half, and never between a character and its marks.
func Cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	end := 0 // of the first n-1 characters
	for range n - 1 {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	for end > 0 && isJoined(s, end) {
		_, size := utf8.DecodeLastRuneInString(s[:end])
		end -= size
	}
	head := s[:end]
	if next, _ := utf8.DecodeRuneInString(s[end:]); !unicode.IsSpace(next) {
		if i := strings.LastIndexFunc(head, unicode.IsSpace); i >= len(head)/2 {
			head = head[:i]
		}
	}
	return strings.TrimRightFunc(head, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;:([{", r)
	}) + ellipsis
}

// CutTitle shortens a title to at most n characters, as Cut does. The title always ends
// at a word if it has more than one, and not within a code span.
func CutTitle(s string, n int) string {
	cut := Cut(s, n)
	head, ok := strings.CutSuffix(cut, ellipsis)
	if cut == s || !ok {
		return cut
	}
	if next, _ := utf8.DecodeRuneInString(s[min(len(head), len(s)):]); strings.HasPrefix(s, head) && isWord(next) {
		if i := strings.LastIndexFunc(head, unicode.IsSpace); i > 0 {
			head = head[:i]
		}
	}
	if strings.Count(head, "`")%2 == 1 {
		if i := strings.LastIndexByte(head, '`'); i > 0 {
			head = head[:i]
		}
	}
	return strings.TrimRightFunc(head, unicode.IsSpace) + ellipsis
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// isJoined reports whether the characters on both sides of an index belong together.
func isJoined(s string, i int) bool {
	last, _ := utf8.DecodeLastRuneInString(s[:i])
	next, _ := utf8.DecodeRuneInString(s[i:])
	return last == zwj || next == zwj || unicode.Is(unicode.M, next) || unicode.Is(unicode.Variation_Selector, next) ||
		isModifier(next)
}

// Pattern returns a function that compiles an expression on its first call, so that a program that
// does not need it starts sooner.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// Head cuts text to at most n bytes, not counting the ellipsis, in constant time. It
// never cuts within a character.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}
