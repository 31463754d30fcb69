// Package strict reads JSON from outside. Two programs can read one text differently if an object has a key
// twice, or two that differ only in case: encoding/json ignores case and takes the last, others take the first.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Limits bound JSON, so that it exhausts no program that reads it.
type Limits struct {
	Depth  int // of nested arrays and objects
	Values int // keys included; 0 for any number
}

// Default are the limits where nothing else is known. GitHub's webhooks have a depth of 8.
var Default = Limits{Depth: 64}

const (
	// maxKeptKeys bounds the keys of an object whose set is used again for the next one.
	// Clearing a set takes as long as it ever was large.
	maxKeptKeys = 256
	maxShown    = 40  // characters of a key in a message
	maxNumber   = 64  // bytes of a number's literal, if values are limited
	maxExponent = 308 // of a float64; a validator that computes exactly would write out the zeros
)

// Unmarshal decodes one JSON value that Check accepts within the Default limits.
func Unmarshal(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	return Check(data, Default)
}

// UnmarshalKnown is Unmarshal, and refuses fields that the type does not have.
func UnmarshalKnown(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after the JSON")
	}
	return Check(data, Default)
}

// Check refuses JSON in which an object has a key twice, in any case, that exceeds the limits, or, if
// values are limited, has numbers too large for exact arithmetic. It expects valid JSON, which the decoder
// checks, and stops where that ends.
func Check(data []byte, most Limits) error {
	scan := keyScan{seed: maphash.MakeSeed(), keys: make([]map[uint64]struct{}, most.Depth)}
	values := 0
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case c == '{' || c == '[':
			if len(scan.open) == most.Depth {
				return fmt.Errorf("nested deeper than %d", most.Depth)
			}
			scan.open = append(scan.open, c == '{')
			scan.keyNext = c == '{'
			scan.begin()
			values++
		case c == '}' || c == ']':
			if len(scan.open) == 0 {
				return nil
			}
			scan.open, scan.keyNext = scan.open[:len(scan.open)-1], false
		case c == ',':
			scan.keyNext = len(scan.open) > 0 && scan.open[len(scan.open)-1]
			values++
		case c == '"':
			end := stringEnd(data, i+1)
			if end < 0 {
				return nil
			}
			if scan.keyNext {
				scan.keyNext = false
				if !scan.add(data[i : end+1]) {
					return fmt.Errorf("%s: the key %s occurs twice in one object, or differs only in case from another",
						Where(data, end+1), shown(data[i:end+1]))
				}
				values++
			}
			i = end
		case most.Values > 0 && (c == '-' || c >= '0' && c <= '9'):
			end := i + 1
			for end < len(data) && bytes.IndexByte([]byte("+-.0123456789eE"), data[end]) >= 0 {
				end++
			}
			if err := checkNumber(data[i:end]); err != nil {
				return fmt.Errorf("%s: %w", Where(data, end), err)
			}
			i = end - 1
		}
		if most.Values > 0 && values > most.Values {
			return fmt.Errorf("more than %d values", most.Values)
		}
	}
	return nil
}

// checkNumber refuses a number that is too large for exact arithmetic.
func checkNumber(number []byte) error {
	if len(number) > maxNumber {
		return fmt.Errorf("a number of more than %d digits", maxNumber)
	}
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		if exp, err := strconv.Atoi(string(number[i+1:])); err != nil || exp > maxExponent || exp < -maxExponent {
			return errors.New("a number with an exponent beyond ±" + strconv.Itoa(maxExponent))
		}
	}
	return nil
}

// Where returns the line and column of a byte.
func Where(data []byte, at int) string {
	at = min(max(at, 0), len(data))
	before := data[:at]
	return fmt.Sprintf("line %d, byte %d", 1+bytes.Count(before, []byte("\n")), at-bytes.LastIndexByte(before, '\n'))
}

// shown quotes a key, given with its quotes, for a message: short, and without terminal control
// characters.
func shown(quoted []byte) string {
	var key string
	if json.Unmarshal(quoted, &key) != nil {
		key = string(quoted)
	}
	if r := []rune(key); len(r) > maxShown {
		key = string(r[:maxShown]) + "…"
	}
	return strconv.QuoteToASCII(key)
}

// Fold maps the keys that encoding/json takes for the same field to one form: it equates K with the
// Kelvin sign and s with the long s.
func Fold(key string) string {
	folded := make([]byte, 0, len(key))
	for _, r := range key {
		folded = utf8.AppendRune(folded, smallest(r))
	}
	return string(folded)
}

// stringEnd returns the index of the quote that ends a string; -1 if there is none.
func stringEnd(data []byte, from int) int {
	for i := from; ; i++ {
		next := bytes.IndexByte(data[i:], '"')
		if next < 0 {
			return -1
		}
		i += next
		escapes := 0
		for i-escapes > from && data[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

// keyScan holds the keys of the objects around a place.
type keyScan struct {
	open    []bool                // the arrays and objects around it: whether it is an object
	keyNext bool                  // the next string is a key
	keys    []map[uint64]struct{} // hashes, which nobody outside can predict
	seed    maphash.Seed
	folded  []byte
}

// begin empties the set of the innermost array or object.
func (k *keyScan) begin() {
	keys := &k.keys[len(k.open)-1]
	if len(*keys) > maxKeptKeys {
		*keys = nil
		return
	}
	clear(*keys)
}

// add adds a key, with its quotes, and reports whether it is new.
func (k *keyScan) add(quoted []byte) bool {
	keys := &k.keys[len(k.open)-1]
	k.fold(quoted)
	if *keys == nil {
		*keys = map[uint64]struct{}{}
	}
	before := len(*keys)
	(*keys)[maphash.Bytes(k.seed, k.folded)] = struct{}{}
	return len(*keys) > before
}

// fold sets folded to the key as encoding/json compares keys.
func (k *keyScan) fold(quoted []byte) {
	k.folded = k.folded[:0]
	key := quoted[1 : len(quoted)-1]
	for i, c := range key {
		if c == '\\' || c >= utf8.RuneSelf {
			var s string
			if json.Unmarshal(quoted, &s) != nil {
				s = string(key) // the decoder refuses it
			}
			k.folded = k.folded[:0]
			for _, r := range s {
				k.folded = utf8.AppendRune(k.folded, smallest(r))
			}
			return
		}
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		k.folded = append(k.folded[:i], c)
	}
}

// smallest returns the smallest rune that differs from r only in case.
func smallest(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}
