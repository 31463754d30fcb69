package secret

import (
	"errors"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Match is a credential in a text.
type Match struct {
	Rule        string // gitleaks' id of the rule: "aws-access-token"
	Description string // gitleaks' sentence about it
	// The secret's place: from byte Start of line Line to before byte End of
	// line EndLine. Lines are indices into the scanned lines.
	Line, Start, EndLine, End int
	Secret                    string
}

// Generic tells whether only the catch-all rule matched: a name such as
// password or token next to a random-looking value. It is right less often
// than the rules for known forms.
func (m Match) Generic() bool { return m.Rule == genericRule }

// ErrTooMuch says that a scan was given up because it cost too much. The
// matches that came with it hold; there may be more.
var ErrTooMuch = errors.New("too much text that looks like secrets")

// budget bounds what one Scanner does, roughly in bytes matched against one
// rule each. 20,000 lines of Go spend 300,000. A hostile change is given up
// after 5 s.
const budget = 32 << 20

// anchoredCost is what one attempt at a keyword counts, and farCost what a byte
// counts for rules that cross lines: they are that much slower on text made
// for them.
const anchoredCost, farCost = 64, 4

// maxMatches bounds the memory of one scan: a match takes 100 bytes.
const maxMatches = 200_000

// segmentLen is the length in bytes from which a line is scanned in segments,
// so that a keyword in a minified file costs its surroundings only. Matches
// are no longer than 4,020 bytes but for tokens without an upper bound.
const segmentLen = 4096

// anchoredLen is how far a match reaches from its keyword, in bytes: the
// longest that is bounded takes 1,020.
const anchoredLen = 2048

// Scanner finds secrets in texts. The zero value is ready; one Scanner serves
// one change and stops when its budget is spent. It is not for concurrent use.
type Scanner struct {
	spent int
}

// Path returns the match of a file whose name alone gives it away, such as a
// PKCS #12 key store. It has no place and no Secret.
func (s *Scanner) Path(path string) (Match, bool) {
	set, err := loadRules()
	if err != nil {
		return Match{}, false
	}
	for _, i := range set.byPath {
		if r := &set.rules[i]; r.path().MatchString(path) {
			return Match{Rule: r.id, Description: r.description}, true
		}
	}
	return Match{}, false
}

// Scan returns the secrets in the lines of a file, in their order and without
// overlap. The path, relative to the repository and with slashes, selects
// rules that speak about some kinds of files only; it may be empty. A line may
// end in a carriage return. The error is ErrTooMuch, or says that the rules
// cannot be read.
func (s *Scanner) Scan(path string, lines []string) ([]Match, error) {
	set, err := loadRules()
	if err != nil {
		return nil, err
	}
	t := newText(lines)
	w := &walk{Scanner: s, set: set, path: path, text: t, open: make([]window, len(set.rules))}
	for _, i := range set.pathed {
		w.open[i].off = path == "" || !set.rules[i].path().MatchString(path)
	}
	err = w.run()
	return t.matches(set, withoutOverlaps(w.hits, set.generic)), err
}

// text is the lines as one string with its segments: whole lines, or pieces of
// long ones.
type text struct {
	s        string
	lines    []int // where each line starts
	segments []int // where each segment starts; one more at the end
}

func newText(lines []string) *text {
	t := &text{s: strings.Join(lines, "\n"), lines: make([]int, len(lines)), segments: make([]int, 0, len(lines)+1)}
	at := 0
	for i, line := range lines {
		t.lines[i] = at
		for end := at + len(line); ; {
			t.segments = append(t.segments, at)
			if end-at <= segmentLen {
				at = end + 1
				break
			}
			at += breakAt(t.s[at : at+segmentLen])
		}
	}
	t.segments = append(t.segments, len(t.s))
	return t
}

// breakAt is where a long line is best cut: behind the last character of the
// piece that stands in no secret.
func breakAt(piece string) int {
	if i := strings.LastIndexAny(piece, " \t,;{}()<>\"'`"); i >= segmentLen/2 {
		return i + 1
	}
	return len(piece)
}

// walk is one scan of one text.
type walk struct {
	*Scanner
	set  *ruleSet
	path string
	text *text
	open []window // by rule
	hits []hit
}

// window is what a rule is still to be matched against, and how far it was.
type window struct {
	off      bool // the rule is not for this file
	used     bool
	from, to int // segments, both included
	end      int // byte behind the rule's last match
}

// hit is a match of a rule: the secret's place in the text.
type hit struct{ rule, start, end int }

// run finds keywords and matches each rule at or around its own.
func (w *walk) run() error {
	seg := 0
	for r, at := range w.set.words.find(w.text.s) {
		for at >= w.text.segments[seg+1] {
			seg++
		}
		if err := w.met(r, seg, at); err != nil {
			return err
		}
	}
	for r := range w.open {
		if err := w.flush(r); err != nil {
			return err
		}
	}
	return nil
}

// met notes that a keyword of the rule begins at byte at of the segment.
func (w *walk) met(r, seg, at int) error {
	o, rule := &w.open[r], &w.set.rules[r]
	if o.off {
		return nil
	}
	to := min(len(w.text.segments)-2, seg+rule.after)
	if rule.pattern().anchored {
		if at < o.end {
			return nil
		}
		end := w.text.segments[to+1]
		if rule.after != farAfter {
			end = min(end, at+anchoredLen)
		}
		return w.match(r, at, end, 1)
	}
	from := max(0, seg-rule.before)
	if o.used && from > o.to+1 {
		if err := w.flush(r); err != nil {
			return err
		}
	}
	if !o.used {
		o.used, o.from = true, from
	}
	o.to = to
	return nil
}

// flush matches the rule against its open window and closes it.
func (w *walk) flush(r int) error {
	o := &w.open[r]
	if !o.used {
		return nil
	}
	o.used = false
	return w.match(r, w.text.segments[o.from], w.text.segments[o.to+1], maxMatches)
}

// match matches the rule against a part of the text, at most n times.
func (w *walk) match(r, from, to, n int) error {
	rule := &w.set.rules[r]
	if w.spent += rule.cost(to - from); w.spent > budget {
		return ErrTooMuch
	}
	found := rule.pattern().FindAllStringSubmatchIndex(w.text.s[from:to], n)
	if len(w.hits)+len(found) >= maxMatches {
		return ErrTooMuch
	}
	for _, m := range found {
		for i := range m {
			m[i] += from // -1 is a group that took no part, and stays out of the text
		}
		w.open[r].end = m[1]
		start, end := rule.secret(w.text.s, m, from)
		if !w.allowed(rule, leadStart(w.text.s, m[0]), m[1], w.text.s[start:end]) {
			w.hits = append(w.hits, hit{r, start, end})
		}
	}
	return nil
}

// cost is what matching n bytes counts.
func (r *rule) cost(n int) int {
	switch far := r.after == farAfter; {
	case r.pattern().anchored && !far:
		return anchoredCost
	case !r.pattern().anchored && far:
		return n * farCost
	}
	return n
}

// secret is the place of the secret within a match: the rule's group, else the
// first group that is not empty, else all of it. Groups that took no part lie
// before from.
func (r *rule) secret(s string, m []int, from int) (start, end int) {
	if g := 2 * r.group; g > 0 && g+1 < len(m) && m[g] >= from {
		return m[g], m[g+1]
	}
	for g := 2; g+1 < len(m); g += 2 {
		if m[g] >= from && m[g+1] > m[g] {
			return m[g], m[g+1]
		}
	}
	whole := s[m[0]:m[1]]
	start = m[0] + len(whole) - len(strings.TrimLeft(whole, "\n"))
	return start, start + len(strings.Trim(whole, "\n"))
}

// allowed tells whether the configuration says that a match is not a secret. from
// and to are the whole match's place in the text.
func (w *walk) allowed(r *rule, from, to int, secret string) bool {
	if r.entropy > 0 && entropy(secret) <= r.entropy {
		return true
	}
	for _, lists := range [][]allowlist{w.set.allow(), r.allow()} {
		for i := range lists {
			a, target := &lists[i], secret
			switch a.RegexTarget {
			case "match":
				target = strings.Trim(w.text.s[from:to], "\n")
			case "line":
				target = w.text.lineAround(from, to)
			}
			if a.allows(w.path, target, secret) {
				return true
			}
		}
	}
	return false
}

// lineAround is the lines that hold a match, as far as they are near: lines
// have no bound.
func (t *text) lineAround(from, to int) string {
	head, tail := t.s[max(0, from-segmentLen):from], t.s[to:min(len(t.s), to+segmentLen)]
	start := from - len(head) + strings.LastIndexByte(head, '\n') + 1
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[:i]
	}
	return t.s[start : to+len(tail)]
}

// entropy is Shannon's, in bits a character.
func entropy(s string) float64 {
	count := map[rune]int{}
	for _, r := range s {
		count[r]++
	}
	if len(s) == 0 {
		return 0
	}
	sum, n := 0.0, float64(utf8.RuneCountInString(s))
	for _, c := range count {
		p := float64(c) / n
		sum -= p * math.Log2(p)
	}
	return sum
}

// withoutOverlaps orders hits and leaves one of those that overlap: a specific rule's
// before the catch-all's, then the longest, then the rule that comes first.
func withoutOverlaps(hits []hit, generic int) []hit {
	better := func(a, b hit) bool {
		switch {
		case (a.rule == generic) != (b.rule == generic):
			return b.rule == generic
		case a.end-a.start != b.end-b.start:
			return a.end-a.start > b.end-b.start
		default:
			return a.rule < b.rule
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		switch {
		case a.start != b.start:
			return a.start - b.start
		case better(a, b):
			return -1
		case better(b, a):
			return 1
		}
		return 0
	})
	kept := hits[:0]
	for _, h := range hits {
		if n := len(kept); n > 0 && h.start < kept[n-1].end {
			if better(h, kept[n-1]) {
				kept[n-1] = h
			}
			continue
		}
		kept = append(kept, h)
	}
	return kept
}

// matches translates places in the text into lines.
func (t *text) matches(set *ruleSet, hits []hit) []Match {
	var all []Match
	for _, h := range hits {
		r := &set.rules[h.rule]
		first := sort.SearchInts(t.lines, h.start+1) - 1
		last := max(first, sort.SearchInts(t.lines, h.end)-1)
		all = append(all, Match{
			Rule: r.id, Description: r.description, Secret: t.s[h.start:h.end],
			Line: first, Start: h.start - t.lines[first],
			EndLine: last, End: h.end - t.lines[last],
		})
	}
	return all
}
