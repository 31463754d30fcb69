package secret

import (
	_ "embed" // for the rules
	"path"
	"slices"
	"strings"
)

// outboundRules are rules for text that leaves the process.
//
//go:embed outbound.toml
var outboundRules string

// Rules that code applies, without an expression of their own.
const (
	ruleManifest = "kubernetes-secret"
	ruleEncoded  = "encoded-login"
	ruleKey      = "private-key"
)

// threshold decides whether the value of an outbound rule is redacted. name is the name
// that the value follows, quoted tells that the value is in quotes.
type threshold func(name, value string, quoted bool) bool

// thresholds are what the field value of an outbound rule refers to.
var thresholds = map[string]threshold{
	"any":    func(_, v string, _ bool) bool { return !isMarker(v) },
	"given":  func(_, v string, _ bool) bool { return isGiven(v) },
	"mixed":  func(_, v string, _ bool) bool { return isMixed(v) },
	"random": func(_, v string, _ bool) bool { return isRandom(v) && !isTemplate(v) },
	"issued": func(_, v string, _ bool) bool { return !isDummy(v) && randomness(v) >= issuedFrom },
	"basic": func(_, v string, _ bool) bool {
		return isRandom(v) || strings.Contains(decoded(v), ":") && decoded(v) != v
	},
	"cookie":    func(_, v string, _ bool) bool { return hasRandomPart(v) },
	"named":     isNamed,
	"paired":    isNamed,
	"list":      isNamed,
	"setting":   isSetting,
	"block":     isBlock,
	"arguments": func(_, v string, _ bool) bool { return hasPassword(v) },
}

// runCost is the cost of a scan of an encoded text, besides that of its bytes.
const runCost = 256

// maxDepth is how many encodings within each other are decoded.
const maxDepth = 3

// Outgoing returns what must not leave the process of the lines of a file: what Scan finds, what the outbound
// rules find, and both within encodings and within texts that are put together from literals. Matches that
// overlap are one. Rules for some files only apply also if the path is empty.
func (s *Scanner) Outgoing(path string, lines []string) ([]Match, error) {
	w, err := s.begin(path, lines)
	if err != nil {
		return nil, err
	}
	hits, err := w.leaving(maxDepth)
	return w.text.matches(w.set, w.text.united(hits, w.set)), err
}

// Both returns what Scan returns, and what Outgoing returns, for the cost of Outgoing. The path must not be
// empty. After an error, more is missing of what Scan returns than after an error of Scan.
func (s *Scanner) Both(path string, lines []string) (found, leaving []Match, err error) {
	w, err := s.begin(path, lines)
	if err != nil {
		return nil, nil, err
	}
	t, set := w.text, w.set
	hits, err := w.leaving(maxDepth)
	leaving = t.matches(set, t.united(slices.Clone(hits), set))
	reported := slices.DeleteFunc(w.hits, func(h hit) bool {
		r := &set.rules[h.rule]
		return r.leaves != nil || r.own && !isOwnSecret(r.id, t.s[h.start:h.end])
	})
	return t.matches(set, withoutOverlaps(reported, set)), leaving, err
}

// leaving returns the hits of the walk, and those of what is not found by an expression.
func (w *walk) leaving(depth int) ([]hit, error) {
	s, set, path, t := w.Scanner, w.set, w.path, w.text
	w.outbound = true
	if err := w.run(); err != nil {
		return w.hits, err
	}
	hits := append(slices.Clip(w.hits), manifests(t, set.named[ruleManifest])...)
	hits = append(hits, keyBodies(t, set.named[ruleKey])...)
	if depth == 0 {
		return hits, nil
	}
	for _, run := range encodedRuns(t.s) {
		if !s.spend(runCost) {
			return hits, ErrTooMuch
		}
		inner, err := newWalk(s, set, "", newText(strings.Split(run.text, "\n"))).leaving(depth - 1)
		if err != nil {
			return hits, err
		}
		if len(inner) > 0 {
			hits = append(hits, hit{inner[0].rule, run.start, run.end})
		} else if m := set.rules[set.named[ruleEncoded]].pattern().FindStringSubmatch(run.text); m != nil && isMixed(m[1]) {
			hits = append(hits, hit{set.named[ruleEncoded], run.start, run.end})
		} else if t.isYAMLValue(run) && isMixed(strings.TrimSpace(run.text)) {
			hits = append(hits, hit{set.named[ruleManifest], run.start, run.end})
		}
	}
	if v := plain(t.s); v.text != "" {
		inner, err := newWalk(s, set, path, newText(strings.Split(v.text, "\n"))).leaving(depth - 1)
		for _, h := range inner {
			if h.end > h.start {
				hits = append(hits, hit{h.rule, v.from[h.start], v.to[h.end-1]})
			}
		}
		return hits, err
	}
	return hits, nil
}

// united sorts hits and joins those that overlap under the name of the best of them, so
// that none leaves a part of another.
func (t *text) united(hits []hit, set *ruleSet) []hit {
	for i := range hits {
		h := &hits[i]
		for h.start < h.end && (t.s[h.start] == '\n' || t.s[h.start] == '\r') {
			h.start++
		}
		for h.start < h.end && (t.s[h.end-1] == '\n' || t.s[h.end-1] == '\r') {
			h.end--
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	kept := hits[:0]
	for _, h := range hits {
		if h.end <= h.start {
			continue
		}
		if n := len(kept); n > 0 && h.start < kept[n-1].end {
			last := &kept[n-1]
			if set.rank(h) < set.rank(*last) {
				last.rule = h.rule
			}
			last.end = max(last.end, h.end)
			continue
		}
		kept = append(kept, h)
	}
	return kept
}

// nameAt returns where the name around a keyword starts and ends.
func (t *text) nameAt(at int) (first, last int) {
	for last = at; last < len(t.s) && last-at <= maxOpens && nameStart(t.s[last:last+1]) == 0; last++ {
	}
	return leadStart(t.s, at), last
}

// isLeaving reports whether a match of an outbound rule is redacted. from is the start
// of the match, the value is at start.
func (w *walk) isLeaving(r *rule, from, start, end int) bool {
	s := w.text.s
	if strings.HasSuffix(s[:start], "[REDACTED:") {
		return false
	}
	first, last := w.text.nameAt(from)
	value, name := s[start:end], s[first:last]
	switch {
	case r.paired:
		name = w.pairName(from, end)
		return name != "" && isNamed(name, value, strings.IndexByte("\"'`>", s[start-1]) >= 0)
	case !r.assigns:
		return r.leaves("", value, true)
	}
	quoted := strings.IndexByte("\"'`>", s[start-1]) >= 0 && !strings.HasSuffix(s[:start],
		"->") && !strings.HasSuffix(s[:start], "=>")
	if first > 0 && s[last] == '=' && strings.IndexByte(";?&", s[first-1]) >= 0 {
		quoted = true // within a connection string
	}
	if quoted && end < len(s) {
		switch closes := s[start-1]; {
		case s[end] == ' ': // the first word of a sentence
			return opensSomething(name) && isRandom(value)
		case s[end] == closes && strings.HasPrefix(strings.TrimLeft(s[end+1:], " "), ":"): // the name of a member
			return false
		}
	}
	switch sign := strings.Trim(s[last:start], " \t\r\n\"'`]"); {
	case quoted:
	case strings.HasPrefix(name, "-") && (sign == "" || sign == "="):
		return opensSomething(name) && isOption(value)
	case (sign == "=" || sign == ":") && w.isSetting(name, sign, value) && isInvented(name, value):
		return true
	case sign == "" && strings.ToUpper(name) != name: // prose
		return opensSomething(name) && isRandom(value) && !isTemplate(value)
	case sign != "" && strings.IndexByte(",({", sign[0]) >= 0: // the next argument of a call
		return opensSomething(name) && isRandom(value) && !isTemplate(value) && !strings.ContainsAny(value, "=.")
	}
	return r.leaves(name, value, quoted)
}

// isSetting reports whether a line that assigns without quotes is of a configuration rather than of code, by its file
// or, where that is not known, by how it is written.
func (w *walk) isSetting(name, sign, value string) bool {
	if w.path == "" {
		return sign == ":" || strings.ToUpper(name) == name ||
			strings.ContainsAny(value, "0123456789") && !strings.ContainsAny(value, "._")
	}
	return isConfig(w.path)
}

func isConfig(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return name != "" && (ext == "" || configTypes[ext])
}

// configTypes are the endings of files whose lines are settings rather than code.
var configTypes = wordSet(".yml .yaml .properties .env .ini .cfg .conf .cnf .toml .sh .bash .zsh .txt .config .service .envrc .tfvars .hcl .ps1 .bat .cmd " +
	".dockerfile .md")
