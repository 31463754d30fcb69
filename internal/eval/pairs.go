package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
)

// Pair is two remarks, with people's answer whether they are the same.
type Pair struct {
	Change string // groups dependent pairs: intervals draw whole changes
	A, B   precedent.Finding
	Same   bool
	// Apart is set if the remarks are about different changes, so that their
	// positions mean nothing: they are compared as if their lines overlapped.
	Apart bool
}

// The formats of data about remarks.
const (
	givenForm    = "given"    // places and labels are in the data
	commentsForm = "comments" // pairs of ids of review comments
	changesForm  = "changes"  // remarks that experts accepted about changes
)

// Pairs is a data set of pairs.
type Pairs struct {
	Form string
	List []Pair
	// Unknown counts the pairs with a missing comment.
	Unknown int
}

// ReadPairs reads pairs of remarks, in one of three formats. A file pairs.json or pairs.jsonl has complete
// pairs. A file whose name ends in pairs.json has ids of review comments, which are in *.jsonl and *.jsonl.gz
// next to it. Without such a file, the folders are read as in Read, and every two gold marks on one side of
// one file are a pair of distinct remarks.
func ReadPairs(dir string) (Pairs, error) {
	entries, err := readEntries[givenPair](dir, "pairs")
	if err == nil {
		return givenPairs(dir, entries)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Pairs{}, err
	}
	links, err := readLinks(dir)
	if err == nil {
		return linkedPairs(dir, links)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Pairs{}, err
	}
	return goldPairs(dir)
}

// givenRemark is a remark of a person or a program, as in the data files.
type givenRemark struct {
	Path       string             `json:"path"`
	Side       string             `json:"side"`
	Start      int                `json:"start"`
	End        int                `json:"end"`
	Quote      string             `json:"quote"`
	Symbol     string             `json:"symbol"`
	Category   precedent.Category `json:"category"`
	Severity   precedent.Severity `json:"severity"`
	Confidence int                `json:"confidence"`
	Title      string             `json:"title"`
	Body       string             `json:"body"`
}

func (s *givenRemark) finding() precedent.Finding {
	return precedent.Finding{
		Finder: "data", Category: s.Category, Severity: s.Severity, Confidence: s.Confidence,
		Span:  precedent.Span{Path: s.Path, Side: sideOf(s.Side), Start: s.Start, End: max(s.Start, s.End)},
		Quote: s.Quote, Symbol: s.Symbol, Title: s.Title, Body: s.Body,
	}
}

type givenPair struct {
	Change string      `json:"change"`
	A      givenRemark `json:"a"`
	B      givenRemark `json:"b"`
	Same   *bool       `json:"same"`
}

func givenPairs(dir string, entries []givenPair) (Pairs, error) {
	pairs := Pairs{Form: givenForm}
	for i, e := range entries {
		p := Pair{Change: e.Change, A: e.A.finding(), B: e.B.finding()}
		switch {
		case e.Same == nil:
			return pairs, fmt.Errorf("read pairs of %s: pair %d does not say whether its remarks are the same", dir, i+1)
		case e.A.Title+e.A.Body == "" || e.B.Title+e.B.Body == "":
			return pairs, fmt.Errorf("read pairs of %s: pair %d has an empty remark", dir, i+1)
		case p.Change == "":
			p.Change = fmt.Sprint(i) // on its own
		}
		p.Same = *e.Same
		pairs.List = append(pairs.List, p)
	}
	return pairs, nil
}

// goldPairs makes pairs of the remarks that experts accepted: each point is listed
// once, so two remarks are two points.
func goldPairs(dir string) (Pairs, error) {
	cases, err := Read(dir)
	if err != nil {
		return Pairs{}, err
	}
	pairs := Pairs{Form: changesForm}
	for i := range cases {
		c := &cases[i]
		for k := range c.Gold {
			for n := range c.Gold[:k] {
				a, b := quotedMark(&c.Gold[n], c.Change), quotedMark(&c.Gold[k], c.Change)
				if a.Path == b.Path && a.Side == b.Side {
					pairs.List = append(pairs.List, Pair{Change: c.Name, A: a, B: b})
				}
			}
		}
	}
	return pairs, nil
}

// goldFinding converts a mark to a finding with all its text in the body.
func goldFinding(m *Mark) precedent.Finding {
	return precedent.Finding{Finder: "experts", Category: categoryOf(m.Category), Span: m.span(), Body: m.Note}
}

// placed returns the remarks as the merge stage sees them.
func (p *Pair) placed() (a, b precedent.Finding) {
	a, b = p.A, p.B
	if p.Apart { // overlapping, but not on the same line: the texts decide
		a.Span = precedent.Span{Side: precedent.Right, Start: 1, End: 2}
		b.Span = precedent.Span{Side: precedent.Right, Start: 2, End: 2}
	}
	return a, b
}

func (p *Pair) alike() match.Likeness {
	a, b := p.placed()
	return match.Findings(&a, &b)
}

func (p *Pair) overlaps() bool {
	a, b := p.placed()
	return a.Start > 0 && a.Overlaps(b.Span)
}

// readEntries reads NAME.json, a list, or NAME.jsonl, one entry per line.
func readEntries[T any](dir, name string) ([]T, error) {
	file := filepath.Join(dir, name+".json")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return readLines[T](filepath.Join(dir, name+".jsonl"))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	var list []T
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return list, nil
}

func readLines[T any](file string) ([]T, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read data: %w", err)
	}
	return decodeLines[T](file, bytes.NewReader(data))
}

// decodeLines reads one JSON value after the other.
func decodeLines[T any](file string, r io.Reader) ([]T, error) {
	var list []T
	for d := json.NewDecoder(r); ; {
		var v T
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s, entry %d: %w", file, len(list)+1, err)
		}
		list = append(list, v)
	}
}
