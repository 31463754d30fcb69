package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// maxRechecked limits the comments that are read again before a review is posted, each with a request.
const maxRechecked = 50

// precedentsStep is the step of failures about comments of people.
const precedentsStep = "precedents"

// recheck reads each comment that the findings cite again, and takes away the citations that do not hold any
// more: the comment was deleted, or does not say any more what is quoted. Deletions are recorded in the
// corpus. What cannot be read is not cited either. The review says what is missing, and its findings stay.
func (p *Publisher) recheck(ctx context.Context, r *precedent.Review) {
	c := rechecker{Publisher: p, known: map[string]verdictOnCite{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		cited := 0
		f.Cites = slices.DeleteFunc(slices.Clone(f.Cites), func(one precedent.Cite) bool {
			if one.Kind != precedent.CitesPrecedent {
				return false
			}
			if cited++; cited > markdown.MaxCited {
				return true
			}
			v := c.ask(ctx, one)
			if v.why != "" {
				f.Note("cite", "does not cite the comment %s: %s", one.ID, v.why)
			}
			return v.why != ""
		})
		if f.Basis != nil { // what is decided again later cites it no more
			f.Basis.Matches = slices.DeleteFunc(slices.Clone(f.Basis.Matches),
				func(m precedent.CorpusMatch) bool { return c.known[m.ID].why != "" })
		}
		for k := range f.Cites {
			if v, ok := c.known[f.Cites[k].ID]; ok && f.Cites[k].Precedent != nil {
				source := *f.Cites[k].Precedent // not that of the basis
				source.Author = cmp.Or(v.author, source.Author)
				f.Cites[k].URL, f.Cites[k].Precedent = cmp.Or(v.url, f.Cites[k].URL), &source
			}
		}
	}
	c.tell(ctx, r)
}

// rechecker reads comments again, each once.
type rechecker struct {
	*Publisher
	known    map[string]verdictOnCite // by the id of the cite
	requests int
	stopped  string // why no further comment is read
	gone     int    // comments that were deleted or do not hold
	unread   int    // comments that could not be read
	failed   string // why
}

// verdictOnCite says whether a comment can be cited.
type verdictOnCite struct {
	why         string // why not; empty if it can
	author, url string // as they are now; may be empty
}

func (c *rechecker) ask(ctx context.Context, one precedent.Cite) verdictOnCite {
	if v, ok := c.known[one.ID]; ok {
		return v
	}
	v, err := c.read(ctx, one)
	switch {
	case err != nil:
		v.why = "it could not be read again: " + err.Error()
		c.unread++
		c.failed = cmp.Or(c.failed, err.Error())
	case v.why != "":
		c.gone++
	}
	c.known[one.ID] = v
	return v
}

var (
	errNoSource = errors.New("its source is not known")
	errTooMany  = fmt.Errorf("only %d comments are read again", maxRechecked)
)

func (c *rechecker) read(ctx context.Context, one precedent.Cite) (verdictOnCite, error) {
	from := one.Precedent
	kind, id, ok := strings.Cut(one.ID, ":")
	switch {
	case !ok || from == nil || kind != from.Kind:
		return verdictOnCite{}, errNoSource
	case c.stopped != "":
		return verdictOnCite{}, errors.New(c.stopped)
	case c.requests >= maxRechecked:
		return verdictOnCite{}, errTooMany
	}
	c.requests++
	pull := c.Pull
	ref := forge.CommentRef{Kind: forge.CommentKind(kind), ID: precedent.ForgeID(id)}
	now, err := pull.Conn.ReadComment(ctx, pull.Repo.Repo, from.Pull, ref)
	switch {
	case forge.KindOf(err) == forge.KindNotFound:
		c.forget(ctx, ref)
		return verdictOnCite{why: "it was deleted"}, nil
	case err != nil:
		if forge.KindOf(err) != forge.KindRefused {
			c.stopped = err.Error() // the next one would fail in the same way
		}
		return verdictOnCite{}, err
	case from.AuthorID != "" && now.Author.ID != from.AuthorID:
		return verdictOnCite{why: "somebody else wrote it"}, nil
	case !corpus.Says(string(now.Body), one.Text):
		return verdictOnCite{why: "it was edited and does not say this any more"}, nil
	}
	return verdictOnCite{author: now.Author.Login, url: now.URL}, nil
}

func (c *rechecker) forget(ctx context.Context, ref forge.CommentRef) {
	kept := corpus.Corpus{Rows: c.Rows, Now: c.Pull.Env.Now}
	if _, err := kept.Delete(ctx, kept.Now(), store.CorpusRef{Kind: string(ref.Kind), ID: ref.ID}); err != nil &&
		!errors.Is(err, store.ErrUnwritable) {
		c.Pull.Env.Notice(ctx, "%v; a deleted comment stays in the corpus until the next sync", err)
	}
}

// tell says in the review what is not cited, and counts what is.
func (c *rechecker) tell(ctx context.Context, r *precedent.Review) {
	if c.requests == 0 && c.unread == 0 {
		return
	}
	r.Memory.Precedents = slices.DeleteFunc(slices.Clone(r.Memory.Precedents),
		func(one precedent.Cite) bool { return c.known[one.ID].why != "" })
	r.Memory.PrecedentUse.Cited = len(r.Memory.Precedents)
	var said []string
	if c.gone > 0 {
		said = append(said, workspace.Count(c.gone, "comment is",
			"comments are")+" not cited: deleted or edited since the corpus was synced")
	}
	if c.unread > 0 {
		said = append(said, fmt.Sprintf("%s not cited, because they could not be read again: %s",
			workspace.Count(c.unread, "comment is", "comments are"), c.failed))
	}
	for _, what := range said {
		c.Pull.Env.Notice(ctx, "%s", what)
		r.Memory.PrecedentUse.Failures = append(slices.Clip(r.Memory.PrecedentUse.Failures), what)
		r.Failures = append(slices.Clip(r.Failures), precedent.Failure{Step: precedentsStep, Error: what})
	}
}
