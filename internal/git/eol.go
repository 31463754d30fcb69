package git

import (
	"bytes"
	"regexp"
	"sync"
)

// lineEnds is what git does with a file's line ends when it is added.
type lineEnds int

const (
	keep    lineEnds = iota
	convert          // CRLF becomes LF
	guess            // the same, for files that look like text and have no CRLF in the index
)

// rule finds git's rule for a file from its attributes and core.autocrlf; see
// gitattributes(5), "End-of-line conversion", and convert_attrs in git's convert.c.
func (a attributes) rule(autocrlf string) lineEnds {
	for _, value := range []string{a.text, a.crlf} { // crlf is the older name of text
		switch value {
		case "set", "input":
			return convert
		case "unset":
			return keep
		case "auto":
			return guess
		}
	}
	switch {
	case a.eol == "lf" || a.eol == "crlf":
		return convert
	case autocrlf == "input" || truth(autocrlf):
		return guess
	}
	return keep
}

var expandedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$Id:[^$\n]*\$`) })

// toRepository gives a file's content the form that git would store, as far as
// git does that by itself: line ends and $Id$. It runs no filter. The former
// content is asked for only when the rule depends on it.
func toRepository(data []byte, a attributes, autocrlf string, former func() ([]byte, error)) ([]byte, error) {
	rule := a.rule(autocrlf)
	if rule != keep && bytes.Contains(data, []byte("\r\n")) {
		if rule == guess {
			old, err := former()
			if err != nil {
				return nil, err
			}
			if looksBinary(data) || bytes.Contains(old, []byte("\r\n")) && !looksBinary(old) {
				rule = keep
			}
		}
		if rule != keep {
			data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		}
	}
	if a.ident == "set" {
		data = expandedID().ReplaceAll(data, []byte("$$Id$$"))
	}
	return data, nil
}

// looksBinary is git's guess before it converts line ends: a NUL, a carriage
// return alone, or more than one odd byte to 128 printable ones.
func looksBinary(data []byte) bool {
	plain, odd := 0, 0
	for i, c := range data {
		switch {
		case c == 0:
			return true
		case c == '\r':
			if i+1 >= len(data) || data[i+1] != '\n' {
				return true
			}
		case c == '\n':
		case c == '\b' || c == '\t' || c == '\f' || c == 0x1b:
			plain++
		case c < ' ' || c == 0x7f:
			odd++
		default:
			plain++
		}
	}
	if n := len(data); n > 0 && data[n-1] == 0x1a {
		odd--
	}
	return plain>>7 < odd
}
