package thread

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxQuote bounds the sentence that Declines returns, in characters.
const maxQuote = 300

// Declines tells whether a message says no to the remark that it answers, in
// English, and returns the sentence that does, verbatim. It is a fixed reading: a
// message declines if it has a sentence that is one of the plain forms below, and
// takes none of it back.
//
// Not read are quotations, code, and questions. A sentence does not count if the
// form is negated ("this is not a false positive"), hangs on a condition ("if this
// is intended"), is doubted ("maybe by design") or is what somebody else says or
// thought. A message that also promises or reports a change counts as no "no".
// To put a thing off ("in another pull request") is no "no" either.
func Declines(message precedent.Untrusted) (quote string, ok bool) {
	if len(message) > 4*maxWords {
		message = message[:4*maxWords]
	}
	found := ""
	for _, s := range sentences(prose(string(message))) {
		if agrees(s) {
			return "", false
		}
		if found == "" && declines(s) {
			found = s.verbatim
		}
	}
	return text.Cut(found, maxQuote), found != ""
}

// teams tells whether a message is the team's word.
func teams(m precedent.Message) bool { return m.MayWrite }

// declinedBy returns the last message of the thread, of those of people whose
// word counts, that declines it, with the sentence.
func declinedBy(t precedent.Thread, counts func(precedent.Message) bool) (by precedent.Message, quote string, ok bool) {
	for _, m := range slices.Backward(t.Messages) {
		if !personal(m) || !counts(m) {
			continue
		}
		if quote, ok := Declines(m.Body); ok {
			return m, quote, true
		}
	}
	return precedent.Message{}, "", false
}

// What the forms are made of. Text is in lower case, with straight apostrophes
// and single blanks.
const (
	// remark is a noun for what we said.
	remark = `(?:finding|comment|remark|warning|report|concern|rule|check|flag|point)`
	// subject is what can only mean the remark or the place it is on.
	subject = `(?:this|that|it|this one|that one|(?:the |this |that |your )` + remark + `|the (?:code|behaviou?r)(?: here)?)`
	is      = `(?: is|'s| was| seems(?: to be)?| looks(?: like)?)`
	adverb  = `(?: really| actually| simply| just| clearly| totally| completely| fully| entirely| very much| all| definitely| certainly| indeed| still| also| quite| rather| a clear)*`
	article = `(?: an?| the)?`
	// end is what may follow a form: the end of the clause, or a word that goes on
	// about the same thing.
	end = `(?:$|\s*[^\sa-z0-9'` + "`" + `]|\s+(?:here|because|as|since|and|so|for|in|on|at|by|per|see|given|due|imo|imho|from|with|too|anyway|afaict|afaik)\b)`

	intended = `(?:intentional|intended|deliberate|on purpose|by design|as designed|as intended|as expected|expected(?: behaviou?r)?|intended behaviou?r|(?:deliberate|conscious|intentional|explicit|known) (?:choice|decision|design|design choice|design decision|trade-?off))`
	untrue   = `(?:false[ -](?:positive|alarm)|non[ -]issue|not applicable|n/a|irrelevant|bogus|nonsense|hallucination|hallucinated)`
	defect   = `(?:bug|issue|defect|concern|real problem|vulnerability|security (?:issue|problem|hole|risk|concern)|race(?: condition)?|leak|memory leak|data race)`
	notA     = `(?: not| isn't)` + adverb + article + `(?: real| actual| valid)? ` + defect
	refusal  = `(?:won't[ -]?fix|wontfix|will not fix)`
	act      = `(?:fix|fixing|change|changing|address|addressing|do|doing|implement|implementing|touch|touching)`
)

// forms are the ways to say no. Each begins a clause of its own, or brings its
// own subject.
var forms = compile(
	// A whole clause: "this is intentional", "it's a false positive".
	`\b`+subject+is+adverb+article+` (?:`+intended+`|`+untrue+`)`+end,
	`\b(?:the|our) (?:[a-z'-]+ ){1,4}(?:is|was)`+adverb+` (?:intentional|deliberate|on purpose|by design)`+end,
	`\b`+subject+` (?:is|was) (?:done |left |kept |like this |like that |here )?(?:intentionally|deliberately|purposely|purposefully)\b`,
	`\b`+subject+` (?:is|was) (?:done|left out|left|kept|written|made)(?: like this| like that| this way| that way)? (?:on purpose|by design|intentionally|deliberately)`+end,
	`\b`+subject+`(?: is|'s| was)?`+notA+end,
	`\b`+subject+`(?:(?: really| simply| just)? (?:doesn't|does not|don't|do not)(?: really| actually)? apply| works as (?:intended|designed|expected)|'s working as (?:intended|designed|expected)| is working as (?:intended|designed|expected))`+end,
	`\b(?:the |this |that |your )`+remark+`(?: is|'s| was)`+adverb+` (?:wrong|incorrect|invalid|mistaken|inaccurate|not valid|not correct|not true)`+end,
	`\b(?:this|that|it)(?: is|'s)(?: simply| just)? (?:not (?:the case|true)|untrue)`+end,
	// What the person does or does not do.
	`\b(?:we|i)(?: do| did| have| had)?(?: very| quite)? (?:deliberately|intentionally|purposely|purposefully|consciously) `,
	`\b(?:we|i) (?:did|do|want|wanted|wrote|kept|keep|left|leave|chose|have) (?:this|that|it)(?: like this| this way| here| out)? (?:on purpose|by design)`+end,
	`\b(?:we|i|we'll|i'll)(?: respectfully| strongly| really| kindly| must| have to| would)* disagree\b`,
	`\b(?:we|i) (?:don't|do not|can't|cannot) agree(?: with| that| here|`+end+`)`,
	`\b(?:we|i) (?:don't|do not) (?:think|believe|consider|see how) (?:that )?(?:this|that|it)(?: is| to be|'s)?`+adverb+article+`(?: real| actual| valid)? (?:`+defect+`|problem|necessary|needed|applicable|relevant|worth (?:it|fixing|changing|doing))`+end,
	`\b(?:we|i) (?:don't|do not) see (?:an?|the|any)(?: real| actual)? (?:`+defect+`|problem)`+end,
	`\b(?:there's|there is|there are|i see|we see) no(?: real| actual)? (?:`+defect+`|problem)`+end,
	`\b(?:we|i) (?:won't|will not|am not going to|are not going to|aren't going to|do not plan to|don't plan to|don't intend to|don't want to|do not want to) (?:be )?`+act+`(?: this| that| it)?`+end,
	`\b(?:we're|i'm|we are|i am) not (?:going to |planning to |gonna )?`+act+`(?: this| that| it)`+end,
	`\b(?:this|that|it) (?:won't|will not) be (?:fixed|changed|addressed)`+end,
	`\bno (?:plans?|intention) to `+act+`\b`,
	`\b(?:there's |there is )?no need to (?:fix|change|handle|address) (?:this|that|it)`+end,
	`\b(?:leaving|keeping|leave|keep) (?:this|that|it) as(?: |-)is`+end,
	`\b(?:we|i)(?:'ll| will|'d| would)? (?:prefer|rather|like) (?:to )?(?:keep|leave) (?:this|that|it) (?:as(?: |-)is|this way|that way|like this|like that|the way it is)`+end,
	`\b(?:mark|marking|marked|close|closing|closed|dismiss|dismissing|dismissed|resolve|resolving|resolved|treat|treating)(?: this| that| it)?(?: as)?`+article+` (?:`+untrue+`|`+refusal+`|invalid|not a bug|`+intended+`|works as intended)`+end,
	`\b(?:we|i) accept (?:this|that|the) risk`+end,
	`\byou(?:'re| are)`+adverb+` (?:wrong|mistaken)(?: here| about this| about that)?`+end,
	`\b(?:don't|do not|stop|never) (?:flag|flagging|report|reporting|raise|raising|warn about|complain about|complaining about) (?:this|that|it|these|those|such)\b`,
)

// openings are what says no at the beginning of a clause alone.
var openings = compile(
	`^(?:`+refusal+`|declined|rejected|disagree|disagreed|hard disagree|respectfully disagree)`+end,
	`^(?:(?:clearly|totally|definitely|just|simply|also|still|completely) )*(?:an? |the )?(?:`+intended+`|`+untrue+`)`+end,
	`^(?:not|not really|not actually)`+article+`(?: real| actual)? `+defect+end,
	`^(?:doesn't|does not) apply`+end,
	`^(?:works|working) as (?:intended|designed|expected)`+end,
	`^not (?:going|planning) to `+act+`(?: this| that| it)?`+end,
	`^(?:please |you can |we can |just |safe to |can )*ignore (?:this|that|it)(?: one| `+remark+`)?`+end,
	`^(?:done |left |kept )?(?:intentionally|deliberately|purposely|purposefully)\b`,
	`^fp$`,
)

// takenBack are the sentences that promise or report a change, agree, or take
// back what was said, if they are not negated.
var takenBack = compile(
	`\b(?:fixed|addressed|corrected|reworked|removed|reverted)\b`,
	`\b(?:good|nice|great) (?:catch|find|point|spot)\b`,
	`\byou(?:'re| are)(?: absolutely| totally| quite)? right\b|\bmy (?:bad|mistake|fault)\b`,
	`\b(?:i'll|i will|we'll|we will|let me|let's|i'm going to|we're going to|going to|will) (?:still |also |now |just |then )*(?:fix|change|add|address|update|correct|handle|rename|remove|refactor|rework|adjust|do|revert|push|apply|improve|clean)\b`,
	`^(?:done|will do|agreed|i agree|makes sense|fair point|fair enough|true|ack)\b`,
	`\b(?:changed|updated) (?:it|this|that)\b`,
	`\b(?:scratch that|never ?mind|on second thought|i was wrong|i take (?:it|that|this) back)\b`,
)

// putOff are the sentences that put the thing off, or admit it.
var putOff = compile(
	`\bbut\b.*\b(?:real|valid|agree|still an?|should (?:be )?fix)`,
	`\b(?:in|for|with|as part of) (?:this|the current) (?:pr|pull request|mr|merge request|change|changeset|patch|release|sprint|version|iteration)\b`,
	`\b(?:follow[ -]?up|backlog|next (?:release|sprint|pr|version|week|iteration)|for now|right now|out of scope|to-?do)\b`,
	`\b(?:separate|another|different|later|own|future|subsequent) (?:pr|pull request|mr|merge request|issue|ticket|change|commit|release)\b`,
	`\b(?:filed|tracked|tracking|opened an? (?:issue|ticket))\b`,
	`\b(?:do|fix|address|handle|change) (?:this|that|it) later\b`,
)

// partly are the sentences that say no to something about the remark, or not for
// ever.
var partly = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bdisagree\b.*\b(?:severity|priority|wording|suggestion|suggested|proposed|approach|solution|fix|part)\b|` +
		`\bagree\b.*\b(?:severity|priority|wording|suggestion|suggested|proposed|approach|solution|fix|part)\b|` +
		`\b(?:unless|until|by mistake|by accident|accidentally|wrongly|mistakenly|erroneously)\b`)
})

// What is before a form within its sentence and makes it say something else.
var (
	condition = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:if|unless|whether|in case|until|assuming|suppose|supposing|when|once|should|would be|as long as)\b`)
	})
	doubt = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:maybe|perhaps|possibly|probably|might|may|could|can't tell|not sure|not certain|unsure|unclear|wonder|wondering|guess|curious|ideally)\b`)
	})
	reported = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:said|says|saying|say|claims?|claimed|told|tells|argues?|argued|asked|asks|thought|assumed|believed|hoped|wish|pretends?|used to|calls?|called|calling|implies|suggests|states|stated|according to|documented as|labell?ed|reports?|reported)\b`)
	})
	negation = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:not|never|no|nor|neither|hardly|cannot|without|nothing|nobody|wrong to|hard to|instead of|rather than|stop|avoid)\b|n't\b`)
	})
	past = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:any ?more|no longer|now|by now|since (?:the last|my last|commit)|after (?:the last|my last|commit))\b`)
	})
	connector = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[;:()–—]|\s-\s|\b(?:because|since|but|however|so|and|as)\b|, `)
	})
	asking = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\W*(?:hm+|um+|ok|okay|so|and|but|wait|sorry|hi|hey|@\S+),?\s+)*(?:is|isn't|are|aren't|was|wasn't|does|doesn't|do|don't you|did|didn't|can|can't|could|couldn't|should|shouldn't|would|wouldn't|(?:will|won't) (?:you|we|it|this|that|they)|shall|why|what|how|which|who|where)\b`)
	})
	// leadIn are words before the clause that says no.
	leadIn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\W*(?:no|nope|nah|thanks?(?: you)?|thx|ty|sorry|hm+|well|ok|okay|yes|yeah|yep|again|actually|honestly|imo|imho|afaict|afaik|nit|hi|hey|fyi|note|\+1|-1|@\S+|i think|i believe|we think|i'd say|i would say|looks like|seems like|seems|sounds like|as discussed|in my opinion|as far as i can tell|by the way|btw|so|and|but|since|because)\b[\s,.:–—-]*)+`)
	})
)

// compile compiles the patterns when they are first asked for: it takes longer
// than a short command.
func compile(patterns ...string) func() []*regexp.Regexp {
	return sync.OnceValue(func() []*regexp.Regexp {
		all := make([]*regexp.Regexp, len(patterns))
		for i, p := range patterns {
			all[i] = regexp.MustCompile(p)
		}
		return all
	})
}

// declines tells whether the sentence is one of the forms, and means it.
func declines(s sentence) bool {
	if s.question || s.long || asking().MatchString(s.plain) || past().MatchString(s.plain) || partly().MatchString(s.plain) {
		return false
	}
	for _, form := range forms() {
		for _, at := range form.FindAllStringIndex(s.plain, -1) {
			if meant(s.plain[:at[0]], false) {
				return true
			}
		}
	}
	for at, clause := range clauses(s.plain) {
		for _, opening := range openings() {
			if opening.MatchString(clause) && meant(s.plain[:at], true) {
				return true
			}
		}
	}
	return false
}

// meant tells whether nothing before a form takes its meaning. What has no
// subject of its own hangs on all that is before it, any other form on what is
// in its clause.
func meant(before string, bare bool) bool {
	if condition().MatchString(before) || doubt().MatchString(before) || reported().MatchString(before) {
		return false
	}
	governing := strings.TrimLeft(leadIn().ReplaceAllString(before, ""), " ,.")
	if bare {
		return !negation().MatchString(governing)
	}
	if cuts := connector().FindAllStringIndex(governing, -1); len(cuts) > 0 {
		governing = governing[cuts[len(cuts)-1][1]:]
	}
	return !negation().MatchString(governing)
}

// clauses yields the beginnings of the clauses of a sentence: without what leads
// in, and after each colon, semicolon, dash and comma.
func clauses(plain string) func(yield func(at int, clause string) bool) {
	return func(yield func(int, string) bool) {
		starts := []int{0}
		for _, cut := range connector().FindAllStringIndex(plain, -1) {
			starts = append(starts, cut[1])
		}
		for _, at := range starts {
			rest := strings.TrimLeft(plain[at:], " ")
			rest = leadIn().ReplaceAllString(rest, "")
			if !yield(at, strings.TrimLeft(rest, " ,.:–—-")) {
				return
			}
		}
	}
}

// agrees tells whether the sentence takes a "no" away from its message.
func agrees(s sentence) bool {
	if s.question {
		return false
	}
	for _, form := range putOff() {
		if form.MatchString(s.plain) {
			return true
		}
	}
	for _, form := range takenBack() {
		for _, at := range form.FindAllStringIndex(s.plain, -1) {
			if before := s.plain[:at[0]]; !negation().MatchString(before) {
				return true
			}
		}
	}
	return false
}
