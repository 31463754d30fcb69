package review

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/secret"
)

// redactFindings redacts every secret in findings, including those that a model
// repeats.
func (b redactor) redactFindings(fs []precedent.Finding) {
	for i := range fs {
		f := &fs[i]
		quote, fix := f.Quote, f.Suggestion
		b.redactLines(f.Path, &f.Quote, &f.Suggestion, &f.Sketch)
		b.redact(&f.Symbol, &f.Title, &f.Body)
		if f.Suggestion != fix {
			setAside(f, "it contains a secret")
		}
		b.redactLines(f.Breaks.Path, &f.Breaks.Quote)
		holds := f.Category == precedent.Secrets && f.Analyzer
		for j := range f.Evidence {
			e := &f.Evidence[j]
			said := e.Quote
			if b.redactLines(e.Path, &e.Quote); holds && e.Quote == said {
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

// minMixed is the same for a text of letters and digits.
const minMixed = 8

// redactor knows the secrets of the change and of the files that findings are about, so
// that they are also redacted where their context does not reveal them: a model that has
// seen a password can name it in any sentence.
type redactor struct{ known *strings.Replacer }

func newRedactor(fs []precedent.Finding, src *sources) redactor {
	known := knownSecrets{}
	var sc secret.Scanner
	for _, path := range slices.Sorted(maps.Keys(src.change)) {
		for h := range src.change[path].Hunks {
			hunk := &src.change[path].Hunks[h]
			known.addAll(src.secrets().Leaving(hunk))
			for i := range hunk.Lines {
				known.addPrivate(path, hunk.Lines[i].Text)
			}
		}
	}
	read := map[sideKey]bool{}
	for i := range fs {
		f := &fs[i]
		for _, e := range append([]precedent.Evidence{f.Breaks}, f.Evidence...) {
			key := sideKey{src.nameOn(e.Side, e.Path), e.Side}
			if e.Path == "" || read[key] || len(read) == maxRead {
				continue
			}
			read[key] = true
			if data, err := src.read(key.side, key.path); err == nil {
				known.scan(&sc, key.path, strings.Split(string(data), "\n"))
			}
		}
		if f.Category != precedent.Secrets || !f.Analyzer {
			continue
		}
		for _, line := range quotesOf(f) {
			known.scan(&sc, f.Path, strings.Split(line, "\n"))
		}
		for _, s := range f.Secrets {
			known.add(s, f.Rule)
		}
		for _, l := range src.file(f.Side, f.Path).between(f.Start+1, f.End) {
			known.add(l, f.Rule) // a key of several lines
		}
	}
	return redactor{known.replacer()}
}

// maxRead limits how many files outside the change are read for their secrets.
const maxRead = 100

// knownSecrets are the values to redact wherever they occur, with the rule that each
// matched.
type knownSecrets map[string]string

// scan adds the secrets in lines of a file. What costs too much to scan is redacted
// whole elsewhere.
func (k knownSecrets) scan(sc *secret.Scanner, path string, lines []string) {
	matches, _ := sc.Outgoing(path, lines)
	k.addAll(matches)
	k.addPrivate(path, lines...)
}

func (k knownSecrets) addAll(matches []secret.Match) {
	for _, m := range matches {
		k.add(m.Secret, m.Rule)
	}
}

// addPrivate adds the values of a file that holds credentials: a model has not seen it, but
// may guess what is there.
func (k knownSecrets) addPrivate(path string, lines ...string) {
	if !secret.Private(path) {
		return
	}
	for _, l := range lines {
		_, value, _ := strings.Cut(l, "=")
		k.add(value, "private-file")
	}
}

// add adds a secret, each line of it, and the value alone if quotes or a name are part
// of the match.
func (k knownSecrets) add(s, rule string) {
	for l := range strings.SplitSeq(s, "\n") {
		l = strings.Trim(l, " \t\r\"'`")
		_, value, _ := strings.Cut(l, ": ")
		for _, v := range []string{s, l, strings.Trim(value, " \"'")} {
			if len(v) >= minKnown || len(v) >= minMixed && strings.ContainsAny(v, "0123456789") &&
				strings.ContainsFunc(v, unicode.IsLetter) {
				k[v] = cmp.Or(k[v], rule)
			}
		}
	}
}

// replacer replaces the longest secrets first.
func (k knownSecrets) replacer() *strings.Replacer {
	var pairs []string
	for _, s := range slices.SortedFunc(maps.Keys(k), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	}) {
		pairs = append(pairs, s, "[REDACTED:"+k[s]+"]")
	}
	return strings.NewReplacer(pairs...)
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

// redact redacts the words of models and programs.
func (b redactor) redact(texts ...*string) {
	for _, t := range texts {
		*t = secret.RedactText(b.known.Replace(*t))
	}
}

// redactLines redacts lines of a file.
func (b redactor) redactLines(path string, texts ...*string) {
	for _, t := range texts {
		*t = redactedQuote(path, b.known.Replace(*t))
	}
}
