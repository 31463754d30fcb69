package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// ruling is a verifier's answer about one finding.
type ruling struct {
	Finding    string          `json:"finding"`
	Verdict    precedent.Check `json:"verdict"`
	Confidence *int            `json:"confidence"`
	Reason     string          `json:"reason"`
	Evidence   []quotation     `json:"evidence"`
	// Title and Body replace those of a finding that holds only in part, and Severity that of its finder.
	Title    string             `json:"title"`
	Body     string             `json:"body"`
	Severity precedent.Severity `json:"severity"`
	// Now tells whether the finding is worth a change of this pull request; nil if the verifier does not say.
	Now *bool `json:"now"`
}

// quotation is a quote of a file, at the head unless At is "base".
type quotation struct {
	Path  string `json:"path"`
	At    string `json:"at"`
	Line  int    `json:"line"`
	Quote string `json:"quote"`
}

// readVerdicts returns the rulings by finding id. If there are several about one
// finding, the first counts, unless they contradict each other.
func readVerdicts(r reply) (map[string]ruling, error) {
	answer, err := readReply[struct {
		Verdicts []ruling `json:"verdicts"`
	}](&r, "verdicts")
	if err != nil {
		return nil, err
	}
	byID := map[string]ruling{}
	for _, v := range answer.Verdicts {
		id := strings.TrimSpace(v.Finding)
		first, twice := byID[id]
		switch {
		case !twice:
			byID[id] = v
		case first.Verdict != v.Verdict:
			byID[id] = ruling{
				Finding: id, Verdict: precedent.Uncertain,
				Reason: fmt.Sprintf("the verifier contradicts itself: it answered %s and %s", first.Verdict, v.Verdict),
			}
		}
	}
	return byID, nil
}

// applyTo applies the ruling to the finding, and returns the quote that refuted it. A
// confirmation needs quotes that are in the files, and so does a refutation of a severe
// finding or in a protected category, whose quotes must also be about the finding's own
// code; others need a reason. A verdict without what it needs counts as uncertain. Then
// a severe finding keeps the threshold if it reached it, and says that the verifier
// disagrees. In a protected category such a refutation does not even lower a milder one,
// so that a change cannot talk its verifier into hiding it.
func (v ruling) applyTo(f *precedent.Finding, p *Placer, src *sources, b redactor) (proof precedent.Evidence) {
	holds := v.quotes(p, src)
	guarded := f.Category.Protected() || isSevere(f.Severity)
	denies := v.Verdict == precedent.Denied && guarded
	if guarded {
		holds = slices.DeleteFunc(holds, func(e precedent.Evidence) bool { return onlyComment(e.Quote) })
	}
	offered := len(holds)
	if denies {
		proves := src.bears
		if isSevere(f.Severity) {
			proves = src.disproves
		}
		holds = slices.DeleteFunc(holds, func(e precedent.Evidence) bool { return !proves(f, e) })
	}
	said := text.Cut(oneLine(v.Reason), maxReason)
	reason := said
	if len(holds) > 0 {
		reason += fmt.Sprintf(" (%s)", holds[0])
	}
	f.Verifier = v.Verdict
	if but := v.doubt(offered, len(holds), denies); but != "" {
		f.Verifier = precedent.Uncertain
		reason = fmt.Sprintf("%s, but %s: %s", v.Verdict, but, reason)
	}
	d := precedent.Decision{Step: "verify", Text: string(f.Verifier) + ": " + reason}
	switch f.Verifier {
	case precedent.Denied:
		f.Drop("verify", precedent.Refuted, "", "refuted: %s", reason)
		if len(holds) > 0 {
			return holds[0]
		}
		return precedent.Evidence{}
	case precedent.Uncertain:
		d.Delta = deltaOfUncertain(f, denies && len(holds) == 0)
	}
	f.Decide(d)
	switch {
	case f.Verifier == precedent.Confirmed:
		v.amend(f, b)
		v.restate(f)
	case v.Verdict == precedent.Denied && isSevere(f.Severity):
		b.redact(&said)
		addText(f, "Disputed: the verifier disagrees, without a quote that proves it: "+said)
	}
	return precedent.Evidence{}
}

// addText adds a paragraph to the body of a finding.
func addText(f *precedent.Finding, s string) { f.Body = text.Cut(f.Body+"\n\n"+s, maxBody+maxReason) }

// quotes returns the quotes of the ruling that are in the files.
func (v ruling) quotes(p *Placer, src *sources) []precedent.Evidence {
	var offered []precedent.Evidence
	for _, q := range v.Evidence[:min(len(v.Evidence), maxEvidence)] {
		e := precedent.Evidence{Path: q.Path, Line: q.Line, Quote: q.Quote}
		if q.At == "base" {
			e.Side = precedent.Left
		}
		offered = append(offered, e)
	}
	return verifiedEvidence(offered, p, src)
}

// doubt returns why a verdict counts as uncertain, or "" if it counts. offered is the
// number of its quotes that are in the files, and holds that of those that may prove it.
// denies tells that it needs a quote to refute.
func (v ruling) doubt(offered, holds int, denies bool) string {
	switch {
	case v.Verdict == precedent.Uncertain:
		return ""
	case v.Confidence != nil && *v.Confidence < sureFrom:
		return fmt.Sprintf("only %d %% sure", *v.Confidence)
	case len(v.Evidence) > 0 && offered == 0:
		return "its evidence is not in the files, or is only comments or punctuation"
	case offered > 0 && holds == 0:
		return "its evidence does not prove it"
	case holds == 0 && (denies || v.Verdict == precedent.Confirmed):
		return "without evidence"
	case v.Verdict == precedent.Denied && !text.Proves(v.Reason):
		return "without a reason"
	}
	return ""
}

// amend replaces the text of a finding that holds only in part. The trail keeps what the
// finder wrote. The text of a severe finding stays, and what the verifier wrote is added:
// nothing checks that the new text still makes the claim.
func (v ruling) amend(f *precedent.Finding, b redactor) {
	title, body := cleanTitle(v.Title), cleanBody(v.Body)
	b.redact(&title, &body)
	if !text.Proves(title) {
		title = f.Title
	}
	if !text.Proves(body) {
		body = f.Body
	}
	if title == f.Title && body == f.Body {
		return
	}
	if isSevere(f.Severity) {
		for _, s := range []string{title, body} {
			if s != f.Title && s != f.Body {
				addText(f, "The verifier adds: "+s)
			}
		}
		f.Note("verify", "the verifier adds: %s: %s", title, body)
		return
	}
	f.Note("verify", "amended by the verifier; %s wrote: %s: %s", f.Finder, f.Title, f.Body)
	f.Title, f.Body = title, body
}

// restate sets the severity of a confirmed finding, and whether it is worth a change now or can wait. One that was severe or is in a
// protected category stays at least medium, which is never folded for its severity, and cannot wait: a change must
// not talk its verifier into hiding it.
func (v ruling) restate(f *precedent.Finding) {
	guarded := isSevere(f.Severity) || f.Category.Protected()
	to := v.Severity
	if guarded && !to.AtLeast(precedent.Medium) && f.Severity.AtLeast(precedent.Medium) {
		to = precedent.Medium
	}
	if slices.Contains(precedent.Severities, v.Severity) && to != f.Severity {
		f.Note("verify", "severity %s, in place of the finder's %s", to, f.Severity)
		f.Severity = to
	}
	if v.Now == nil { // teams mostly leave these: of 21 confirmed ones, none was worth a change
		f.Later = !guarded && slices.Contains([]precedent.Category{precedent.Tests, precedent.Style}, f.Category)
		return
	}
	f.Now, f.Later = *v.Now, !guarded && !*v.Now
}

// comment matches a line that is a comment in a common language. What a change says
// about itself proves nothing.
var comment = text.Pattern(`^\s*(//|#|--|/?\*|<!--|;|%|"""|\x27\x27\x27|rem\b|REM\b)`)

// onlyComment reports whether all lines of a quote are comments.
func onlyComment(quote string) bool {
	for l := range strings.Lines(quote) {
		if strings.TrimSpace(l) != "" && !comment().MatchString(l) {
			return false
		}
	}
	return true
}
