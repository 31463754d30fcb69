package review

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/secret"
)

// redactFindings redacts every secret in findings, including those that a model
// repeats.
func (b redactor) redactFindings(fs []precedent.Finding) {
	for i := range fs {
		f := &fs[i]
		quote, fix := f.Quote, f.Suggestion
		b.redact(&f.Quote, &f.Symbol, &f.Title, &f.Body, &f.Suggestion, &f.Sketch)
		if f.Suggestion != fix {
			setAside(f, "it contains a secret")
		}
		b.redact(&f.Breaks.Quote)
		holds := f.Category == precedent.Secrets && f.Analyzer
		for j := range f.Evidence {
			e := &f.Evidence[j]
			said := e.Quote
			if b.redact(&e.Quote); holds && e.Quote == said {
				e.Quote = redactedWhole
			}
		}
		if holds && f.Quote == quote {
			f.Quote = redactedWhole
		}
		f.Secrets = nil
	}
}

// redactedWhole replaces a line that is known to hold a secret, though alone it does
// not look it.
const redactedWhole = "[REDACTED]"

// redactReview redacts the other texts of the review: the stages quote lines, and
// verifiers, judges and failures repeat the words of models and programs.
func (b redactor) redactReview(r *precedent.Review) {
	for i := range r.Findings {
		f := &r.Findings[i]
		b.redact(&f.DroppedWhy)
		for j := range f.Trail {
			b.redact(&f.Trail[j].Text)
		}
	}
	for i := range r.Finders {
		b.redact(&r.Finders[i].Error)
	}
	for i := range r.Failures {
		b.redact(&r.Failures[i].Error)
	}
	b.redact(&r.Positive)
}

// minKnown is the minimum length of a text that is redacted wherever it occurs, in
// bytes.
const minKnown = 12

// redactor knows the secrets that the analyzers found, so that they are also redacted
// where their context does not reveal them.
type redactor struct{ known *strings.Replacer }

func newRedactor(fs []precedent.Finding, src *sources) redactor {
	rules := map[string]string{}
	for i := range fs {
		f := &fs[i]
		if f.Category != precedent.Secrets || !f.Analyzer {
			continue
		}
		var sc secret.Scanner
		for _, line := range quotesOf(f) {
			matches, _ := sc.Scan(f.Path, strings.Split(line, "\n")) // what costs too much is redacted whole
			for _, m := range matches {
				rules[m.Secret] = m.Rule
			}
		}
		for _, s := range f.Secrets {
			rules[s] = cmp.Or(rules[s], f.Rule)
			for l := range strings.SplitSeq(s, "\n") {
				rules[l] = cmp.Or(rules[l], f.Rule) // a key of several lines
			}
		}
		for _, l := range src.file(f.Side, f.Path).between(f.Start+1, f.End) {
			rules[l] = f.Rule // a key of several lines
		}
	}
	var pairs []string
	for _, s := range slices.SortedFunc(maps.Keys(rules), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	}) {
		if len(s) >= minKnown {
			pairs = append(pairs, s, "[REDACTED:"+rules[s]+"]")
		}
	}
	return redactor{strings.NewReplacer(pairs...)}
}

// quotesOf returns the lines that a finding quotes: that of the finding, and
// those of the other places that it is about.
func quotesOf(f *precedent.Finding) []string {
	quotes := []string{f.Quote}
	for _, e := range f.Evidence {
		if e.Quote != f.Quote {
			quotes = append(quotes, e.Quote)
		}
	}
	return quotes
}

func (b redactor) redact(texts ...*string) {
	for _, t := range texts {
		*t, _ = secret.Redact(b.known.Replace(*t))
	}
}
