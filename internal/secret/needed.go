package secret

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// needed is what a text has if an expression matches in it: a text, a run of bytes of a class, all
// of several, or one of several. The zero value needs nothing. Checking it takes a small part of
// the time of the expression.
type needed struct {
	text  string // in lower case
	class *[256]bool
	run   int // how many bytes of class follow each other at least
	all   []needed
	any   []needed
}

// isNothing tells whether every text has what is needed.
func (n *needed) isNothing() bool {
	return n.text == "" && n.class == nil && len(n.all) == 0 && len(n.any) == 0
}

// in tells whether a text may match. low is the text in lower case; for ASCII only.
func (n *needed) in(s, low string) bool {
	switch {
	case n.text != "":
		return strings.Contains(low, n.text)
	case n.class != nil:
		run := 0
		for i := range len(s) {
			if !n.class[s[i]] {
				run = 0
			} else if run++; run == n.run {
				return true
			}
		}
		return false
	case len(n.any) > 0:
		for i := range n.any {
			if n.any[i].in(s, low) {
				return true
			}
		}
		return false
	}
	for i := range n.all {
		if !n.all[i].in(s, low) {
			return false
		}
	}
	return true
}

// leastRun is the least number of repetitions that is worth looking for.
const leastRun = 8

// neededBy returns what every match of an expression has.
func neededBy(re *syntax.Regexp) needed {
	switch re.Op {
	case syntax.OpLiteral:
		if s := strings.ToLower(string(re.Rune)); len(s) >= 2 && isASCII(s) {
			return needed{text: s}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return neededBy(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min == 0 {
			return needed{}
		}
		if class := re.Sub[0]; class.Op == syntax.OpCharClass && re.Min >= leastRun {
			return needed{class: bytesOf(class.Rune), run: re.Min}
		}
		return neededBy(re.Sub[0])
	case syntax.OpConcat:
		var all []needed
		for _, sub := range re.Sub {
			if n := neededBy(sub); !n.isNothing() {
				all = append(all, n)
			}
		}
		return needed{all: all}
	case syntax.OpAlternate:
		var any []needed
		for _, sub := range re.Sub {
			n := neededBy(sub)
			if n.isNothing() {
				return needed{}
			}
			any = append(any, n)
		}
		return needed{any: any}
	}
	return needed{}
}

// bytesOf is the class of the bytes that the characters of ranges consist of, or more.
func bytesOf(ranges []rune) *[256]bool {
	var class [256]bool
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= min(ranges[i+1], utf8.RuneSelf-1); c++ {
			class[c] = true
		}
		if ranges[i+1] >= utf8.RuneSelf {
			for c := utf8.RuneSelf; c < len(class); c++ {
				class[c] = true
			}
		}
	}
	return &class
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldsToASCII tells whether a text has one of the two other characters that an expression which
// ignores case takes for ASCII letters: the Kelvin sign and the long s.
func foldsToASCII(s string) bool {
	return strings.Contains(s, "\u212a") || strings.Contains(s, "\u017f")
}

// lowered is a text in lower case, byte by byte.
func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		if isUpper(c) {
			b[i] = c | 0x20
		}
	}
	return string(b)
}
