package memory

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxInsight bounds the text of an insight, in characters: one sentence.
const maxInsight = 200

// describe makes text, scope and citations from counts and paths alone.
func (p *Pattern) describe(answers []answer) {
	var paths []string
	for _, m := range p.Members {
		paths = append(paths, m.Path)
	}
	p.Scope = commonScope(paths)
	p.Text = CountsOf(&p.Insight)
	rank := map[string]int{} // accepted ones first
	for _, a := range answers {
		if rank[a.finding] = 0; a.accepted {
			rank[a.finding] = -1
		}
	}
	best := slices.Clone(p.Members)
	slices.SortStableFunc(best, func(a, b store.Appearance) int {
		return cmp.Compare(rank[a.Fingerprint],
			rank[b.Fingerprint])
	})
	p.Citations = nil
	for _, m := range best[:min(len(best), maxCitations)] {
		p.Citations = append(p.Citations, m.ID)
	}
	slices.Sort(p.Citations)
}

// CountsOf is the text of an insight that no model has named: its scope and its counts.
func CountsOf(i *precedent.Insight) string {
	where := "All files"
	if i.Scope != "" {
		where = pathInLine(i.Scope)
	}
	in := plural(len(i.PullRequests), "pull request")
	if len(i.PullRequests) < i.Changes {
		in = plural(i.Changes, "change")
	}
	return fmt.Sprintf("%s: %d %s findings in %s", where, len(i.Findings), text.VisibleLine(string(i.Category)), in)
}

// commonScope returns what all paths have in common: one path, the files of a folder, or an
// extension; empty if nothing is.
func commonScope(paths []string) string {
	first := paths[0]
	dir, one := path.Dir(first), true
	ext := path.Ext(first)
	for _, p := range paths {
		one = one && p == first
		for dir != "." && !guide.AtOrBelow(dir, p) {
			dir = path.Dir(dir)
		}
		if path.Ext(p) != ext {
			ext = ""
		}
	}
	glob := "*" + ext
	switch {
	case one:
		return first
	case dir != "." && dir != "/":
		glob = guide.Literal(dir+"/") + "**"
	case ext == "":
		return ""
	}
	if guide.CheckGlob(glob) != nil {
		return ""
	}
	return glob
}

// InsightName is a model's name for a pattern.
type InsightName struct {
	Pattern  string   `json:"pattern"` // as it was asked
	Text     string   `json:"text"`
	Scope    string   `json:"scope"`
	Findings []string `json:"findings"` // ids that it cites
}

// ReadInsightNames returns a model's names by pattern. Of two for one pattern the first counts.
func ReadInsightNames(raw json.RawMessage) (map[string]InsightName, error) {
	var all struct {
		Insights []InsightName `json:"insights"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("read insights: %w", err)
	}
	names := map[string]InsightName{}
	for _, n := range all.Insights {
		if _, twice := names[n.Pattern]; !twice {
			names[n.Pattern] = n
		}
	}
	return names, nil
}

// Rename gives the pattern the text, the scope and the citations of a model. It refuses all of
// them if one does not hold: citations that are not of this pattern or fewer than two, a text
// that is not one plain sentence about code, a scope that is not a glob or leaves out a cited
// file. An error says why; then the pattern keeps what it has.
func (p *Pattern) Rename(n InsightName) error {
	cited := unique(n.Findings)
	if len(cited) < minChanges {
		return errors.New("it cites fewer than two findings")
	}
	sentence, err := PlainSentence(n.Text)
	if err != nil {
		return err
	}
	scope := cleanGlob(n.Scope)
	if scope != "" {
		if err := guide.CheckGlob(scope); err != nil {
			return err
		}
	}
	for _, id := range cited {
		at := slices.IndexFunc(p.Members, func(m store.Appearance) bool { return m.ID == id })
		switch {
		case at < 0:
			return fmt.Errorf("it cites %q, which is not a finding of the pattern", text.Cut(text.VisibleLine(id), maxWho))
		case !inFiles(scope, p.Members[at].Path):
			return errors.New("its scope leaves out a finding that it cites")
		}
	}
	p.Text, p.Scope, p.Citations, p.Engine = sentence, scope, cited[:min(len(cited), maxCitations)], true
	return nil
}

// PlainSentence returns a model's sentence, cleaned. Its words come from titles, which the
// author of a change can influence, and finders read it. So code, links, mentions, secrets and
// what addresses a reader are refused; it is fenced in prompts, too, and decides nothing.
func PlainSentence(s string) (string, error) {
	s = text.Collapse(text.Clean(s))
	if _, secrets := secret.Redact("", s); secrets > 0 {
		return "", errors.New("its text has a secret")
	}
	switch {
	case s == "" || !text.Proves(s):
		return "", errors.New("it has no text")
	case utf8.RuneCountInString(s) > maxInsight:
		return "", fmt.Errorf("its text has more than %d characters", maxInsight)
	case text.VisibleLine(s) != s:
		return "", errors.New("its text has hidden characters")
	case noSentence().MatchString(s):
		return "", errors.New("its text is not one plain sentence")
	case addressed().MatchString(s):
		return "", errors.New("its text addresses a reader")
	}
	return s, nil
}

// noSentence matches code, markup, links, mentions, and the beginning of a second sentence.
var noSentence = text.Pattern("[`<>{}|;=\\\\$#@\\[\\]*_~^]|\\(\\)|://|www\\.|[.!?]\\s+\\S")

// addressed matches words of instructions to a reader.
var addressed = text.Pattern(`(?i)^(do not|don't|don’t|never|always)\b|\b(ignor(e|ing)|disregard|skip|overlook|(not|don't|don’t|never) (report|flag|mention|review)|(report|flag) (no|nothing)|please|you|your|instructions?|prompt|assistant|reviewers?|finders?|verifier|approve|approved|verdict|severity|confidence|trusted|override)\b`)
