package guide

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of what one guide file can demand.
const (
	maxRules     = 200 // of one file
	maxRuleRunes = 300 // characters of one rule
)

// Rules reads the rules of one guide file without a model: list items, table
// cells and sentences that a change to the repository can break. Code blocks,
// lists of links, commands to run and advice about behaviour hold none. The
// first 200 are kept. A rule's id depends on its text and file alone.
func Rules(p, src string) []precedent.Rule {
	dir, _ := guideDir(p)
	k := kindOf(p)
	var rules []precedent.Rule
	seen := map[string]bool{}
	for _, s := range statements(src, path.Ext(p) != ".md") {
		if !judge(s, k) {
			continue
		}
		t := shorten(s.text)
		id := ruleID(p, t)
		if seen[id] {
			continue
		}
		seen[id] = true
		rules = append(rules, precedent.Rule{ID: id, Text: t, Category: categoryOf(s), Source: p, Line: s.line, Dir: dir})
		if len(rules) == maxRules {
			break
		}
	}
	return rules
}

func ruleID(source, text string) string {
	sum := sha256.Sum256([]byte(source + "\x00" + text))
	return hex.EncodeToString(sum[:4])
}

// shorten keeps the leading sentences of a rule that fit, or a cut of the first.
func shorten(s string) string {
	if utf8.RuneCountInString(s) <= maxRuleRunes {
		return s
	}
	var kept string
	for _, part := range (&reader{}).sentences(s) {
		if utf8.RuneCountInString(s[:part[1]]) > maxRuleRunes {
			break
		}
		kept = s[:part[1]]
	}
	if kept != "" {
		return kept
	}
	return text.Cut(s, maxRuleRunes)
}

// A kind says how a guide file speaks.
type kind int

const (
	directives kind = iota // written for an assistant: its lists are rules
	prose                  // written for people: few of its sentences are
)

func kindOf(p string) kind {
	switch path.Base(p) {
	case "CONTRIBUTING.md", "ARCHITECTURE.md":
		return prose
	}
	return directives
}

// judge tells whether a change can break what the statement says.
func judge(s statement, k kind) bool {
	if s.link || len(s.text) < 8 || strings.HasSuffix(s.text, ":") || strings.HasSuffix(s.text, "?") {
		return false
	}
	if foreign(s.text) {
		return s.item && k == directives && containsAny(s.text, foreignMarks)
	}
	c := newClaim(s.text)
	f := c.force()
	if f == none || c.verb == len(c.words) || len(c.words) < 2 || len(c.words) < 3 && (f < imperative || !s.item) {
		return false
	}
	where := placeAmong(s.sections)
	switch {
	case where == idle, c.behaves(), f != binding && c.describes(), s.heading && f == imperative && c.ambiguous():
		return false
	case s.item && where == ruling:
		return k == directives || c.breakable()
	case k == prose || !s.item:
		return f >= imperative && c.breakable() && (where != telling || f == binding)
	case where == telling:
		return f == binding
	case where == fitting:
		return true
	}
	return f >= imperative
}

// A claim is a statement taken apart.
type claim struct {
	masked string   // the text with each code span as "`"
	body   string   // masked behind its labels: "Naming: "
	words  []string // of masked, in lower case
	spoken string   // the words with a space around each
	verb   int      // index of the word that says what to do, or len(words)
}

func newClaim(s string) claim {
	var b strings.Builder
	for i, part := range strings.Split(s, "`") {
		if i%2 == 1 {
			part = "`"
		}
		b.WriteString(part)
	}
	c := claim{masked: b.String()}
	c.words = wordsOf(c.masked)
	c.spoken = spokenOf(c.words)
	c.verb = verbOf(c.words, 0)
	c.body = c.masked
	for range 3 {
		label, rest, ok := strings.Cut(c.body, ": ")
		if !ok || len(label) > 80 || rest == "" {
			break
		}
		c.body = rest
		if v := verbOf(c.words, len(c.words)-len(wordsOf(rest))); v < len(c.words) && (imperatives[c.words[v]] || actions[c.words[v]]) {
			c.verb = v
		}
	}
	return c
}

// verbOf is the index, from one on, of the first word that is no opener.
func verbOf(words []string, from int) int {
	for i := from; i < len(words); i++ {
		switch w := words[i]; {
		case w == "make" && i+1 < len(words) && words[i+1] == "sure":
			i++
		case !openers[w] && (w[0] < '0' || w[0] > '9'):
			return i
		}
	}
	return len(words)
}

// A force is how strongly a statement demands.
type force int

const (
	none       force = iota
	customary        // names a habit: "4 spaces", "camelCase for variables"
	imperative       // starts with what to do
	binding          // says must, never, always, avoid …
)

func (c claim) force() force {
	switch {
	case c.binds():
		return binding
	case c.verb < len(c.words) && imperatives[c.words[c.verb]] && (!c.ambiguous() || !nouns[c.after()]):
		return imperative
	case containsAny(c.spoken, habits) || c.names():
		return customary
	}
	return none
}

// binds tells whether the claim says must, never or the like. "Do not" counts
// where it commands, not where it tells what something does not do.
func (c claim) binds() bool {
	return (containsAny(c.spoken, binders) || command.MatchString(c.masked)) && !containsAny(c.spoken, unbinders)
}

var command = regexp.MustCompile(`(?i)(?:^|[.,;:!?)(–—-] ?|please |and |but |so |then )(?:do not|don['’]t) `)

// after is the word behind the verb.
func (c claim) after() string {
	if c.verb+1 < len(c.words) {
		return c.words[c.verb+1]
	}
	return ""
}

// ambiguous tells whether the verb could be a noun: "Test structure".
func (c claim) ambiguous() bool {
	return c.verb < len(c.words) && nouns[c.words[c.verb]] && !determiners[c.after()]
}

// breakable tells whether the claim is about something that a change holds.
func (c claim) breakable() bool { return strings.Contains(c.masked, "`") || c.names() }

// names tells whether a word of the claim names something that a change holds.
func (c claim) names() bool {
	for _, w := range c.words {
		if nouns[w] || nouns[strings.TrimSuffix(w, "s")] || nouns[strings.TrimSuffix(w, "es")] {
			return true
		}
	}
	return false
}

// behaves tells whether the claim is about what a person or an assistant does
// at work, which no change can break.
func (c claim) behaves() bool {
	if containsAny(c.spoken, behaviours) {
		return true
	}
	if c.verb == len(c.words) {
		return false
	}
	verb := c.words[c.verb]
	if !actions[verb] && (verb != "create" && verb != "make" || !containsAny(c.spoken, makings)) {
		return false
	}
	forbidden := containsAny(spokenOf(c.words[:c.verb]), negations)
	return !forbidden || !c.breakable() || verb == "run" && c.after() == "`" || containsAny(c.spoken, requests)
}

// describes tells whether the claim explains a path, a command or a term: its
// text, behind a label, is a code span that stands alone or goes on with a dash
// or a colon.
func (c claim) describes() bool {
	for _, s := range []string{c.masked, c.body} {
		if !strings.HasPrefix(s, "`") {
			continue
		}
		if rest := strings.TrimSpace(s[1:]); rest == "" || strings.ContainsAny(firstRune(rest), "-–—:(=→|,/`") || strings.HasPrefix(rest, "and `") || strings.HasPrefix(rest, "or `") {
			return true
		}
	}
	return false
}

// A place is what a section is for.
type place int

const (
	plain   place = iota
	ruling        // says that it holds rules
	fitting       // is about how code, tests or commits are written: most of it is rules
	telling       // describes: only what binds in so many words is a rule
	idle          // set-up, links, community: nothing in it is a rule
)

// placeOf is what a heading makes of its section.
func (c claim) placeOf(verdict bool) place {
	switch {
	case verdict || containsAny(c.spoken, rulingSections):
		return ruling
	case containsAny(c.spoken, idleSections):
		return idle
	case len(c.words) > 2 && c.force() >= imperative && !c.ambiguous() && !c.behaves():
		return ruling
	case containsAny(c.spoken, tellingSections):
		return telling
	}
	return plain
}

// placeAmong is decided by the nearest heading that says anything.
func placeAmong(sections []heading) place {
	for i, h := range sections {
		switch {
		case h.place != plain:
			return h.place
		case h.category == "architecture":
			return plain
		case h.category != "" && i < 2: // the title of a whole file is too far away to make rules of notes
			return fitting
		}
	}
	return plain
}

// isVerdict tells whether a heading says of all below it that it is to be done
// or not: "Don't". A statement means its opposite without such a heading.
func (c claim) isVerdict() bool {
	return len(c.words) > 0 && (verdicts[strings.TrimSpace(c.spoken)] ||
		len(c.masked) <= 60 && containsAny(spokenOf(c.words[:min(2, len(c.words))]), prohibitions))
}

// categoryOf is the category of the nearest section that has one, else of the
// statement's own words.
func categoryOf(s statement) string {
	for _, h := range s.sections {
		if h.category != "" {
			return h.category
		}
	}
	spoken := newClaim(s.text).spoken
	for _, c := range textCategories {
		if containsAny(spoken, c.words) {
			return c.name
		}
	}
	return "other"
}

func sectionCategory(spoken string) string {
	for _, c := range sectionCategories {
		if containsAny(spoken, c.words) {
			return c.name
		}
	}
	return ""
}

// isLead tells whether a line before a list, or a table's header, says
// something of every item: "Never", "When you add an endpoint".
func isLead(s string) bool {
	c := newClaim(s)
	if len(c.words) == 0 {
		return false
	}
	return c.binds() || leadWords[c.words[0]] ||
		len(c.words) > 1 && c.verb < len(c.words) && imperatives[c.words[c.verb]] && !c.ambiguous()
}

// wordsOf splits masked text into lower-case words; a code span is the word "`".
func wordsOf(masked string) []string {
	var words []string
	for i, part := range strings.Split(masked, "`") {
		if i > 0 {
			words = append(words, "`")
		}
		for w := range strings.FieldsFuncSeq(strings.ToLower(strings.ReplaceAll(part, "’", "'")), between) {
			if w = strings.Trim(w, "-'."); w != "" {
				words = append(words, w)
			}
		}
	}
	return words
}

func spokenOf(words []string) string { return " " + strings.Join(words, " ") + " " }

// between tells whether the character stands between words.
func between(r rune) bool {
	return r != '\'' && r != '-' && r != '.' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// foreign tells whether most letters of the text are not Latin ones.
func foreign(s string) bool {
	latin, other := 0, 0
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			latin++
		case r >= 0x370 && unicode.IsLetter(r):
			other++
		}
	}
	return other > latin/2 && other >= 4
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}
