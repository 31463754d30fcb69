// Package search finds the documents of one repository that share the most telling words with a
// query, by BM25, as the candidates of a closer comparison.
//
// The words of each document are hashed and packed once, when it is stored. An Index of them is made
// by reading them, which takes some 20 ms for 100,000 review comments. A search is exact but for
// words with the same hash: it returns what comparing the query with every document would.
package search

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
	"time"

	"github.com/precedent-dev/precedent/internal/text"
)

// Field is a part of a document that is searched on its own.
type Field int

// The fields.
const (
	Text  Field = iota
	Lines       // of code that the text is about
	Path
	fields
)

// Doc is a document.
type Doc struct {
	Fields [fields]string
	Filter
}

// Filter is what a query may ask of a document besides its words.
type Filter struct {
	Group int       // the pull request
	At    time.Time // when it was written, from 1970 to 2106
	// Usable documents alone count for how often words are used.
	Usable bool
	// Short is a document that is not usable because it says so little.
	Short bool
	// First is a document that does not only go on with another one.
	First bool
}

// A packed document is a header and a term for each different token of each field, in the order of
// their numbers: 20 bits of the hash, one of the field, and how often it has the token.
const (
	headerSize = 12
	termSize   = 4
	hashBits   = 20
	fieldBits  = 2
	countBits  = 32 - hashBits - fieldBits
	maxCount   = 63 // more often does not count

	usableBit = 1 << 0
	firstBit  = 1 << 1
	shortBit  = 1 << 2
)

// term is a token of a field.
type term uint32

// termOf returns the term of a token without its count, which is in the low bits.
func termOf(f Field, token string) term {
	h := fnv.New32a()
	_, _ = h.Write([]byte(token))
	sum := h.Sum32()
	sum = (sum ^ sum>>15) * 2654435769 >> (32 - hashBits)
	return term(sum<<fieldBits|uint32(f)) << countBits
}

// slot is the number of a term among those of all fields, and hash among those of its own.
func (t term) slot() uint32 { return uint32(t) >> countBits }
func (t term) hash() uint32 { return uint32(t) >> (countBits + fieldBits) }

func (t term) field() Field  { return Field(uint32(t) >> countBits & (1<<fieldBits - 1)) }
func (t term) count() uint32 { return uint32(t) & (1<<countBits - 1) }

const slots = 1 << (hashBits + fieldBits)

// Pack returns a document as Index.Add takes it.
func (d *Doc) Pack() []byte {
	var terms []term
	for f, s := range d.Fields {
		for token := range text.Tokens(s) {
			terms = append(terms, termOf(Field(f), token))
		}
	}
	slices.Sort(terms)
	out := make([]byte, headerSize, headerSize+termSize*len(terms))
	binary.LittleEndian.PutUint32(out, uint32(d.Group))
	binary.LittleEndian.PutUint32(out[4:], uint32(max(0, min(d.At.Unix(), 1<<32-1))))
	if d.Usable {
		out[8] |= usableBit
	}
	if d.First {
		out[8] |= firstBit
	}
	if d.Short {
		out[8] |= shortBit
	}
	for i := 0; i < len(terms); {
		from := i
		for i < len(terms) && terms[i] == terms[from] {
			i++
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(terms[from])|uint32(min(i-from, maxCount)))
	}
	return out
}

// errPacked means that stored data are not what Pack returns.
var errPacked = errors.New("the stored index is damaged")

// unpack reads the header of a packed document, and returns the terms behind it.
func unpack(packed []byte) (Filter, []byte, error) {
	if len(packed) < headerSize || len(packed)%termSize != 0 {
		return Filter{}, nil, errPacked
	}
	return Filter{
		Group: int(binary.LittleEndian.Uint32(packed)), At: time.Unix(int64(binary.LittleEndian.Uint32(packed[4:])), 0),
		Usable: packed[8]&usableBit != 0, First: packed[8]&firstBit != 0, Short: packed[8]&shortBit != 0,
	}, packed[headerSize:], nil
}
