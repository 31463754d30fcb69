package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
)

var (
	errBreaksOff = errors.New("the JSON is incomplete")
	errNoJSON    = errors.New("it has no JSON object")
	errSeveral   = errors.New("it has several answers that differ; give one")
	errLarge     = fmt.Errorf("it is larger than %d MiB", MaxReply>>20)
)

// Repair finds the JSON in what a model wrote and fixes what can be fixed without guessing: a byte order mark,
// what a local model thinks first, prose around it, a code fence, trailing commas, line breaks inside strings, escaped apostrophes. It takes the
// first value that starts the text or a fence, else the first object or array of objects in the prose; an empty
// object only without another one. If a second value that begins with the same key differs from it, which one is
// meant is not known.
//
// The result is valid JSON without repeated keys, at most 100 levels deep; anything else is an error. Valid JSON
// is returned unchanged except for surrounding white space. An object that is incomplete or invalid after its
// first key is an error: no part of it is used. That is why no library is used, which would complete it.
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
		if _, answer, thought := bytes.Cut(text, []byte("</think>")); thought {
			text = bytes.TrimSpace(answer)
		}
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

// firm matches the beginning of an object with a key, or of a list of them: no brace in prose or code.
var firm = text.Pattern(`^[\[\s]*\{\s*"((?:[^"\\]|\\.)*)"\s*:`)

// mendFirst returns the first value in a text, repaired.
func mendFirst(text []byte) ([]byte, error) {
	var empty []byte
	trouble := errNoJSON
	for start := range candidateStarts(text) {
		out, end, err := mend(text[start:])
		if err == nil {
			var syntax *json.SyntaxError
			if err = json.Unmarshal(out, new(any)); err == nil && !isEmptyObject(out) {
				return out, onlyOne(out, text[start+end:])
			}
			if err == nil && empty == nil {
				empty = out
			}
			if errors.As(err, &syntax) {
				err = fmt.Errorf("%s: %w", strict.Where(out, int(syntax.Offset)), err)
			}
		}
		if firm().Match(out) {
			return nil, err
		}
		if errors.Is(err, errBreaksOff) {
			trouble = err
		}
	}
	if empty != nil {
		return empty, nil
	}
	return nil, trouble
}

// onlyOne returns an error if the rest of a text has another value that begins with the same key.
func onlyOne(first, rest []byte) error {
	key := firm().FindSubmatch(first)
	for at := 0; key != nil && at < len(rest); at++ {
		if rest[at] != '{' {
			continue
		}
		if other := firm().FindSubmatch(rest[at:]); other == nil || !bytes.Equal(other[1], key[1]) {
			continue
		}
		again, end, err := mend(rest[at:])
		if err != nil || !areEqual(again, first) {
			return errSeveral
		}
		at += end - 1
	}
	return nil
}

// areEqual compares JSON without the white space between its tokens.
func areEqual(one, other []byte) bool {
	var a, b bytes.Buffer
	return json.Compact(&a, one) == nil && json.Compact(&b, other) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}

func isEmptyObject(value []byte) bool {
	return bytes.HasPrefix(value, []byte("{")) && len(bytes.Trim(value, "{} \t\r\n")) == 0
}

// candidateStarts yields the positions where the value may start, the likeliest first: of the text, after a
// fence, anywhere.
func candidateStarts(text []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		if mayStartValue(text) && !yield(0) {
			return
		}
		at := 0
		for line := range bytes.Lines(text) {
			at += len(line)
			if !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("```")) {
				continue
			}
			if mayStartValue(text[at:]) && !yield(at) {
				return
			}
		}
		for at := range text {
			if (text[at] == '{' || text[at] == '[') && mayStartValue(text[at:]) && !yield(at) {
				return
			}
		}
	}
}

// mayStartValue reports whether an object or a list of objects may start a text, as "[1]" is a footnote.
func mayStartValue(text []byte) bool {
	const spaces = " \t\r\n"
	text = bytes.TrimLeft(text[:min(len(text), 1000)], spaces)
	if bytes.HasPrefix(text, []byte("[")) {
		text = bytes.TrimLeft(text[1:], spaces)
	}
	text, ok := bytes.CutPrefix(text, []byte("{"))
	text = bytes.TrimLeft(text, spaces)
	return ok && (len(text) == 0 || text[0] == '"' || text[0] == '}')
}

// mend copies a text up to the bracket that closes its first one, and repairs it. end is behind that bracket. It returns
// what it has read with an error.
func mend(text []byte) (out []byte, end int, err error) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			length, s := mendString(text[i:])
			if out = append(out, s...); length == 0 {
				return out, i, errBreaksOff
			}
			i += length
		case '{', '[':
			if depth++; depth > maxDepth {
				return out, i, errDeep
			}
			out = append(out, c)
		case '}', ']':
			out = append(withoutComma(out), c)
			if depth--; depth == 0 {
				return out, i + 1, nil
			}
		default:
			out = append(out, c)
		}
	}
	return out, len(text), errBreaksOff
}

// mendString repairs a string at the beginning of a text, and returns the index of the quote that ends it; 0 if
// there is none. Control characters, which JSON requires to be escaped, are taken as they are.
func mendString(text []byte) (end int, out []byte) {
	out = append(out, '"')
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i, append(out, c)
		case c == '\\' && i+1 < len(text):
			if i++; text[i] != '\'' {
				out = append(out, c)
			}
			out = append(out, text[i])
		case c < ' ':
			escaped, _ := json.Marshal(string(c)) // a character has a form
			out = append(out, escaped[1:len(escaped)-1]...)
		default:
			out = append(out, c)
		}
		if len(out) > MaxReply { // escapes take six bytes for one
			break
		}
	}
	return 0, out
}

// withoutComma drops a comma after a value at the end.
func withoutComma(out []byte) []byte {
	before, ok := bytes.CutSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(","))
	before = bytes.TrimRight(before, " \t\r\n")
	if !ok || len(before) == 0 || bytes.IndexByte([]byte("[{,:"), before[len(before)-1]) >= 0 {
		return out
	}
	return before
}
