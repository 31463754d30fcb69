package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// CorpusQuery is what to search the corpus for. One of Text and File is set.
type CorpusQuery struct {
	Text string
	File string // a file of the work tree, relative to the working folder
	// Line of the file, from 1; 0 for the file as a whole.
	Line  int
	Limit int // the number of results; 0 for 10
	// All also finds what is not usable as a precedent.
	All bool
}

// CorpusFound is a comment of the corpus that a search found, and why it is where it is. It is
// what programs and agents get.
type CorpusFound struct {
	Pull     int    `json:"pull_request"`
	Kind     string `json:"kind"`
	ID       string `json:"id"`
	Author   string `json:"author"`
	At       string `json:"at"`
	Path     string `json:"path"`
	Line     int    `json:"line"`
	URL      string `json:"url"`
	Text     string `json:"text"`     // at most 400 characters
	Outcome  string `json:"outcome"`  // adopted, declined, reverted; empty if it is not known
	Unusable string `json:"unusable"` // why it cannot be a precedent; empty if it can
	MayWrite bool   `json:"may_write"`
	// Citable says whether a finding with this text could cite it: strong, candidate or weak.
	Citable string         `json:"citable"`
	Score   float64        `json:"score"`
	Cosine  float64        `json:"cosine"`
	Ranks   []corpus.Rank  `json:"ranks"`
	Priors  []corpus.Prior `json:"priors"`
}

// Why says why the comment is where it is, in parts.
func (f *CorpusFound) Why() []string {
	parts := []string{fmt.Sprintf("score %.3f", f.Score)}
	for _, r := range f.Ranks {
		parts = append(parts, fmt.Sprintf("%s %d", r.List, r.Rank))
	}
	parts = append(parts, fmt.Sprintf("cosine %.2f", f.Cosine))
	for _, p := range f.Priors {
		parts = append(parts, fmt.Sprintf("× %.2f %s", p.Factor, p.Why))
	}
	return parts
}

// CorpusResult is what a search found.
type CorpusResult struct {
	Searched int           `json:"searched"`
	Found    []CorpusFound `json:"found"` // best first
	Failures []string      `json:"failures"`
}

const (
	defaultFound  = 10
	maxFound      = 100
	maxFoundText  = 400     // characters
	maxSearched   = 8 << 10 // bytes of a text that is searched for
	linesBefore   = 3       // of a line of a file
	maxSearchFile = 4 << 20 // bytes of a file of which lines are searched for
)

// SearchCorpus finds what people wrote about a text, or about lines of a file.
func (r *Env) SearchCorpus(ctx context.Context, w *Workspace, q CorpusQuery) (CorpusResult, error) {
	if q.Limit < 0 || q.Limit > maxFound || q.Line < 0 || q.Line > 0 && q.File == "" {
		return CorpusResult{}, Hinted(errors.New("search corpus: a limit is from 1 to 100, and a line needs a file"),
			"for example: --file a.go --line 12")
	}
	if strings.TrimSpace(q.Text) == "" && q.File == "" {
		return CorpusResult{}, Hinted(errors.New("search corpus: there is nothing to search for"),
			"give a text, or a file with --file")
	}
	c, err := r.CorpusOf(ctx, w)
	if err != nil {
		return CorpusResult{}, err
	}
	x, err := c.Open(ctx)
	if err != nil {
		return CorpusResult{}, err
	}
	asked := corpus.Query{
		Text: text.Head(q.Text, maxSearched), Limit: cmp.Or(q.Limit, defaultFound), All: q.All,
	}
	if q.File != "" {
		if asked.Path, asked.Lines, err = w.searchedLines(q.File, q.Line); err != nil {
			return CorpusResult{}, err
		}
	}
	got, err := x.Search(ctx, asked)
	if err != nil {
		return CorpusResult{}, err
	}
	out := CorpusResult{Searched: got.Searched, Found: []CorpusFound{}, Failures: append([]string{}, got.Failures...)}
	for i := range got.Hits {
		out.Found = append(out.Found, corpusFound(&got.Hits[i]))
	}
	return out, nil
}

// searchedLines returns the path of a file from the top folder, and the line with those before
// it, without secrets. It follows no links.
func (p *Repository) searchedLines(file string, line int) (string, []string, error) {
	if p.Git == nil || p.Git.Top() == "" {
		return "", nil, Hinted(errors.New("search corpus: there is no work tree"), "search for a text, or run it in a clone")
	}
	paths, err := p.FromTop([]string{file})
	if err != nil || line == 0 {
		return strings.Join(paths, ""), nil, err
	}
	data, err := p.Git.WorkFile(paths[0], maxSearchFile)
	if err == nil && bytes.IndexByte(data, 0) >= 0 {
		err = errors.New("it is not text")
	}
	if err != nil {
		return "", nil, Hinted(fmt.Errorf("search corpus: read %s: %w", file, err),
			"name a text file of at most 4 MiB, not through a link")
	}
	lines := strings.Split(string(secret.RedactFile(paths[0], data)), "\n")
	if line > len(lines) {
		return "", nil, fmt.Errorf("search corpus: %s has %d lines", file, len(lines))
	}
	return paths[0], lines[max(0, line-1-linesBefore):line], nil
}

func corpusFound(h *corpus.Hit) CorpusFound {
	words := cmp.Or(strings.TrimSpace(string(h.Words)), strings.TrimSpace(string(h.Body)), strings.TrimSpace(string(h.Text)))
	return CorpusFound{
		Pull: h.Pull, Kind: h.Kind, ID: string(h.ID), Author: h.Author, At: h.At.UTC().Format(time.RFC3339),
		Path: h.Path, Line: h.End, URL: h.URL, Text: text.Cut(text.Collapse(words), maxFoundText),
		Outcome: string(h.Outcome), Unusable: h.Unusable, MayWrite: h.MayWrite, Citable: citable[h.Strength()],
		Score: h.Score, Cosine: h.Cosine, Ranks: append([]corpus.Rank{}, h.Ranks...), Priors: append([]corpus.Prior{}, h.Priors...),
	}
}

var citable = map[corpus.Strength]string{corpus.Weak: "weak", corpus.Candidate: "candidate", corpus.Strong: "strong"}
