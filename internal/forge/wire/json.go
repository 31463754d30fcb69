package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/forge"
)

const (
	// maxDepth bounds how deep arrays and objects are nested. GitHub's webhooks need 8.
	maxDepth = 64
	// maxKeptKeys bounds the keys of an object whose set is used again for the next one.
	// Clearing a set takes as long as it ever was large.
	maxKeptKeys = 256
)

var (
	errTwice = errors.New("an object has a key twice, or two that differ only in case")
	errDeep  = fmt.Errorf("it is nested deeper than %d", maxDepth)
)

// ReadEvent decodes a webhook payload of a forge. Its errors are *forge.Error.
func ReadEvent(forgeName, event string, payload []byte, into any) error {
	doing := fmt.Sprintf("read event %q", event)
	if len(payload) > forge.MaxEvent {
		return &forge.Error{Kind: forge.KindTooLarge, Msg: fmt.Sprintf("%s: the payload is larger than %d MiB", doing, forge.MaxEvent>>20)}
	}
	if err := checkKeys(payload); err != nil {
		return UnexpectedAnswer(doing, err.Error())
	}
	if json.Unmarshal(payload, into) != nil {
		return UnexpectedAnswer(doing, "it does not match the API of "+forgeName)
	}
	return nil
}

// checkKeys refuses JSON in which an object has a key twice, in any case: encoding/json
// ignores case and takes the last, and other programs the first. It expects valid JSON,
// which the decoder checks, and stops where that ends.
func checkKeys(data []byte) error {
	scan := keyScan{seed: maphash.MakeSeed()}
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if len(scan.open) == maxDepth {
				return errDeep
			}
			scan.open = append(scan.open, data[i] == '{')
			scan.keyNext = data[i] == '{'
			scan.begin()
		case '}', ']':
			if len(scan.open) == 0 {
				return nil
			}
			scan.open, scan.keyNext = scan.open[:len(scan.open)-1], false
		case ',':
			scan.keyNext = len(scan.open) > 0 && scan.open[len(scan.open)-1]
		case '"':
			end := stringEnd(data, i+1)
			if end < 0 {
				return nil
			}
			if scan.keyNext {
				scan.keyNext = false
				if !scan.add(data[i : end+1]) {
					return errTwice
				}
			}
			i = end
		}
	}
	return nil
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
	open    []bool                        // the arrays and objects around it: whether it is an object
	keyNext bool                          // the next string is a key
	keys    [maxDepth]map[uint64]struct{} // hashes, which no forge can predict
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
