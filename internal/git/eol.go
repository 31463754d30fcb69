package git

import (
	"bytes"
	"regexp"
	"sync"
)

// lineEnds is how git converts a file's line endings when it is added.
type lineEnds int

const (
	keep    lineEnds = iota
	convert          // CRLF becomes LF
	guess            // the same, for files that look like text and have no CRLF in the index
)

// rule returns git's rule for a file, from its attributes and core.autocrlf; see
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
	case autocrlf == "input" || isTruthy(autocrlf):
		return guess
	}
	return keep
}

var expandedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$Id:[^$\n]*\$`) })

// toRepository converts a file's content to the form that git would store, for
// conversions that are built into git: line endings and $Id$. It runs no filter.
// former is called only if the rule depends on the former content.
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

// looksBinary is git's test before it converts line endings: a NUL, a lone carriage
// return, or more than one odd byte per 128 printable ones.
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
