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
	Rule string // gitleaks' rule id: "aws-access-token"
	// The secret's position: from byte Start of line Line up to byte End of line
	// EndLine, exclusive. Lines are indices into the scanned lines.
	Line, Start, EndLine, End int
	Secret                    string
}

// SelfMade reports whether the value has a form that anyone makes: that of a private key, or of the key of an application.
func (m Match) SelfMade() bool { return m.form() == selfMade }

// Generic reports whether only a rule for any value matched: a name such as password, token or that of a service
// next to a random-looking value. It is less reliable than the rules for known formats.
func (m Match) Generic() bool { return m.form() == loose }

// ByName reports whether only the name beside a value, or the call that it is in, says that it is a credential.
func (m Match) ByName() bool {
	return m.Rule == genericRule || m.Rule == ruleAssigned || m.Rule == ruleCall || m.Rule == ruleDjango
}

// Invented reports whether only a person could have made the value, which does not look random.
func (m Match) Invented() bool { return isOwn(m.Rule) && !isRandom(m.Secret) }

// ErrTooMuch means that a scan was stopped because it cost too much. The matches
// returned with it are valid; there may be more.
var ErrTooMuch = errors.New("too much text that looks like secrets")

// The work of one Scanner is limited, roughly in bytes matched against one rule each: to firstBudget
// and perByte for each byte that it is given, and to budget. 20,000 lines of Go, some 600,000 bytes,
// take 300,000. A hostile text is stopped after a second for each MiB, a hostile change after 5 s.
const budget, firstBudget, perByte = 48 << 20, 2 << 20, 8

// anchoredCost is the cost of one attempt at a keyword, outboundCost that of an outbound rule, and farCost
// that of a byte where a rule that crosses lines, an outbound rule or a member of an object is searched. They
// reflect the slowest known texts. An attempt also costs half a byte for each that follows before the end of
// the word, since keywords in one long word are each matched against its rest.
const anchoredCost, outboundCost, farCost = 64, 256, 4

// maxMatches limits the memory of one scan: a match takes 100 bytes.
const maxMatches = 200_000

// segmentLen is the length in bytes above which a line is scanned in segments, so
// that a keyword in a minified file costs only its surroundings. Matches are at most
// 4,020 bytes long, except for tokens without an upper bound.
const segmentLen = 4096

// anchoredLen is how far a match can extend from its keyword, in bytes: the longest bounded one takes 1,020.
const anchoredLen = 2048

// Scanner finds secrets in texts. The zero value is ready to use. One Scanner serves
// one change and stops when its budget is spent. It is not safe for concurrent use.
type Scanner struct {
	spent, limit int
	// thorough tries also what cannot match, for tests.
	thorough bool
}

// spend reports whether the work is still allowed.
func (s *Scanner) spend(cost int) bool {
	s.spent += cost
	return s.spent <= s.limit
}

// Path returns the match for a file that is a secret by name, such as a PKCS #12 key
// store. It has no position and no Secret.
func (s *Scanner) Path(path string) (Match, bool) {
	set, err := loadRules()
	if err != nil {
		return Match{}, false
	}
	for i := range set.rules {
		spares := func(a allowlist) bool { return placeOf(path) != inProduct || a.allows(path, "", "") }
		if r := &set.rules[i]; r.pattern == nil && r.path().MatchString(path) && !slices.ContainsFunc(r.allow(), spares) {
			return Match{Rule: r.id}, true
		}
	}
	return Match{}, false
}

// Scan returns the secrets in the lines of a file, in order and without overlaps. The path, relative to the
// repository and with slashes, selects rules that apply to some files only; if it is empty, all apply. A line may end
// in a carriage return. The error is ErrTooMuch, or an error in the rules.
func (s *Scanner) Scan(path string, lines []string) ([]Match, error) {
	w, err := s.begin(path, lines)
	if err != nil {
		return nil, err
	}
	err = w.run()
	return w.text.matches(w.set, withoutOverlaps(w.hits, w.set)), err
}

// begin prepares a scan of the lines of a file.
func (s *Scanner) begin(path string, lines []string) (*walk, error) {
	set, err := loadRules()
	if err != nil {
		return nil, err
	}
	t := newText(lines)
	s.limit = min(budget, max(s.limit, firstBudget)+perByte*len(t.s))
	return newWalk(s, set, path, t), nil
}

// text is the lines as one string, divided into segments: whole lines, or pieces of long ones.
type text struct {
	s        string
	lines    []int             // where each line starts
	segments []int             // where each segment starts; one more at the end
	siblings map[int][]sibling // by where their part of the text starts
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

// breakAt returns where to cut a long line: after the last character in the piece that no secret contains.
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
	// outbound tells that the text is about to leave: all rules apply.
	outbound bool
	// named is the position of the last keyword in a name, and whether the name opens something.
	named struct {
		at    int
		opens bool
	}
}

// maxOpens limits a name from its keyword on, in bytes: the expressions accept 40 after a keyword.
const maxOpens = 64

// opensAt tells whether the name around a keyword opens something. Between the name and its value
// is a character that names do not have, so that the name is the same whatever the value is.
func (w *walk) opensAt(at int) bool {
	if w.named.at != at+1 { // so that 0 is none
		first, last := w.text.nameAt(at)
		w.named.at, w.named.opens = at+1, last-at <= maxOpens && opensSomething(w.text.s[first:last])
	}
	return w.named.opens
}

// newWalk prepares a scan, with the rules for some files only if the path is one of those, or empty.
func newWalk(s *Scanner, set *ruleSet, path string, t *text) *walk {
	w := &walk{Scanner: s, set: set, path: path, text: t, open: make([]window, len(set.rules))}
	for i := range set.rules {
		w.open[i].off = path != "" && set.rules[i].path != nil && !set.rules[i].path().MatchString(path)
	}
	return w
}

// window is the part of the text that a rule must still be matched against.
type window struct {
	off      bool // the rule does not apply to this file
	used     bool
	from, to int // segments, both included
	end      int // end of the rule's last match
}

// hit is a match of a rule: the secret's position in the text.
type hit struct{ rule, start, end int }

// run finds keywords and matches each rule at or around its keywords.
func (w *walk) run() error {
	seg, words := 0, &w.set.words
	if w.outbound {
		words = &w.set.all
	}
	for r, at := range words.find(w.text.s) {
		for at >= w.text.segments[seg+1] {
			seg++
		}
		if err := w.keywordAt(r, seg, at); err != nil {
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

// keywordAt handles a keyword of the rule at byte at of the segment.
func (w *walk) keywordAt(r, seg, at int) error {
	o, rule := &w.open[r], &w.set.rules[r]
	if o.off {
		return nil
	}
	to := min(len(w.text.segments)-2, seg+rule.after)
	if pattern := rule.pattern(); pattern.anchored {
		if pattern.beginWord && at > 0 && inWord(w.text.s[at-1]) {
			return nil
		}
		if at < o.end || rule.assigns && rule.leaves == nil && !mayAssign(w.text.s[at:], rule.own) {
			return nil
		}
		if rule.paired && !w.thorough && !mayBeMember(w.text.s[at:]) {
			return nil
		}
		if rule.issued && continuesWord(w.text.s[:at]) {
			return nil
		}
		if rule.opens && !w.thorough && !w.opensAt(at) {
			return nil
		}
		end := w.text.segments[to+1]
		switch {
		case rule.after == farAfter, pattern.beginWord: // some of these have no upper bound
		case rule.leaves != nil:
			end = min(len(w.text.s), at+anchoredLen)
		default:
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

// inWord reports whether a byte is part of a word, as expressions see words.
func inWord(c byte) bool { return c == '_' || isLower(c) || isUpper(c) || isDigit(c) }

// mayBeMember reports whether what follows a word can make it the name of a member.
func mayBeMember(s string) bool {
	i := 0
	for i < len(s) && s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' && i < len("content") {
		i++
	}
	rest := strings.TrimLeft(s[min(i, len(s)):min(len(s), i+24)], "\"']\\ \t")
	return rest != "" && strings.IndexByte("=:>", rest[0]) >= 0
}

// continuesWord reports whether a word that starts after a text goes on with its last one, which can be an escape in
// a literal or a URL.
func continuesWord(text string) bool {
	n := len(text)
	if n == 0 || inBase64(text[n-1]) == (text[n-1] == '+' || text[n-1] == '/' || text[n-1] == '-') {
		return false
	}
	escaped := n > 1 && text[n-2] == '\\' || n > 2 && text[n-3] == '%'
	return !escaped
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
	if !w.spend(rule.cost(w.text.s[from:to])) {
		return ErrTooMuch
	}
	found := rule.pattern().FindAllStringSubmatchIndex(w.text.s[from:to], n)
	if len(w.hits)+len(found) >= maxMatches {
		return ErrTooMuch
	}
	for _, m := range found {
		for i := range m {
			m[i] += from // -1 marks an unused group; the result stays below from
		}
		start, end := rule.secret(w.text.s, m, from)
		if rule.lists {
			w.listed(r, m[0], m[1])
			continue
		}
		if rule.leaves != nil {
			if w.isLeaving(rule, m[0], start, end) {
				w.open[r].end = m[1]
				w.hits = append(w.hits, hit{r, start, end})
			}
			continue
		}
		spared := w.allowed(rule, leadStart(w.text.s, m[0]), m[1], w.text.s[start:end])
		if !spared || !rule.own { // what an own rule takes for a value can be the name of the next
			w.open[r].end = m[1]
		}
		if !spared {
			w.hits = append(w.hits, hit{r, start, end})
		}
	}
	return nil
}

// cost is the cost of matching a part of a text.
func (r *rule) cost(part string) int {
	switch far := r.after == farAfter; {
	case r.pattern().anchored && !far:
		word := strings.IndexAny(part, " \t\r\n\"'`;,{}()<>")
		if word < 0 {
			word = len(part)
		}
		if r.leaves != nil {
			line, _, _ := strings.Cut(part[:min(len(part), r.reach)], "\n")
			return outboundCost + word/2 + 2*len(line)
		}
		return anchoredCost + word/2
	case !r.pattern().anchored && (far || r.leaves != nil):
		return len(part) * farCost
	}
	return len(part)
}

// secret returns the position of the secret within a match: the rule's group, else
// the first non-empty group, else the whole match. Unused groups are below from.
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

// allowed reports whether the configuration says that a match is not a secret. from
// and to are the position of the whole match.
func (w *walk) allowed(r *rule, from, to int, secret string) bool {
	if r.entropy > 0 && entropy(secret) <= r.entropy {
		return true
	}
	if r.issued {
		return isDummy(secret) || randomness(secret) < issuedFrom
	}
	if r.own {
		return !isOwnSecret(r.id, secret) && (!w.outbound || !isRandom(secret) || isTemplate(secret))
	}
	for _, lists := range [][]allowlist{w.set.allow(), r.allow()} {
		for i := range lists {
			a, target := &lists[i], secret
			switch a.RegexTarget {
			case "match":
				target = strings.Trim(w.text.s[from:to], "\n")
			case "line":
				target = w.text.lineAround(from, to)
				w.spend(len(target))
			}
			if a.allows(w.path, target, secret) {
				return true
			}
		}
	}
	return false
}

// lineAround returns the lines that contain a match, up to segmentLen on each side,
// because lines have no length limit.
func (t *text) lineAround(from, to int) string {
	head, tail := t.s[max(0, from-segmentLen):from], t.s[to:min(len(t.s), to+segmentLen)]
	start := from - len(head) + strings.LastIndexByte(head, '\n') + 1
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[:i]
	}
	return t.s[start : to+len(tail)]
}

// entropy is the Shannon entropy, in bits per character.
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

// withoutOverlaps sorts hits and keeps one of those that overlap: that of a rule for a known form before one for any
// value beside a name, before the catch-all's before this package's, then the longest, then the first rule.
// Thus the own rules change nothing about what the others find.
func withoutOverlaps(hits []hit, set *ruleSet) []hit {
	better := func(a, b hit) bool {
		switch {
		case set.rank(a) != set.rank(b):
			return set.rank(a) < set.rank(b)
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

// rank orders hits that overlap: those with a lower one are better.
func (set *ruleSet) rank(h hit) int {
	switch r := &set.rules[h.rule]; {
	case r.leaves != nil:
		return 4
	case r.own && selfMadeRules[r.id]:
		return 0
	case r.id == ruleInvented, isPlace(r.id): // the others do not know this place
		return 1
	case r.own:
		return 3
	case h.rule == set.generic:
		return 2
	case looseRules[r.id] || set.byService[r.id]:
		return 1
	}
	return 0
}

// matches converts positions in the text to lines.
func (t *text) matches(set *ruleSet, hits []hit) []Match {
	var all []Match
	for _, h := range hits {
		first := sort.SearchInts(t.lines, h.start+1) - 1
		last := max(first, sort.SearchInts(t.lines, h.end)-1)
		all = append(all, Match{
			Rule: set.rules[h.rule].id, Secret: t.s[h.start:h.end], Line: first,
			Start: h.start - t.lines[first], EndLine: last, End: h.end - t.lines[last],
		})
	}
	return all
}
