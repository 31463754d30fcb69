package prompt

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// MostPairs is the maximum number of pairs in one request to a judge.
const MostPairs = 40

// maxRemark bounds the text of one remark, in bytes.
const maxRemark = 6 << 10

// Decided is an earlier finding about which people decided.
type Decided struct {
	What   string // "accepted" or "dismissed"
	Where  string // its file, and its symbol if it is known
	Claim  string
	Reason string // of the person who dismissed it; may be empty
}

// Verify returns the prompt of a verifier of claims about one part of the change. diff
// is that part as Diff renders it. The prompt omits what the author and others say about
// the change, because the code decides; decided is what the team said about earlier
// findings. All secrets in them must be redacted.
func (s *Sheet) Verify(diff precedent.Untrusted, claims []precedent.Finding, decided []Decided) Prompt {
	var before, these []string
	for _, d := range decided {
		line := fmt.Sprintf("%s, on %s: %s", d.What, text.VisibleLine(d.Where), cleanLine(d.Claim))
		if reason := cleanProse(d.Reason); reason != "" {
			line += "\nreason: " + reason
		}
		before = append(before, line)
	}
	for i := range claims {
		these = append(these, claim(&claims[i]))
	}
	var p page
	p.list("# What the team decided before\n\nFindings of earlier reviews, in these files or like these claims, and what "+
		"people did with them.", "decided", before)
	p.list("# The claims\n\nClaims of reviewers about this part of the change, each with its id. Check every one.", "claim",
		these)
	p.language("`reason`, `title` and `body`", s.language)
	p.say(onlyJSON)
	return Prompt{
		System: load("verify.md"), Common: s.team,
		Prefix: shardPage("", strings.Trim(text.Visible(string(diff)), "\n")).render(s.nonce), Suffix: p.render(s.nonce),
	}
}

// claim renders what can be checked of a finding. It omits the confidence, which would
// only bias the verifier.
func claim(f *precedent.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id: %s\nplace: %s", f.ID, text.VisibleLine(f.String()))
	if f.Side == precedent.Left {
		b.WriteString(" of the old file")
	}
	fmt.Fprintf(&b, "\ncategory: %s\nseverity: %s\n", f.Category, f.Severity)
	if f.Rule != "" {
		fmt.Fprintf(&b, "rule: %s\n", text.VisibleLine(f.Rule))
	}
	b.WriteString("lines:\n" + limit(text.Visible(f.Quote), maxRemark) + "\n")
	fmt.Fprintf(&b, "claim: %s\n%s", cleanLine(f.Title), cleanProse(f.Body))
	if f.Breaks.Path != "" {
		fmt.Fprintf(&b, "\nbreaks %s, outside the change:\n%s", text.VisibleLine(f.Breaks.String()),
			limit(text.Visible(f.Breaks.Quote), maxRemark))
	}
	for _, e := range f.Evidence {
		fmt.Fprintf(&b, "\nevidence, %s:\n%s", text.VisibleLine(e.String()), limit(text.Visible(e.Quote), maxRemark))
	}
	return b.String()
}

// Pair is what a judge compares. All secrets in it must be redacted.
type Pair struct {
	id, shown string
	Texts     []string // what it reads of those that its quote must be from
}

// Remark is one remark about a change.
type Remark struct {
	Place       string // path:line
	Title, Body string
	Code        string // the lines that it is about; may be empty
}

// RemarkPair is two remarks that may make the same point.
func RemarkPair(id string, a, b Remark) Pair {
	return Pair{id, a.render("first remark") + "\n\n" + b.render("second remark"), append(a.texts(), b.texts()...)}
}

// CoverPair is a finding and what may cover it: what is an earlier dismissal or a directive, and where it is about;
// reason is that of a person, and may be empty.
func CoverPair(id string, finding Remark, what, claim, reason string) Pair {
	said := []string{cleanLine(claim), cleanProse(reason)}
	return Pair{id, fmt.Sprintf("%s\n\nThe %s:\n%s\n\nThe reason:\n%s", finding.render("finding"), text.VisibleLine(what),
		said[0], cmp.Or(said[1], "none was given")), said}
}

// Judge returns the prompt of a judge about at most MostPairs pairs of remarks.
func Judge(pairs []Pair) Prompt { return judgement("judge.md", pairs) }

// Covers returns the prompt of a judge about at most MostPairs pairs of CoverPair.
func Covers(pairs []Pair) Prompt { return judgement("declined.md", pairs) }

func judgement(system string, pairs []Pair) Prompt {
	var p page
	for _, one := range pairs {
		p.block("", "pair", "id: "+text.VisibleLine(one.id)+"\n\n"+one.shown)
	}
	p.say(onlyJSON)
	return Prompt{System: load(system), Suffix: p.alone()}
}

// texts returns the title, the body and the code as they are shown.
func (r Remark) texts() []string {
	return []string{cleanLine(r.Title), cleanProse(r.Body), limit(text.Visible(r.Code), maxRemark)}
}

func (r Remark) render(which string) string {
	shown := r.texts()
	s := fmt.Sprintf("The %s, on %s:\n%s\n%s", which, text.VisibleLine(r.Place), shown[0], shown[1])
	if r.Code != "" {
		s += "\n\nThe lines that it is about:\n" + shown[2]
	}
	return s
}

func cleanLine(s string) string  { return text.Collapse(text.Clean(s)) }
func cleanProse(s string) string { return limit(strings.TrimSpace(text.Clean(s)), maxRemark) }
