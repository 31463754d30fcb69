package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// The limits of an answer. A finder's answer has about a thousand values and a depth of
// four; the limits keep an answer that a hostile change inflates below some tens of
// MiB of memory.
const (
	// MaxReply is the largest output of one request that is read, in bytes.
	MaxReply = 16 << 20

	maxDepth    = 100
	maxValues   = 100_000 // keys included
	maxNumber   = 64      // bytes of a number's literal
	maxExponent = 308     // of a float64; a validator that computes exactly would write out the zeros
)

// Strict refuses JSON that two parsers may read differently, or that is made to
// exhaust one: keys that are equal or differ only in case (encoding/json takes the
// last), and values beyond the limits. raw is valid JSON.
func Strict(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	type level struct {
		keys map[string]string // the folded key to the key as written; nil in an array
		key  bool              // the next token is a key
	}
	var levels []level
	for values := 0; ; values++ {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read JSON: %w", err)
		}
		if values >= maxValues {
			return fmt.Errorf("more than %d values", maxValues)
		}
		if len(levels) > 0 {
			top := &levels[len(levels)-1]
			if key, ok := tok.(string); ok && top.key {
				folded := fold(key)
				if other, seen := top.keys[folded]; seen {
					return repeated(raw, dec.InputOffset(), other, key)
				}
				top.keys[folded] = key
				top.key = false
				continue
			}
			top.key = top.keys != nil
		}
		switch tok := tok.(type) {
		case json.Delim:
			switch tok {
			case '{':
				levels = append(levels, level{keys: map[string]string{}, key: true})
			case '[':
				levels = append(levels, level{})
			default:
				levels = levels[:len(levels)-1]
			}
			if len(levels) > maxDepth {
				return errDeep
			}
		case json.Number:
			if err := isPlausible(string(tok)); err != nil {
				return fmt.Errorf("%s: %w", where(raw, int(dec.InputOffset())), err)
			}
		}
	}
}

var errDeep = fmt.Errorf("nested deeper than %d", maxDepth)

func repeated(raw []byte, at int64, first, second string) error {
	if first == second {
		return fmt.Errorf("%s: the key %s occurs twice in one object", where(raw, int(at)), shown(first))
	}
	return fmt.Errorf("%s: the keys %s and %s differ only in case", where(raw, int(at)), shown(first), shown(second))
}

// isPlausible refuses a number that is too large for exact arithmetic.
func isPlausible(number string) error {
	if len(number) > maxNumber {
		return fmt.Errorf("a number of more than %d digits", maxNumber)
	}
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		if exp, err := strconv.Atoi(number[i+1:]); err != nil || exp > maxExponent || exp < -maxExponent {
			return errors.New("a number with an exponent beyond ±" + strconv.Itoa(maxExponent))
		}
	}
	return nil
}

// fold maps the keys that encoding/json takes for the same field to one form.
// Simple folding alone equates K with the Kelvin sign and s with the long s.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, key)
}

// where returns the line and column of a byte.
func where(raw []byte, at int) string {
	at = min(max(at, 0), len(raw))
	before := raw[:at]
	return fmt.Sprintf("line %d, byte %d", 1+bytes.Count(before, []byte("\n")), at-bytes.LastIndexByte(before, '\n'))
}

// shown quotes a word of a model's answer for a message: short, and without terminal
// control characters.
func shown(s string) string {
	const most = 40
	return strconv.QuoteToASCII(shorten(s, most))
}

// shorten cuts s after n runes.
func shorten(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
