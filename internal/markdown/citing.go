package markdown

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Citing says how a page cites what people wrote in earlier reviews. Everything is inert, but for
// one thing: a Line with PrecedentsFull names the first comment's pull request and author live.
type Citing struct {
	Display precedent.CitationDisplay // empty for PrecedentsQuiet
	Repo    precedent.Repo            // that the comments are on
	Hosts   []string                  // of the forge
	// Clean changes a text from outside before it is rendered. It may be nil.
	Clean func(string) string
}

// MaxCited limits the comments that one finding cites.
const MaxCited = 5

var (
	// plainLogin is a login that forges allow and in which nothing can be a reference.
	plainLogin = text.Pattern(`^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$`)
	// speaker begins a line of a conversation.
	speaker = text.Pattern(`^\s*@\S{1,100} \([0-9]{4}-[0-9]{2}-[0-9]{2}\): `)
	// named is a mention in an excerpt.
	named = text.Pattern(`@+[A-Za-z0-9][A-Za-z0-9._/-]*`)
)

// Precedents returns the comments among the citations that can be shown, the most similar first.
func Precedents(cites []precedent.Cite) []precedent.Cite {
	var all []precedent.Cite
	for _, c := range cites {
		if c.Precedent != nil && c.Precedent.Pull > 0 {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all,
		func(a, b precedent.Cite) int { return cmp.Compare(b.Precedent.Similarity, a.Precedent.Similarity) })
	return all[:min(len(all), MaxCited)]
}

// Line says that reviewers flagged the same before, and names the first comment; empty without
// one, and if nothing is cited.
func (c Citing) Line(cites []precedent.Cite) string {
	all := Precedents(cites)
	if len(all) == 0 || c.Display == precedent.PrecedentsOff {
		return ""
	}
	first := all[0].Precedent
	who, number := c.author(first), span(pullName(first))
	if c.Display == precedent.PrecedentsFull {
		number = fmt.Sprintf("PR #%d", first.Pull)
		if mentionable(first) {
			who = "@" + first.Author
		}
	}
	line := fmt.Sprintf("Reviewers have previously flagged this pattern (%s, %s)", number, who)
	switch more := len(all) - 1; {
	case more == 1:
		line += " and in 1 more comment"
	case more > 1:
		line += fmt.Sprintf(" and in %d more comments", more)
	}
	return line + "."
}

// Receipts describes the comments, one line each: who wrote it, where and when, an excerpt and
// its address. The address is text: a link to it would show on the pull request that it is on.
func (c Citing) Receipts(cites []precedent.Cite) []string {
	if c.Display == precedent.PrecedentsOff {
		return nil
	}
	var lines []string
	names := c.anonymous(cites)
	for _, one := range Precedents(cites) {
		p := one.Precedent
		line := "Precedent: " + c.author(p) + ", " + c.place(p, names)
		if !p.At.IsZero() {
			line += ", " + p.At.UTC().Format(time.DateOnly)
		}
		line += ", " + span(pullName(p))
		if words := c.excerpt(one.Text, names); words != "" {
			line += ": “" + words + "”"
		}
		if at, ok := c.permalink(one.URL); ok && !names.in(at) {
			line += " " + span(at)
		}
		lines = append(lines, line)
	}
	return lines
}

func pullName(p *precedent.CitedComment) string { return fmt.Sprintf("PR %d", p.Pull) }

// author names who wrote a comment.
func (c Citing) author(p *precedent.CitedComment) string {
	if c.Display == precedent.PrecedentsAnonymous || !plainLogin().MatchString(c.clean(p.Author)) {
		return "a reviewer"
	}
	return Code(p.Author)
}

// mentionable tells whether a mention tells a person and does nothing else: the account exists, no
// program obeys its name, and the name is not a reference or an address.
func mentionable(p *precedent.CitedComment) bool {
	for _, pattern := range []*regexp.Regexp{reference(), commit(), address(), urlScheme()} {
		if pattern.MatchString(p.Author) {
			return false
		}
	}
	return p.AuthorID != "" && plainLogin().MatchString(p.Author) && !agent().MatchString("@"+p.Author)
}

// place is where a comment was made.
func (c Citing) place(p *precedent.CitedComment, hidden names) string {
	switch {
	case p.Path == "":
		return "general review"
	case hidden.in(p.Path):
		return "in a file"
	case p.Line > 0:
		return "at " + Code(fmt.Sprintf("%s:%d", c.clean(p.Path), p.Line))
	}
	return "in " + Code(c.clean(p.Path))
}

// excerpt is what a comment says.
func (c Citing) excerpt(words string, hidden names) string {
	words = speaker().ReplaceAllString(words, "")
	if c.Display == precedent.PrecedentsAnonymous {
		words = named().ReplaceAllString(words, "somebody")
	}
	for _, name := range hidden {
		for range 2 { // what separates two names belongs to the first
			words = name.ReplaceAllString(words, "${1}somebody${2}")
		}
	}
	return Phrase(c.clean(words), nil, false)
}

// names match the logins of people who stay anonymous, where a login is a word.
type names []*regexp.Regexp

// anonymous returns the logins that no text may have.
func (c Citing) anonymous(cites []precedent.Cite) names {
	if c.Display != precedent.PrecedentsAnonymous {
		return nil
	}
	var all names
	for _, one := range Precedents(cites) {
		if login := strings.ToValidUTF8(one.Precedent.Author, "\ufffd"); login != "" {
			all = append(all, regexp.MustCompile(`(?i)(^|[^a-z0-9])`+regexp.QuoteMeta(login)+`($|[^a-z0-9])`))
		}
	}
	return all
}

func (n names) in(s string) bool {
	return slices.ContainsFunc(n, func(name *regexp.Regexp) bool { return name.MatchString(s) })
}

// permalink returns the address of a comment if it is on a pull request of the repository.
func (c Citing) permalink(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxCode || u.RawQuery != "" || u.EscapedPath() != path.Clean(u.Path) ||
		!leadsTo(strings.Replace(address, "http://", "https://", 1), c.Hosts) {
		return "", false
	}
	own := "/" + c.Repo.Owner + "/" + c.Repo.Name + "/"
	return address, c.clean(address) == address && fitsSpan(address) &&
		len(u.Path) > len(own) && strings.EqualFold(u.Path[:len(own)], own)
}

func (c Citing) clean(s string) string {
	if c.Clean == nil {
		return s
	}
	return c.Clean(s)
}
