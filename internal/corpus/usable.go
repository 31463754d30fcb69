package corpus

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// Why a chunk is not a precedent.
const (
	byAuthor   = "author"   // the author of the pull request wrote it
	tooShort   = "short"    // fewer than four words with a meaning of their own
	isPraise   = "praise"   // it only agrees
	isQuestion = "question" // it only asks, and does not suggest anything
	isReport   = "report"   // it only says what its author did or tested
)

// leastWords is how many words that are no function words a precedent has at least.
const leastWords = 4

// unusable says why the first comment of a conversation is not a precedent; empty if it is one.
// words are its own words.
func unusable(v store.CorpusConversation, words string) string {
	first := &v.Comments[0]
	switch {
	case samePerson(first.AuthorID, first.Author, v.Pull.AuthorID, v.Pull.Author):
		return byAuthor
	case text.ContentWords(words, leastWords) < leastWords:
		return tooShort
	}
	return classify(words)
}

// maxSentences limits the sentences of a comment that are classified: one of more says something.
const maxSentences = 6

// classify says whether a comment is praise, a report or a bare question, from how its sentences
// begin and what they ask for; empty if it makes a point. A comment makes one if any of its
// sentences does.
func classify(words string) string {
	if strings.Contains(words, "```") {
		return ""
	}
	all := sentences(words)
	if len(all) == 0 || len(all) > maxSentences {
		return ""
	}
	kind := ""
	for _, s := range all {
		switch k := kindOf(s); {
		case k == "":
			return ""
		case k == filler:
		case kind == "" || k == isQuestion:
			kind = k
		}
	}
	return kind
}

// filler is the kind of a sentence that says nothing, such as a greeting.
const filler = "filler"

// sentences splits a text at the ends of lines and after full stops, exclamation and question
// marks. The mark stays at its sentence, and a stop within a name or number ends none.
func sentences(s string) []string {
	var all []string
	from := 0
	add := func(to int) {
		if one := strings.TrimSpace(s[from:to]); strings.Trim(one, " .!?,;:*_~-()'\"") != "" {
			all = append(all, one)
		}
		from = to
	}
	for i := 0; i < len(s) && len(all) <= maxSentences; i++ {
		switch s[i] {
		case '\n':
			// A line that goes on in the next one does not end a sentence.
			if next := strings.TrimLeft(s[i:], " \t\r\n"); next == "" || i+1 < len(s) && s[i+1] == '\n' ||
				next[0] < 'a' || next[0] > 'z' {
				add(i + 1)
			}
		case '.', '!', '?':
			if i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n' || s[i+1] == '\r' {
				add(i + 1)
			}
		}
	}
	if from < len(s) {
		add(len(s))
	}
	return all
}

var (
	// point matches what makes a sentence ask for something, whatever else it says.
	point = text.Pattern(`(?i)\b(?:should|shouldn'?t|shall|could|would|wouldn'?t|must|mustn'?t|ought|needs?|needed|needn'?t|necessary|unnecessary|required?|might|may want|perhaps|maybe|instead|rather|better to|prefer|suggest|suggestion|recommend|please|pls|nit|nits|typo|todo|fixme|missing|misses|forgot|forgotten|unused|redundant|duplicate[ds]?|superfluous|unrelated|wrong|incorrect|bug|broken|breaks?|fails?|failing|crash(?:es)?|leaks?|race|overflows?|underflows?|unsafe|danger(?:ous)?|insecure|confus(?:ing|ed)|unclear|misleading|inconsistent|consistency|consistent|outdated|stale|deprecated|leftover|remove|rename|drop|replace|move|split|avoid|add|change|use|make|revert|simplif(?:y|ied)|however|but|except|although|though|unless|otherwise|don'?t|doesn'?t|didn'?t|won'?t|isn'?t|aren'?t|wasn'?t|weren'?t|hasn'?t|haven'?t|can'?t|cannot|not|never|no longer|anymore|any more|still|already|intended|intentional(?:ly)?|on purpose|accidental(?:ly)?|by accident|deliberate(?:ly)?|what if|what about|how about|why not|too (?:many|much|large|long|small|big)|worth|safer?|cleaner|simpler|clearer|easier|faster|more (?:readable|efficient|robust|idiomatic|precise|explicit|clear))\b|->|=>|→|\bs/[^/\s]+/`)
	// praising matches the beginning of a sentence that only agrees or thanks.
	praising = text.Pattern(`(?i)^(?:(?:oh|ah|wow|hey|hi|yes|yep|yeah|ok|okay|well|and|also|sure|haha|heh)[,!.]? +)*(?:@[\w-]+[,:]? +)?(?:(?:this|that|it|these|those|which)(?: all)?(?:'s| is| are| was| were| looks?| seems?| feels?| sounds?) +)?(?:(?:i (?:really |do |also |very much )?(?:like|love|appreciate|enjoy|agree)|love|like)(?: (?:it|this|that|how|the|these|your)\b.*)?|(?:(?:very|really|so|quite|pretty|much|truly|super|a|an|such a|all|even|indeed|absolutely|definitely) +)*(?:nice|nicer|great|good|cool|neat|awesome|excellent|perfect|brilliant|beautiful|amazing|wonderful|fantastic|lovely|elegant|clever|smart|impressive|fine|ok(?:ay)?|better|much cleaner|cute|clean|helpful|solid|superb|sweet|fun)\b.*|lgtm\b.*|sgtm\b.*|(?:(?:concept|approach|code[ -]?review|re|ut|t|c|st|cr|crt?)[ -]?)?ack\b.*|looks? (?:very |really |pretty )?(?:good|great|fine|nice|ok(?:ay)?|right|correct|sane|reasonable)\b.*|(?:many |big )?(?:thanks?|thx|ty|kudos|props|cheers|congrat\w*)\b.*|well (?:done|spotted|written|explained)\b.*|(?:i )?(?:totally |fully |completely |strongly )?agreed?\b.*|makes? (?:total |perfect |a lot of )?sense\b.*|ship it\b.*|\+1\b.*|👍.*|🎉.*|❤️.*|💯.*|🚀.*|:(?:\+1|thumbsup|tada|heart|rocket|100|clap|raised_hands)\w*:.*)$`)
	// arguing matches what gives a reason or points to something else.
	arguing = text.Pattern(`(?i)\b(?:because|since|reference|example|docs?|documentation|see|as long as|if|when|only|so that|due to|enough)\b|:$`)
	// reporting matches the beginning of a sentence in which its author says what he or she did.
	reporting = text.Pattern(`(?i)^(?:(?:oh|ah|yes|yep|yeah|ok|okay|thanks|thank you|indeed|right|sure|good (?:catch|point|idea)|makes sense|agreed?|note to self|edit|update)[,!.: -]+)*(?:i(?:'ve| have)? (?:just |also |now |already |manually |locally )*(?:did|done|fixed|addressed|updated|applied|rebased|reworked|resolved|added|removed|renamed|dropped|changed|tested|verified|reviewed|checked|confirmed|ran|built|compiled|benchmarked|pushed|squashed|reproduced)\b|(?:done|fixed|addressed|updated|applied|rebased|reworked|resolved|squashed|pushed|reverted|fixed up)(?:[.,!;:( -]|$)|(?:re-?)?(?:tested|verified|reviewed|confirmed|checked|reproduced|rebased)\b)`)
	// asking matches the beginning of a question that asks for knowledge.
	asking = text.Pattern(`(?i)^(?:(?:hmm+|hm|oh|ah|so|and|or|just|also|question|q|curious|ok|okay|sorry|btw|by the way|wait|well|hi|hey|then|out of (?:curiosity|interest)|for my (?:own )?(?:understanding|education|curiosity)|just (?:curious|wondering|a question|to (?:understand|be sure|clarify|confirm))|(?:i'?m |i am )?(?:just )?(?:curious|wondering)|@[\w-]+)[,:!. -]+)*(?:why|what(?:'s|s)?|where(?:'s)?|when|who|whose|which|how(?:'s| come)?|is|are|was|were|do|does|did|has|have|had|can|will|any\b|i wonder|wonder|curious|wondering|for my (?:own )?understanding)\b`)
	// greeting matches a sentence that says nothing by itself.
	greeting = text.Pattern(`(?i)^(?:hm+|hmm+|oh|ah|hi|hey|hello|ok|okay|(?:sorry|apologies)\b.{0,40}|(?:just )?(?:a )?(?:quick |stupid |dumb |naive |genuine |general )?question|just (?:curious|wondering|asking)|(?:i'?m |i am )?(?:just |genuinely )?(?:curious|wondering)|out of curiosity|for my (?:own )?(?:understanding|education)|in general|see also|@[\w-]+|[0-9a-f]{7,40})[ .,:;!?-]*$`)
	// suggesting matches a question that names what to do instead.
	suggesting = text.Pattern("(?i)^(?:why not|how about|what about|what if|can (?:we|you|this|it|i)\\b|can't|could)|\\bor " +
		"(?:is|are|should|can|do|does|just)\\b|\\bis(?:n't| it| this| " +
		"that)?\\b.{0,40}\\b(?:enough|sufficient|correct|right|valid|true|possible|ok|okay)\\b")
)

// kindOf classifies a sentence; empty for one that makes a point.
func kindOf(s string) string {
	switch {
	case greeting().MatchString(s):
		return filler
	case praising().MatchString(s) && !arguing().MatchString(s) && !point().MatchString(s) && !strings.HasSuffix(s, "?"):
		return isPraise
	case strings.HasSuffix(s, "?") && asking().MatchString(s) && !point().MatchString(s) && !suggesting().MatchString(s):
		return isQuestion
	case reporting().MatchString(s) && !point().MatchString(s) && !strings.HasSuffix(s, "?"):
		return isReport
	}
	return ""
}
