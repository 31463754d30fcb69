package eval

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/text"
)

// Precedents measures how well comments of people are found again, and which are cited.
type Precedents struct {
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
	// Own is about finding a comment by the diff that it is about, among the words of all.
	Own []Retrieval `json:"own"`
	// Code is about finding an earlier comment of another pull request that makes the same
	// point, by the code that a later one is about.
	Code []Retrieval `json:"code"`
	// Text is about the same, by what the later comment says.
	Text []Retrieval `json:"text"`
	Gate []Gate      `json:"gate"`
}

// Retrieval scores one way to search one file.
type Retrieval struct {
	File string `json:"file"`
	Way  string `json:"way"`
	// Queries are of this many pull requests, and each is compared with at most Pool comments.
	Queries int   `json:"queries"`
	Pulls   int   `json:"pull_requests"`
	Pool    int   `json:"pool"`
	MRR     Ratio `json:"mrr"`
	First   Ratio `json:"r_at_1"`
	Five    Ratio `json:"r_at_5"`
	Ten     Ratio `json:"r_at_10"`
	// Reference is the figure to beat, from the research behind the design; empty for none.
	Reference string `json:"reference"`
}

// The ways to search.
const (
	inUse      = "in use"
	wholeText  = "all it says"
	firstPart  = "its first sentence"
	withoutIDs = "without code spans"
)

// deepest is how many hits of a search are looked at.
const deepest = 1_000

// MeasurePrecedents measures the search of the corpus on the review comments of folders, with the
// pairs of comments beside them that people labelled.
func MeasurePrecedents(ctx context.Context, dirs []string, seed uint64) (Precedents, error) {
	m := Precedents{Resamples: Resamples, Seed: seed}
	files, labels, err := readReviews(dirs)
	if err != nil {
		return m, fault(err, commentsHint)
	}
	for _, f := range files {
		own, err := f.own(ctx, seed)
		if err != nil {
			return m, err
		}
		m.Own = append(m.Own, own)
	}
	var code, texts, firsts, plain []rank
	for _, f := range files {
		if len(f.clusters) == 0 {
			continue
		}
		x := corpus.NewIndex(f.chunks())
		c, err := f.byCode(ctx, x)
		if err != nil {
			return m, err
		}
		var found [3][]rank
		for i, form := range []func(string) string{whole, claim, withoutSpans} {
			if found[i], err = f.byText(ctx, x, form); err != nil {
				return m, err
			}
		}
		m.Code = append(m.Code, retrieval(f.name, inUse, c, len(f.all), seed))
		m.Text = append(m.Text, retrieval(f.name, wholeText, found[0], x.Len(), seed))
		code, texts = append(code, c...), append(texts, found[0]...)
		firsts, plain = append(firsts, found[1]...), append(plain, found[2]...)
	}
	if len(code) > 0 {
		m.Code = append(m.Code, retrieval(together, inUse, code, 0, seed))
		m.Text = append(m.Text, retrieval(together, wholeText, texts, 0, seed), retrieval(together, firstPart, firsts, 0, seed),
			retrieval(together, withoutIDs, plain, 0, seed))
		if m.Gate, err = gates(ctx, files, labels, seed); err != nil {
			return m, err
		}
	}
	m.refer()
	return m, ctx.Err()
}

// together names the rows about all files.
const together = "all"

// rank is the place of the first right comment among the hits of a query, from 1; 0 if there is none.
type rank struct {
	pull string
	at   int
}

// own searches the words of all comments by the diff of each.
func (f *reviewFile) own(ctx context.Context, seed uint64) (Retrieval, error) {
	var chunks []precedent.CorpusChunk
	for i := range f.all {
		c := f.all[i].CorpusChunk
		if c.Unusable != "" {
			continue
		}
		c.Hunk, c.Path, c.Body = "", "", c.Words // what the comment says, without suggestions, and nothing of its place
		chunks = append(chunks, c)
	}
	x := corpus.NewIndex(chunks)
	var ranks []rank
	for i := range f.all {
		c := &f.all[i]
		if c.Unusable != "" || len(c.hunk.Lines) == 0 {
			continue
		}
		hits, err := x.About(ctx, &c.hunk, f.at(c), corpus.Query{Limit: deepest})
		if err != nil {
			return Retrieval{}, err
		}
		ranks = append(ranks, f.rank(c, hits, func(h *precedent.CorpusChunk) bool { return h.ID == c.ID }))
	}
	return retrieval(f.name, inUse, ranks, len(chunks), seed), nil
}

func (f *reviewFile) pull(c *precedent.CorpusChunk) string {
	return f.name + "#" + strconv.Itoa(c.Pull)
}

func (f *reviewFile) rank(c *reviewed, hits []corpus.Hit, right func(*precedent.CorpusChunk) bool) rank {
	for i := range hits {
		if right(&hits[i].CorpusChunk) {
			return rank{f.pull(&c.CorpusChunk), i + 1}
		}
	}
	return rank{f.pull(&c.CorpusChunk), 0}
}

// byCode searches what makes the same point as each comment, by its code alone.
func (f *reviewFile) byCode(ctx context.Context, x *corpus.Index) ([]rank, error) {
	var ranks []rank
	for i := range f.all {
		c := &f.all[i]
		if f.precedents(&c.CorpusChunk, false) == 0 {
			continue
		}
		q := corpus.Query{Path: c.Path, Pull: c.Pull, Before: c.At, Limit: deepest, All: true}
		hits, err := x.About(ctx, &c.hunk, f.at(c), q)
		if err != nil {
			return nil, err
		}
		ranks = append(ranks, f.rank(c, hits, func(h *precedent.CorpusChunk) bool { return f.same(&c.CorpusChunk, h) }))
	}
	return ranks, nil
}

// byText searches what makes the same point as each comment, by what it says, as for a finding.
func (f *reviewFile) byText(ctx context.Context, x *corpus.Index, form func(string) string) ([]rank, error) {
	var ranks []rank
	for i := range f.all {
		c := &f.all[i]
		if f.precedents(&c.CorpusChunk, true) == 0 {
			continue
		}
		hits, err := f.matches(ctx, x, c, form)
		if err != nil {
			return nil, err
		}
		ranks = append(ranks, f.rank(c, hits, func(h *precedent.CorpusChunk) bool { return f.same(&c.CorpusChunk, h) }))
	}
	return ranks, nil
}

// matches searches for a comment as if it were a finding.
func (f *reviewFile) matches(ctx context.Context, x *corpus.Index, c *reviewed, form func(string) string) ([]corpus.Hit, error) {
	q := corpus.Query{Path: c.Path, Pull: c.Pull, Before: c.At, Limit: deepest}
	return x.Matches(ctx, &precedent.Finding{Body: form(string(c.Words))}, q)
}

func whole(s string) string { return s }

var spans = text.Pattern("`[^`\n]*`")

// withoutSpans removes the names of code, which two wordings of one point mostly share.
func withoutSpans(s string) string {
	return cmp.Or(strings.TrimSpace(spans().ReplaceAllString(s, " ")), s)
}

// The figures to beat and the targets, which are from the research behind the design. The
// figures of searches by code for precedents are of three projects, of which two are here.
var (
	ownReference = map[string]string{
		"secp256k1": "MRR 24.0", "gui": "MRR 28.9", "codereviewer-1000": "MRR 42.7, target 50",
	}
	codeReference = "MRR 21, R@10 36, target 50"
	textReference = "target R@1 93, MRR 96"
)

// refer sets the reference of the rows in use.
func (m *Precedents) refer() {
	for i := range m.Own {
		if r := &m.Own[i]; r.Way == inUse {
			r.Reference = ownReference[r.File]
		}
	}
	for i := range m.Code {
		if r := &m.Code[i]; r.File == together && r.Way == inUse {
			r.Reference = codeReference
		}
	}
	for i := range m.Text {
		if r := &m.Text[i]; r.File == together && r.Way == wholeText {
			r.Reference = textReference
		}
	}
}
