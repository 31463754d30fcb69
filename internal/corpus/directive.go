package corpus

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of a directive, in characters, and of the words in it that have a meaning of their own.
const (
	leastDirective      = 25
	maxDirective        = 300
	leastDirectiveWords = 3
)

// Directive returns the first sentence of a comment that says how things are done, for any change; empty if there is
// none. The sentence has a subject of its own, so that it can be understood away from the code that the comment was
// about.
func Directive(words string) string {
	for _, s := range sentences(withoutBlocks(words)) {
		s = strings.TrimSpace(nit().ReplaceAllString(text.Collapse(s), ""))
		switch {
		case len(s) < leastDirective, len(s) > maxDirective, strings.HasSuffix(s, "?"), strings.HasSuffix(s, ":"):
		case pointing().MatchString(s), !general().MatchString(s) && !ordering().MatchString(s):
		case text.ContentWords(s, leastDirectiveWords) < leastDirectiveWords:
		default:
			return s
		}
	}
	return ""
}

// withoutBlocks removes blocks of code, whose lines are no sentences.
func withoutBlocks(words string) string {
	parts := strings.Split(words, "```")
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString(parts[i])
		b.WriteString("\n\n")
	}
	return b.String()
}

var (
	// nit matches what comments begin with and says nothing about the subject.
	nit = text.Pattern(`(?i)^\W*(?:(?:super |micro|ultra|pico|tiny |minor |style |really )?nits?\b|style|minor|suggestion|note|btw|also|and|but|so|hm+|well|yes|no|yeah|ok|i think|i believe|imo|imho|in my opinion|fwiw|thus|please note)\b[^\w]*(?:that )?`)
	// general matches what people say of the whole project: what it does and does not do, and what its rules are.
	general = text.Pattern("(?i)\\bwe(?: also| do| have| just| really| still| only)?(?: (?:usually|generally|typically|normally|always|never|no longer|mostly|try to|tend to|prefer(?: to)?|avoid|follow|stick to)\\b|(?: do not|don't)(?: (?:usually|generally|typically|normally|really|ever))? (?:use|write|add|call|name|put|include|mention|document|test|allow|support|do|declare|define|include|indent|wrap|commit|log|throw|return|rely|depend)\\b| (?:use|write|name|put|indent|wrap|format|sort|spell|capitalize) .{3,80} (?:in|for|with|as|everywhere|elsewhere|instead|to|when)\\b)" +
		"|\\b(?:conventions?|guidelines?|style guide|coding style|code style|developer notes|rule of thumb|best practi[cs]es?|everywhere else|(?:in|across|throughout) (?:the|this|our) (?:rest of the )?(?:whole |entire |other |most )*(?:code ?base|library|project|repo(?:sitory)?|tests?|docs|documentation)|(?:every|all|the) other (?:files?|functions?|tests?|modules?|places?|tests?|parts?|headers?)|the rest of the (?:code|file|project|library|tests|module)|from now on)\\b")
	// ordering matches sentences that begin with what to do.
	ordering = text.Pattern("(?i)^(?:please |pls |let's )?(?:prefer|avoid|(?:always|never) (?:use|call|check|pass|return|put|add|name|write|keep|set|close|log|throw|catch|include|assume|rely|hold|lock|free|copy)|(?:don't|do not) \\w+|make sure|ensure|stick to|follow)\\b")
	// pointing matches sentences that say nothing without the code or the conversation around them.
	pointing = text.Pattern("(?i)^\\(|^(?:don't|do not) (?:see|know|think|understand|like|mind|need|have|feel|care|want|get|agree|believe|remember|find|really|actually|forget to (?:squash|rebase))\\b|^\\W*(?:same|ditto|see|maybe|perhaps|some|even|while|although|not|on the|should be|here|there|above|below|it|its|it's|that|that's|this|these|those|they|he|she|you|your|i|i'm|i'd|i've|if (?:you|so|not|this|that|it)|then|otherwise|because|since|as (?:above|below|mentioned|discussed)|done|fixed)\\b" +
		"|\\b(?:this (?:pr|pull request|commit|line|file|function|change|branch|patch|comment|test|one)|(?:not|in) this pr|your (?:pr|change|commit|branch)|(?:as|see|mentioned|discussed) (?:above|below|earlier)|the (?:above|below)|follow-?up|rebase|squash|i (?:think|guess|don't|would|was|am|see|had|tried)|more consistent|differs?|you (?:are|were|can|could|did|have|may|might|want))\\b")
)
