package guide

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits of one guide file.
const (
	maxRules     = 200 // of one file
	maxRuleRunes = 300 // characters of one rule
)

// Rules extracts the rules of one guide file without a model: list items and
// sentences with words such as must or never, and list items that begin with an
// instruction or are under a heading such as "Conventions". Text about how people and
// assistants work, not about code, is not a rule. The first 200 are kept. A rule's id
// depends only on its text and file.
func Rules(p, src string) []precedent.Rule {
	dir, _ := guideDir(p)
	var rules []precedent.Rule
	seen := map[string]bool{}
	for _, s := range statements(src, path.Ext(p) != ".md") {
		if !s.isRule() {
			continue
		}
		t := shorten(s.text)
		sum := sha256.Sum256([]byte(p + "\x00" + t))
		id := hex.EncodeToString(sum[:4])
		if seen[id] {
			continue
		}
		seen[id] = true
		rules = append(rules, precedent.Rule{ID: id, Text: t, Source: p, Line: s.line, Dir: dir})
		if len(rules) == maxRules {
			break
		}
	}
	return rules
}

// shorten keeps the leading sentences of a rule that fit, or cuts the first one.
func shorten(s string) string {
	end := 0
	for _, one := range sentences(s) {
		if utf8.RuneCountInString(strings.TrimSpace(s[:end+len(one)])) > maxRuleRunes {
			break
		}
		end += len(one)
	}
	if end == 0 {
		return text.Cut(s, maxRuleRunes)
	}
	return strings.TrimSpace(s[:end])
}

// isRule reports whether a change can violate the statement.
func (s statement) isRule() bool {
	words, all := wordsOf(s.text[s.own:]), wordsOf(s.text)
	first := slices.IndexFunc(words, func(w string) bool { return !inWordList(openers, w) })
	if first < 0 || len(all) < 2 || len(s.text) < 8 || strings.HasSuffix(s.text, "?") {
		return false
	}
	section := padded(wordsOf(s.section))
	// A change can contain what must never be committed.
	never := words[first] == "commit" && first > 0 && inWordList(" never not don't ", words[first-1])
	switch {
	case inWordList(workVerbs, words[first]) && !never, containsAny(padded(all), process),
		containsAny(section, idleSections), section == " issues ":
		return false
	case isDemand(all), s.item && containsAny(s.text, foreign):
		return true
	}
	return s.item && words[0] != "`" &&
		(containsAny(section, rulingSections) && len(words) > 2 || inWordList(codeVerbs, words[first]) ||
			containsAny(padded(all), preferences))
}

// isDemand reports whether the words demand something: must, never, always and
// similar words, but not "it never worked" or "what they do not say".
func isDemand(words []string) bool {
	for i, w := range words {
		next := strings.Join(words[i+1:min(i+2, len(words))], "")
		begins := i == 0 || inWordList(openers, words[i-1])
		switch {
		case inWordList(" must mustn't shouldn't avoid forbidden prohibited ", w),
			(w == "never" || w == "always") && !strings.HasSuffix(next, "ed"),
			begins && (w == "don't" || w == "do" && next == "not"),
			(w == "should" || w == "must") && next == "not",
			w == "not" && next == "allowed",
			w == "need" && (next == "test" || next == "tests"):
			return true
		}
	}
	return false
}

// forbids reports whether a heading says that the items under it are forbidden.
func forbids(words []string) bool {
	return len(words) > 0 && len(words) < 6 &&
		(words[0] == "don't" || words[0] == "never" || slices.Contains(words, "avoid") ||
			strings.HasPrefix(padded(words), " do not "))
}

// The words that identify rules, with a space around each.
const (
	openers = " please always never do don't you we must should mustn't shouldn't also all and but then so to the a an " +
		"just only first , . ; : ! – — "
	// workVerbs begin what people and assistants do, which no change contains.
	workVerbs = " be run install ask commit push open comment clone fork label merge rebase review approve squash " +
		"reply respond explore understand " +
		"think visit join contact report search wait remember worry hesitate feel see refer start restart stop download " +
		"deploy publish explain confirm "
	// codeVerbs begin a rule about code, tests or texts.
	codeVerbs = " use prefer keep wrap write return validate handle throw catch log mock cover name follow limit " +
		"escape sanitize close check pass " +
		"ensure document test format declare define import export inject minimize include lazy-load put "
)

// The phrases that identify rules. A phrase without a space at its end is the
// beginning of a word.
var (
	process = []string{
		" pull request", " pr ", " prs ", " commits ", " commit message", " branch ", " branches ", " github ", " the user ",
		" claude ", " assistant ",
		" your answer", " your response", " responses ", " answers ", " subagent", " reviewer", " code of conduct ",
		" bug report", " feature request", " existing issues ", " issue tracker ", " ask questions ", " your contribution ",
		" before you commit ",
		" always review ", " always welcome ", " don't worry ", " you don't ",
	}
	preferences    = []string{" should ", " instead of ", " rather than "}
	rulingSections = []string{
		" rule", " convention", " guideline", " standard", " principle", " style ", " practice", " constraint", " invariant",
		" naming ", " do ",
		" don't ", " never ", " always ", " must ", " avoid ", " pitfall",
	}
	idleSections = []string{
		" install", " setup ", " set up ", " getting started ", " quick", " prerequisite", " command", " todo", " roadmap ",
		" future ", " next steps ",
		" troubleshooting ", " faq ", " license ", " community ", " code of conduct ", " links ", " resources ", " contents ",
		" reporting ", " release",
		" history ", " pull request", " pr ", " bug report", " feature request", " creating issues ",
		" questions ", " looking for ",
	}
	// foreign are words of rules in languages without Latin letters.
	foreign = []string{"必须", "必須", "不要", "禁止", "避免", "不得", "必ず", "しない", "반드시", "нельзя", "всегда", "никогда", "Не ", "не "}
)

// wordsOf splits text into lower-case words and punctuation; a code span is "`".
func wordsOf(s string) []string {
	s = strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	var b strings.Builder
	code := false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '`':
			if code = !code; code {
				b.WriteString(" ` ")
			}
		case code:
		case c == '(', c == ')', c == '"':
			b.WriteByte(' ')
		case strings.IndexByte(",.;:!?", c) >= 0 && (i+1 == len(s) || s[i+1] == ' '):
			b.WriteByte(' ')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return strings.Fields(strings.TrimRight(b.String(), ".!? "))
}

func padded(words []string) string { return " " + strings.Join(words, " ") + " " }

func inWordList(list, word string) bool { return strings.Contains(list, " "+word+" ") }

func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}
