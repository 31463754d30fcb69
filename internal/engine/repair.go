package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"

	"github.com/precedent-dev/precedent/internal/strict"
)

// Repair finds the JSON in what a model wrote and fixes what can be fixed without
// guessing: a byte order mark, prose around it, a code fence, trailing commas, strings
// in single quotes, line breaks inside strings. It takes the first value that starts
// the text or a fence, else the first object or array of objects in the prose; an
// empty object only without another one.
//
// The result is valid JSON without repeated keys, at most 100 levels deep; anything
// else is an error that names the place. Valid JSON is returned unchanged except for
// surrounding white space. An object that is incomplete or invalid after its first key
// is an error: no part of it is used.
func Repair(raw []byte) ([]byte, error) {
	if len(raw) > MaxReply {
		return nil, errLarge
	}
	text := bytes.Trim(bytes.ToValidUTF8(raw, []byte("\uFFFD")), "\uFEFF \t\r\n")
	if len(text) == 0 {
		return nil, errors.New("it is empty")
	}
	if !json.Valid(text) {
		var err error
		if text, err = mendFirst(text); err != nil {
			return nil, err
		}
	}
	if len(text) > MaxReply {
		return nil, errLarge
	}
	if err := strict.Check(text, Limits); err != nil {
		return nil, err
	}
	return text, nil
}

func mendFirst(text []byte) ([]byte, error) {
	var empty []byte
	trouble := errNoJSON
	for start := range candidateStarts(text) {
		m := repairer{in: text, pos: start}
		err := m.value()
		switch {
		case err == nil && len(m.out) > len("{}"):
			return m.out, nil
		case err == nil:
			if empty == nil {
				empty = m.out
			}
		case m.firm:
			return nil, err
		case errors.Is(err, errBreaksOff):
			trouble = err
		}
	}
	if empty != nil {
		return empty, nil
	}
	return nil, trouble
}

// candidateStarts yields the positions where the value may start, the likeliest first.
// Wrong ones are rejected after a few bytes, so trying all takes linear time.
func candidateStarts(text []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		if mayStartValue(text, 0) && !yield(0) {
			return
		}
		for at := 0; at < len(text); {
			end := bytes.IndexByte(text[at:], '\n')
			if end < 0 {
				break
			}
			line := text[at : at+end]
			at += end + 1
			if !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("```")) {
				continue
			}
			if start := skipSpace(text, at); mayStartValue(text, start) && !yield(start) {
				return
			}
		}
		for at := range text {
			if mayStartValue(text, at) && !yield(at) {
				return
			}
		}
	}
}

// mayStartValue tells whether a value may start at text[at]: an object, or an array of
// objects, because "[1]" is a footnote.
func mayStartValue(text []byte, at int) bool {
	if at >= len(text) {
		return false
	}
	if text[at] == '[' {
		at = skipSpace(text, at+1)
	}
	return at < len(text) && text[at] == '{'
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}
