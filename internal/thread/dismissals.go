package thread

import (
	"slices"
	"strings"
	"unicode"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxQuote bounds the sentence that Declines returns, in characters.
const maxQuote = 300

// Dismisses tells whether a message dismisses the remark that it answers in so
// many words, such as "won't fix" or "this is a false positive", and returns the
// sentence that does, verbatim. Quotations, code and questions are not read. Where
// anything else stands before the words, or the message promises or reports a
// change, it is left to whoever reads the thread.
func Dismisses(message precedent.Untrusted) (quote string, ok bool) {
	if len(message) > 4*maxMessage {
		message = message[:4*maxMessage]
	}
	own := ownWords(string(message))
	if containsAny(" "+plain(own), retractions) {
		return "", false
	}
	for _, s := range sentences(own) {
		if isDismissal(plain(s)) {
			return text.Cut(s, maxQuote), true
		}
	}
	return "", false
}

// dismissals are the words that dismiss a remark, at the beginning of a sentence
// or behind lead-ins.
var dismissals = []string{
	"won't fix", "wontfix", "will not fix", "false positive", "false alarm", "not a bug", "not an issue", "not applicable", "n/a", "by design",
	"intentional", "intended", "works as intended", "working as intended", "dismiss", "fp",
}

const (
	// leadIns are words that say nothing about the remark.
	leadIns = " no nope thanks sorry ok okay yes well actually honestly but we i think this that it one is it's that's looks seems like a an clearly totally " +
		"just simply definitely really closing closed marking marked dismissing dismissed as finding the @precedent "
	// followers are words after which a dismissal stands as it is.
	followers = " here because since this that per see "
)

// retractions are words of a message that promises or reports a change, agrees, or
// puts the thing off.
var retractions = []string{
	" fixed", " i'll ", " i will ", " we'll ", " let me ", " let's ", " will do", " good catch", " you're right", " you are right", " scratch that",
	" never mind", " misread", " follow-up", " follow up", " backlog", " next ", " for now", " filed", " tracked", " in this pr", " in another",
	" separate ", " agree", " unless ", " until ", " anyway",
}

// isDismissal tells whether a sentence in plain form dismisses the remark.
func isDismissal(s string) bool {
	if strings.Contains(s, "?") {
		return false
	}
	for {
		for _, d := range dismissals {
			tail, ok := strings.CutPrefix(s, d)
			if !ok || strings.Contains(tail, " but ") {
				continue
			}
			rest := strings.TrimLeft(tail, " ")
			word, _, _ := strings.Cut(rest, " ")
			letter := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) == 0
			if !letter && !strings.HasPrefix(tail, "-") || tail != rest && strings.Contains(followers, " "+strings.TrimRight(word, ".,:;!)")+" ") {
				return true
			}
		}
		word, rest, more := strings.Cut(s, " ")
		if !more || !strings.Contains(leadIns, " "+strings.TrimRight(word, ",:")+" ") {
			return false
		}
		s = strings.TrimLeft(rest, " ")
	}
}

// plain is text to compare: in lower case, on one line, with straight
// apostrophes, without emphasis and the marks before it.
func plain(s string) string {
	s = strings.ToLower(strings.NewReplacer("’", "'", "‘", "'", "*", "", "_", " ").Replace(s))
	return strings.TrimLeft(text.Collapse(s), " #+->")
}

// ownWords is what of a message its author says: without quotations, which go to
// their blank line, code, and comments that nobody sees.
func ownWords(message string) string {
	var kept strings.Builder
	for message != "" {
		before, rest, _ := strings.Cut(message, "<!--")
		kept.WriteString(before)
		_, message, _ = strings.Cut(rest, "-->")
	}
	var lines []string
	fence, quoted, blank := "", false, true
	for line := range strings.SplitSeq(strings.ReplaceAll(kept.String(), "\r", "\n"), "\n") {
		bare := strings.TrimSpace(line)
		marks := strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")
		quoted = strings.HasPrefix(bare, ">") || quoted && bare != ""
		code := blank && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"))
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
		case marks && !quoted:
			fence = bare[:3]
		case !quoted && !code:
			lines = append(lines, bare)
		}
		blank = bare == "" || code
	}
	return strings.Join(lines, "\n")
}

// sentences splits prose at marks that end sentences, and at lines: people leave
// the marks out there.
func sentences(prose string) []string {
	var all []string
	for line := range strings.SplitSeq(prose, "\n") {
		start := 0
		for i := range len(line) {
			if strings.IndexByte(".!?", line[i]) >= 0 && i+1 < len(line) && line[i+1] == ' ' {
				all = append(all, line[start:i+1])
				start = i + 2
			}
		}
		all = append(all, strings.TrimSpace(line[start:]))
	}
	return all
}

func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// fromTeam tells whether a message is the team's word.
func fromTeam(m precedent.Message) bool { return m.MayWrite }

// dismissedIn returns the last message of the thread, of those of people whose
// word counts, that declines it, with the sentence.
func dismissedIn(t precedent.Thread, counts func(precedent.Message) bool) (by precedent.Message, quote string, ok bool) {
	for _, m := range slices.Backward(t.Messages) {
		if !fromPerson(m) || !counts(m) {
			continue
		}
		if quote, ok := Dismisses(m.Body); ok {
			return m, quote, true
		}
	}
	return precedent.Message{}, "", false
}
