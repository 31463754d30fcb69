// Package strict reads JSON from outside. Two programs can read one text differently if an object has a key
// twice, or two that differ only in case: encoding/json ignores case and takes the last, others take the first.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
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
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	type level struct {
		keys map[string]bool // nil for an array
		key  bool            // the next token is a key
	}
	open := []level{{}}
	for values := 0; ; {
		token, err := d.Token()
		if err != nil {
			return nil //nolint:nilerr // the end, or what the decoder refuses
		}
		top := &open[len(open)-1]
		key := top.key
		top.key = top.keys != nil && !key
		switch v := token.(type) {
		case json.Delim:
			if v == '}' || v == ']' {
				open = open[:len(open)-1]
				continue
			}
			if len(open) > most.Depth {
				return fmt.Errorf("nested deeper than %d", most.Depth)
			}
			next := level{key: v == '{'}
			if next.key {
				next.keys = map[string]bool{}
			}
			open = append(open, next)
		case string:
			if !key {
				break
			}
			folded := Fold(v)
			if top.keys[folded] {
				return fmt.Errorf("%s: the key %s occurs twice in one object, or differs only in case from another",
					Where(data, int(d.InputOffset())), shown(v))
			}
			top.keys[folded] = true
		case json.Number:
			if err := checkNumber(string(v)); err != nil && most.Values > 0 {
				return fmt.Errorf("%s: %w", Where(data, int(d.InputOffset())), err)
			}
		}
		if values++; most.Values > 0 && values > most.Values {
			return fmt.Errorf("more than %d values", most.Values)
		}
	}
}

// checkNumber refuses a number that is too large for exact arithmetic.
func checkNumber(number string) error {
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

// Where returns the line and column of a byte.
func Where(data []byte, at int) string {
	at = min(max(at, 0), len(data))
	before := data[:at]
	return fmt.Sprintf("line %d, byte %d", 1+bytes.Count(before, []byte("\n")), at-bytes.LastIndexByte(before, '\n'))
}

// shown quotes a key for a message: short, and without terminal control characters.
func shown(key string) string {
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
