package corpus

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

var (
	// refusing matches a sentence that turns a remark down.
	refusing = text.Pattern(`(?i)^(?:(?:hm+|well|thanks|thank you|sorry|good (?:point|idea|question)|ok|okay|i see|ah|oh|yeah|yes|imo|imho|@[\w-]+)[,!.: -]+(?:but[, ]+)?)*(?:` +
		`nack\b|nope\b|wont'?fix|won'?t (?:fix|do|change|add|implement)|will not (?:fix|do|change|add|implement)|` +
		`(?:i )?(?:strongly |respectfully |kindly )?disagree|` +
		`(?:i|we) (?:really )?(?:don'?t|do not|doubt) (?:(?:really )?(?:think|believe|see (?:a|any|the|why|how|much)|want|agree|like|find)\b|we (?:need|should))|` +
		`(?:i|we)(?:'d| would) (?:rather|prefer)(?: to)? (?:not|keep|leave|avoid|stick|stay)\b|(?:i )?prefer (?:to (?:keep|leave|not)|not to|the (?:current|existing)|it (?:as|like|this way))|` +
		`(?:i|we)(?:'ll|'d| will| would| want to| am going to|'m going to| intend to)? ?(?:like to )?(?:just )?(?:keep|leave|left|leaving|keeping|skip)\b (?:it|this|that|these|as)?|` +
		`(?:keeping|leaving|left|leave|keep) (?:it|this|that|these|them|as)\b|` +
		`(?:this|that|it)(?:'s| is| was) (?:by design|intentional|intended|on purpose|deliberate|expected|out of scope|outside the scope|unrelated|not (?:needed|necessary|worth|possible|a (?:bug|problem|concern|good idea)|in scope|really))|` +
		`(?:by design|intentional(?:ly)?|on purpose|deliberate(?:ly)?|out of scope|not (?:needed|necessary|worth (?:it|the)|in this pr|for this pr|possible)|unnecessary|false positive)\b|` +
		`(?:this|that|it) (?:should not|shouldn'?t|must not|can'?t|cannot|won'?t|would not|wouldn'?t)\b.{0,60}\b(?:be|work|change|compile|help)|` +
		`(?:let'?s|can we) (?:not|keep|leave|do (?:this|that) (?:in|later))|(?:maybe )?(?:in|for) a (?:follow[- ]?up|separate|future|later)\b|-1\b|👎|:-1:|:thumbsdown:)`)
	// plainNo matches a sentence that begins with no.
	plainNo = text.Pattern(`(?i)^(?:no|nah|nope|not really)(?:[,.!;: ]|$)`)
	// accepting matches a sentence that takes a remark up.
	accepting = text.Pattern(`(?i)^(?:(?:oh|ah|thanks|thank you|thx|indeed|sure|ok|okay|right|yes|yep|yeah|good (?:catch|point|idea)|makes sense|agreed?|no|nope|i|i've|i'll|we|have|it's|this is|now|also|just)[,!.: -]+)*(?:done|fixed|addressed|updated|applied|changed|added|removed|renamed|dropped|replaced|moved|reworked|adopted|taken|took|rewrote|switched|implemented|improved|corrected|adjusted|will (?:do|fix|change|add|remove|update)|fix(?:ing)? (?:it|this)|sgtm|good (?:catch|point|idea|call)|great (?:catch|point|idea)|nice (?:catch|find)|makes sense|agreed?|you'?re right|my bad|oops|whoops|sure|absolutely|definitely|👍|:\+1:)`)
	// withdrawing matches a sentence with which people take back what they wrote.
	withdrawing = text.Pattern(`(?i)^(?:(?:oh|ah|ok|okay|hm+|right|sorry|actually|edit|thanks)[,!.: -]+)*(?:never ?mind|nvm\b|ignore (?:this|that|me|my)|please ignore|i (?:was|am|stand) (?:wrong|mistaken|corrected)|i'?m wrong|my mistake|my bad|i misread|i misunderstood|i missed that|you'?re right|disregard|scratch that|false alarm|i take (?:this|that|it) back|resolved by myself)`)
)

// answerOf says whether a reply takes a remark up or turns it down. asks tells that the remark was a
// question, to which no may be a plain answer.
func answerOf(words string, asks bool) answer {
	result := unclear
	for i, s := range sentences(words) {
		if i == maxSentences {
			break
		}
		switch {
		case accepting().MatchString(s):
			return yes
		case result == unclear && (refusing().MatchString(s) || !asks && plainNo().MatchString(s)):
			result = no
		}
	}
	return result
}

// takesBack reports whether a later comment of the one who made a remark takes it back.
func takesBack(words string) bool {
	all := sentences(words)
	return len(all) > 0 && withdrawing().MatchString(strings.TrimSpace(all[0]))
}
