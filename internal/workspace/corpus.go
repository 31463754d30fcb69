package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
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
	x, err := r.CorpusOf(w).Open(ctx)
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
	out := CorpusResult{Searched: got.Searched, Failures: got.Failures}
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
		Score: h.Score, Cosine: h.Cosine, Ranks: h.Ranks, Priors: h.Priors,
	}
}

var citable = map[corpus.Strength]string{corpus.Weak: "weak", corpus.Candidate: "candidate", corpus.Strong: "strong"}

// CorpusOf is the corpus of a workspace.
func (r *Env) CorpusOf(w *Workspace) *corpus.Corpus {
	rows := w.Memory.Rows
	embedding := r.Embedding(func(s *settings.Settings) *engine.Budget { return DayBudget(s, rows) })
	return &corpus.Corpus{Rows: rows, Now: r.Now, Embedding: embedding}
}

// keptCorpus is the corpus of a workspace that is about to be written to.
func (r *Env) keptCorpus(ctx context.Context, w *Workspace) (*corpus.Corpus, error) {
	err := r.KeepMemory(ctx, w)
	return r.CorpusOf(w), err
}

// ImportCorpus saves the comments of a file in the corpus, and calls progress after each part.
func (r *Env) ImportCorpus(
	ctx context.Context, w *Workspace, name string, from io.Reader, progress func(corpus.Imported),
) (corpus.Imported, error) {
	c, err := r.keptCorpus(ctx, w)
	if err != nil {
		return corpus.Imported{}, err
	}
	names, err := c.Rows.Names(ctx)
	if err != nil {
		return corpus.Imported{}, err
	}
	imported, err := c.Import(ctx, name, from, slices.Concat(w.IDs, names), progress)
	if err == nil {
		r.embedNew(ctx, c)
	}
	return imported, err
}

// SyncCorpus reads what people wrote on the pull requests of the workspace's repository. It sets the forge and the
// repository of the options. What was stored before an error stays, and the result tells it.
func (r *Env) SyncCorpus(ctx context.Context, conn Connection, w *Workspace,
	o corpus.SyncOptions,
) (corpus.SyncResult, error) {
	repo := w.IDs[0]
	if repo.IsLocal() {
		return corpus.SyncResult{}, Hinted(errors.New("the repository has no remote on a forge"),
			"set --repo host/owner/name")
	}
	if repo.Host != conn.Host() {
		return corpus.SyncResult{}, Hinted(fmt.Errorf("%s is not on %s", repo, conn.Host()),
			"set the forge with --forge, as for precedent pr")
	}
	c, err := r.keptCorpus(ctx, w)
	if err != nil {
		return corpus.SyncResult{}, err
	}
	c.Me = OwnAccount(ctx, conn)
	o.Forge, o.Repo = conn.Forge, repo
	got, err := c.Sync(ctx, o)
	if err == nil {
		r.embedNew(ctx, c)
	}
	return got, conn.Explain(err)
}

// OwnAccount is the id of the account that posts; empty if the forge does not tell, as without a
// token. Our comments are then known by their markers.
func OwnAccount(ctx context.Context, conn Connection) precedent.ForgeID {
	if !conn.Known {
		return ""
	}
	me, err := conn.Me(ctx)
	if err != nil {
		return ""
	}
	return me.ID
}

// Embeddings is the embedding model that the operator has set.
type Embeddings struct {
	Server *llm.Embeddings
	// Price is that of the model; nil if it is not known. Then it counts in no budget.
	Price    *llm.Price
	Settings *settings.Settings
	Own      []string // secrets of this program, which are never sent
}

// Cost returns what tokens cost in dollars; 0 if the price is not known.
func (e *Embeddings) Cost(tokens int) float64 {
	if e.Price == nil {
		return 0
	}
	return e.Price.Cost(precedent.Usage{InputTokens: tokens})
}

// Embedding is the model as a corpus uses it; nil if none is set. budget bounds its cost.
func (r *Env) Embedding(budget func(s *settings.Settings) *engine.Budget) *corpus.Embedding {
	if r.Embeddings == nil {
		return nil
	}
	e, err := r.Embeddings()
	switch {
	case err != nil:
		return &corpus.Embedding{Err: err}
	case e == nil:
		return nil
	}
	return &corpus.Embedding{
		Model: e.Server.Model(), Host: e.Server.Host(), Dimensions: e.Settings.EmbeddingsDimensions.Value,
		Within: e.Settings.EmbeddingsTimeout.Value, Own: secret.NewOwn(e.Own...),
		Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			b := budget(e.Settings)
			tokens := llm.ExpectTokens(texts)
			charge, err := b.Reserve(ctx, tokens, e.Cost(tokens))
			if err != nil {
				return nil, err
			}
			got, err := e.Server.Embed(ctx, texts)
			charge(got.Usage.InputTokens, e.Cost(got.Usage.InputTokens))
			return got.Vectors, errors.Join(err, b.Release(ctx))
		},
	}
}

// DayBudget counts costs on the day of a repository.
func DayBudget(s *settings.Settings, rows *store.Repo) *engine.Budget {
	b := BookedBudget(s, rows, 0, nil)
	b.USD, b.Tokens = 0, 0
	return b
}

// embedNew computes the vectors of the comments that have none, if an embedding model is set. If
// that fails, a notice says so: they are found by their words, and the next time gets them.
func (r *Env) embedNew(ctx context.Context, c *corpus.Corpus) {
	if c.Embedding == nil || ctx.Err() != nil {
		return
	}
	if swept, err := c.Embed(ctx); err != nil && ctx.Err() == nil {
		r.Notice(ctx, "%d comments have a vector now, the others have none: %v; the next sync or import goes on",
			swept.Chunks, err)
	}
}
