package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// Precedents are what a review knows of the comments that people wrote on earlier pull requests.
// The zero value is that of a repository without any.
type Precedents struct {
	// Index finds comments; nil if there are none, or if they are not used.
	Index *corpus.Index
	// Query limits the comments to earlier ones of other pull requests.
	Query corpus.Query
	// Priming is what finders are told.
	Priming corpus.Priming
	// Failures are what went wrong before the review, each in a sentence.
	Failures []string
}

// Limits of citations.
const (
	mostCited  = 5   // comments that one finding cites, and that a judge compares with it
	citeDepth  = 20  // hits of a search, of which several can be of one comment
	maxExcerpt = 200 // characters
	maxQuoted  = 300 // characters of a quote
)

// precedentStep is the step of decisions about comments of people.
const precedentStep = "precedents"

// use returns what a review begins with, and the failures that it lists.
func (p *Precedents) use() (use precedent.CorpusUse, failures []precedent.Failure) {
	use.Searched = p.Priming.Searched
	if p.Index != nil && use.Searched == 0 {
		use.Searched = p.Index.Len()
	}
	for _, what := range p.Failures {
		what = secret.RedactText(what)
		if slices.Contains(use.Failures, what) {
			continue
		}
		use.Failures = append(use.Failures, what)
		failures = append(failures, precedent.Failure{Step: precedentStep, Error: what})
	}
	return use, failures
}

// hitPair is a finding and a comment that may make the same point.
type hitPair struct {
	finding *precedent.Finding
	hit     corpus.Hit
	rank    int    // of the comment among those of the finding, from 0
	judged  bool   // by a judge of this review
	quote   string // by which a judge found the same point
	same    bool
}

// citePrecedents cites with the findings that may be shown what people wrote before that makes the
// same point: by the similarity of the texts, or by a judge that is asked once about all that
// are less similar. It changes no confidence and drops nothing: that people made a point before
// does not prove it here.
func (x *reader) citePrecedents(ctx context.Context) {
	r, in := x.r, x.in
	use := &r.Memory.PrecedentUse
	against := in.objections()
	found := map[*precedent.Finding][]*hitPair{}
	var doubts []*hitPair
	unsearched, failed := 0, error(nil)
	limited, cancel := context.WithTimeout(ctx, citeTime)
	defer cancel()
	if failure := in.embed(limited, r.Findings); failure != "" {
		x.failures = append(x.failures, precedent.Failure{Step: precedentStep, Error: failure})
		use.Failures = append(use.Failures, failure)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		earlier := takePrecedents(f)
		if in.Precedents.Index == nil || !in.mayCite(f) {
			continue
		}
		if limited.Err() != nil {
			unsearched++
			continue
		}
		var err error
		if found[f], err = in.matches(limited, f); err != nil {
			unsearched++
			failed = cmp.Or(failed, err)
			continue
		}
		for _, p := range found[f] {
			if p.same = p.hit.Strength() == corpus.Strong || p.quotedIn(earlier); !p.same && in.mayAsk(f) {
				if _, declined := against.to(f.Basis, p.hit.At); !declined {
					doubts = append(doubts, p)
				}
			}
		}
	}
	if unsearched > 0 && ctx.Err() == nil {
		x.fail(precedentStep, countWas(unsearched, "finding")+" not compared with the comments of people",
			cmp.Or(failed, errTooSlow))
		use.Failures = append(use.Failures, x.failures[len(x.failures)-1].Error)
	}
	if failure := x.judgePrecedents(ctx, doubts); failure != "" {
		use.Failures = append(use.Failures, failure)
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; len(found[f]) > 0 {
			x.keepMatches(f, found[f])
			citeMatches(f, against)
		}
	}
}

// citeTime bounds the searches of one review. A search takes milliseconds, but for the vectors of
// a slow embedding endpoint.
const citeTime = 30 * time.Second

var errTooSlow = errors.New("the search took too long")

// embed gets the vectors of the findings that may cite, in one request. It returns what the
// review goes on without.
func (in *Input) embed(ctx context.Context, findings []precedent.Finding) string {
	var all []*precedent.Finding
	for i := range findings {
		if in.mayCite(&findings[i]) {
			all = append(all, &findings[i])
		}
	}
	if in.Precedents.Index == nil || len(all) == 0 {
		return ""
	}
	return secret.RedactText(in.Precedents.Index.EmbedFindings(ctx, all, in.Precedents.Query))
}

// mayCite reports whether a finding may be shown.
func (in *Input) mayCite(f *precedent.Finding) bool {
	return f.Live() && f.Basis != nil && in.shows(f)
}

// mayAsk reports whether a judge may be asked about a finding. What an analyzer found is worded by a
// program, and what is in a thread, or was compared by the last review, is not shown anew.
func (in *Input) mayAsk(f *precedent.Finding) bool {
	return in.Engine != nil && !f.Analyzer && !f.Kept && (f.Thread == "" || in.Last != nil)
}

// matches returns the best comments for a finding, each once: those that are certain first.
func (in *Input) matches(ctx context.Context, f *precedent.Finding) ([]*hitPair, error) {
	q := in.Precedents.Query
	q.Path, q.Limit = f.Path, citeDepth
	var pairs []*hitPair
	seen := map[string]bool{}
	hits, err := in.Precedents.Index.Matches(ctx, f, q)
	for _, h := range hits {
		id := commentID(&h.CorpusChunk)
		if h.Strength() == corpus.Weak || seen[id] {
			continue
		}
		seen[id] = true
		pairs = append(pairs, &hitPair{finding: f, hit: h})
	}
	slices.SortStableFunc(pairs, func(a, b *hitPair) int { return cmp.Compare(b.hit.Strength(), a.hit.Strength()) })
	pairs = pairs[:min(len(pairs), mostCited)]
	for i, p := range pairs {
		p.rank = i
	}
	return pairs, err
}

// commentID identifies a comment within its repository.
func commentID(c *precedent.CorpusChunk) string { return c.Kind + ":" + string(c.ID) }

// takePrecedents removes the comments that a finding cites, and returns them.
func takePrecedents(f *precedent.Finding) []precedent.Cite {
	is := func(c precedent.Cite) bool { return c.Kind == precedent.CitesPrecedent }
	if !slices.ContainsFunc(f.Cites, is) {
		return nil
	}
	var taken, rest []precedent.Cite
	for _, c := range f.Cites {
		if is(c) {
			taken = append(taken, c)
		} else {
			rest = append(rest, c)
		}
	}
	f.Cites = rest
	return taken
}

// keepMatches records the comments that make the same point, best first, and how many a judge
// compared.
func (x *reader) keepMatches(f *precedent.Finding, own []*hitPair) {
	f.Basis.Matches = nil
	judged, same := 0, 0
	for _, p := range own {
		if p.judged {
			judged++
			if p.same {
				same++
			}
		}
		if !p.same {
			continue
		}
		m := precedent.CorpusMatch{Cite: p.cite()}
		x.secrets.redact(&m.Text, &m.Precedent.Quote)
		m.Why = p.why(m.Precedent.Quote)
		x.secrets.redact(&m.Why)
		f.Basis.Matches = append(f.Basis.Matches, m)
	}
	if judged > 0 {
		f.Note(precedentStep, "a judge found the same point in %d of %d comments of people that it compared", same, judged)
	}
}

// cite returns how a finding cites the comment.
func (p *hitPair) cite() precedent.Cite {
	h := &p.hit
	return precedent.Cite{
		Kind: precedent.CitesPrecedent, ID: commentID(&h.CorpusChunk), Text: text.Cut(oneLine(words(&h.CorpusChunk)),
			maxExcerpt), URL: h.URL,
		Precedent: &precedent.CitedComment{
			Pull: h.Pull, AuthorID: h.AuthorID, Author: h.Author, At: h.At, Path: h.Path, Line: h.End, Kind: h.Kind,
			Similarity: h.Cosine, Quote: text.Cut(oneLine(p.quote), maxQuoted),
		},
	}
}

// words returns what a person wrote, without quotes, suggestions and addresses if there is more.
func words(c *precedent.CorpusChunk) string { return cmp.Or(string(c.Words), string(c.Body)) }

// why says why the comment makes the same point.
func (p *hitPair) why(quote string) string {
	h := &p.hit
	why := fmt.Sprintf("%s made the same point on pull request %d on %s: similarity %.2f", cmp.Or(h.Author, "somebody"),
		h.Pull, h.At.UTC().Format(time.DateOnly), h.Cosine)
	if quote != "" {
		why += fmt.Sprintf(", and a judge found it in “%s”", quote)
	}
	var ranks []string
	for _, r := range h.Ranks {
		ranks = append(ranks, fmt.Sprintf("%d by %s", r.Rank, r.List))
	}
	if len(ranks) > 0 {
		why += "; rank " + strings.Join(ranks, ", ")
	}
	return why
}

// citedPrecedents returns the comments that the live findings cite, each once.
func citedPrecedents(fs []precedent.Finding) []precedent.Cite {
	var cited []precedent.Cite
	seen := map[string]bool{}
	for i := range fs {
		for _, c := range fs[i].Cites {
			if c.Kind == precedent.CitesPrecedent && fs[i].Live() && !seen[c.ID] {
				seen[c.ID] = true
				cited = append(cited, c)
			}
		}
	}
	return cited
}
