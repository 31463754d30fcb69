package thread

import (
	"slices"
	"strings"
	"unicode"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxQuote limits the sentence that Dismisses returns, in characters.
const maxQuote = 300

// Dismisses tells whether a message explicitly dismisses the remark that it answers, with
// words such as "won't fix" or "this is a false positive", and returns that sentence verbatim.
// Quotations, code and questions are ignored. If other words precede the phrase, or the
// message promises or reports a change, the answer is no: the model that reads the thread
// decides.
func Dismisses(message precedent.Untrusted) (quote string, ok bool) {
	own := chat.Prose(message)
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

// dismissals are the phrases that dismiss a remark, at the beginning of a sentence or after
// lead-ins.
var dismissals = []string{
	"won't fix", "wontfix", "will not fix", "false positive", "false alarm", "not a bug", "not an issue", "not applicable", "n/a", "by design",
	"intentional", "intended", "works as intended", "working as intended", "dismiss", "fp",
}

const (
	// leadIns are words that may precede a dismissal.
	leadIns = " no nope thanks sorry ok okay yes well actually honestly but we i think this that it one is it's that's looks seems like a an clearly totally " +
		"just simply definitely really closing closed marking marked dismissing dismissed as finding the @precedent "
	// followers are words that may follow a dismissal.
	followers = " here because since this that per see "
)

// retractions are phrases of a message that promises or reports a change, agrees, or postpones
// it.
var retractions = []string{
	" fixed", " i'll ", " i will ", " we'll ", " let me ", " let's ", " will do", " good catch", " you're right", " you are right", " scratch that",
	" never mind", " misread", " follow-up", " follow up", " backlog", " next ", " for now", " filed", " tracked", " in this pr", " in another",
	" separate ", " agree", " unless ", " until ", " anyway",
}

// isDismissal tells whether a sentence, as plain returns it, dismisses the remark.
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

// plain normalizes text for comparison: lower case, one line, straight apostrophes, without
// emphasis and leading punctuation.
func plain(s string) string {
	s = strings.ToLower(strings.NewReplacer("’", "'", "‘", "'", "*", "", "_", " ").Replace(s))
	return strings.TrimLeft(text.Collapse(s), " #+->")
}

// sentences splits text at punctuation that ends sentences, and at line ends, where people
// omit it.
func sentences(s string) []string {
	var all []string
	for line := range strings.SplitSeq(s, "\n") {
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

// commanded returns the sentence with which a message dismisses the remark: in words that
// Dismisses recognizes, or by a command of the grammar.
func commanded(message precedent.Untrusted) (quote string, ok bool) {
	if quote, ok = Dismisses(message); ok {
		return quote, true
	}
	commands, _ := chat.Parse(message, chat.Options{InThread: true})
	for _, c := range commands {
		switch c.Kind {
		case chat.Exception, chat.WontFix, chat.NotApplicable:
			return text.Cut(c.Sentence, maxQuote), true
		}
	}
	return "", false
}

// dismissers returns whose dismissals end a thread: those of people with write permission, and
// of the author unless the thread is severe.
func dismissers(t precedent.Thread, author precedent.ForgeID) func(precedent.Message) bool {
	return func(m precedent.Message) bool { return m.MayWrite || !t.Severe() && author != "" && m.WhoID == author }
}

// fromTeam tells whether the author of a message has write permission.
func fromTeam(m precedent.Message) bool { return m.MayWrite }

// dismissedIn returns the last message of a person that dismisses the finding, with the
// sentence. Only messages for which counts is true are considered.
func dismissedIn(t precedent.Thread, counts func(precedent.Message) bool) (by precedent.Message, quote string, ok bool) {
	for _, m := range slices.Backward(t.Messages) {
		if !fromPerson(m) || !counts(m) {
			continue
		}
		if quote, ok := commanded(m.Body); ok {
			return m, quote, true
		}
	}
	return precedent.Message{}, "", false
}
