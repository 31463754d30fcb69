// Package intent decides what a directive means: what a person wants of later reviews, from the words
// alone. Comments, commands, files and agents all use it, so that the same words mean the same
// wherever they are written. It is a fixed grammar, without a model.
//
// Most directives ask to check something. The danger is the opposite reading: "do not flag X" must
// hide X, while "do not merge without X" and "never ignore X" must not.
package intent

import (
	"regexp"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
)

// Meaning is what a directive asks for.
type Meaning struct {
	Kind precedent.LearningKind
	// Subject is what it is about: of "do not flag X in tests", "X in tests". It is as written, and
	// the whole directive if the grammar cannot tell.
	Subject string
}

// Words of the grammar. Patterns match the normal form: small letters, straight apostrophes.
const (
	not = `(?:do(?:es)? not|don't|dont|doesn't|never|must not|mustn't|should not|shouldn't|shall not|cannot|can't|not)`
	// stop begins what is asked not to be done any more.
	stop = `(?:` + not +
		`(?: to)?|no longer|stop|quit|avoid|refrain from|cease|no need to|no reason to|(?:there is|there's) no (?:need|reason) to|(?:you )?(?:need not|needn't|(?:do not|don't) (?:have|need) to))`
	often = `(?:(?:ever|again|any ?more|always|please|also|just|even|bother(?:ing)?(?: to| with)?|start(?:ing)? to|keep) )*`
	// tell is what a reviewer does with a finding, and programs hardly do.
	tell = `(?:flag(?:ging)?|report(?:ing)?|comment(?:ing)?(?: on| about)?|complain(?:ing)?(?: about| of)?|mention(?:ing)?|warn(?:ing)?(?: about| of)?|nag(?:ging)?(?: about)?|` +
		`nitpick(?:ing)?|rais(?:e|ing) (?:issues|concerns) (?:about|with)|remark(?:ing)?(?: on)?|point(?:ing)? out|criticiz(?:e|ing)|worry(?:ing)? about|care about|` +
		`bother (?:about|with)|look(?:ing)? for|suggest(?:ing)?|propos(?:e|ing)|object(?:ing)? to|tell(?:ing)? (?:me|us) about|remind(?:ing)? (?:me|us) (?:about|of)|` +
		`show(?:ing)? (?:me|us|findings about|warnings about)|review(?:ing)?|ask(?:ing)? for|insist(?:ing)? on)`
	told = `(?:flagged|reported|commented(?: on| about)?|pointed out|warned about|complained about|nitpicked|criticized)`
	// skip is what hides a finding.
	skip = `(?:ignor(?:e|ing)|skip(?:ping)?|suppress(?:ing)?|mut(?:e|ing)|silenc(?:e|ing)|disregard(?:ing)?|overlook(?:ing)?|tolerat(?:e|ing)|exempt(?:ing)?)`
	fine = `(?:fine|ok|okay|acceptable|accepted|allowed|permitted|tolerated|intentional|intended|on purpose|by design|deliberate|expected|harmless|` +
		`not (?:a|an|any) (?:problem|issue|bug|concern)|no (?:problem|issue|concern)|good enough|not worth (?:flagging|reporting|mentioning|a comment))`
	// there ends a sentence, or says where or why.
	there = `(?:$|[.,;:!(].*$| (?:here|in|for|under|within|inside|because|since|as|when|if|there|by us|with us|everywhere|anywhere)\b.*$)`
	noise = `(?:warnings?|findings?|nits?|nitpicks?|comments?|complaints?|remarks?|reports?|suggestions?)`
	be    = `(?:is|are|'s|'re|was|were)`
	quite = `(?:(?:totally|perfectly|completely|absolutely|usually|always|generally|all|just|also|quite|really|clearly) )*`
)

// Quiet is the pattern of sentences such as "stop flagging X", in the normal form of comments. Its last
// group is X.
const Quiet = `^(?:please )?` + stop + ` ` + often +
	`(?:flag(?:ging)?|report(?:ing)?|comment(?:ing)? on|complain(?:ing)? about|warn(?:ing)? about|nitpick(?:ing)?)\b ?:? ?(.*)$`

// rule reads directives that match a pattern, whose last group that matched is the subject.
type rule struct {
	kind    precedent.LearningKind
	pattern func() *regexp.Regexp
}

// rules are tried in this order. What asks for more comes before what it could be taken for.
var rules = []rule{
	{precedent.LearnDo, pattern(`^` + stop + ` ` + often + `(?:` + skip +
		`|forget|miss|hide|drop|allow|permit|accept|let|stop|refrain|leave|merge|approve)\b`)},
	{precedent.LearnDo, pattern(`^(?:stop|quit|avoid|never|not) ` + skip + `\b`)},
	{precedent.LearnDo, pattern(`\b(?:` + be + `|'t) (?:not|never|no longer) ` + quite +
		`(?:fine|ok|okay|acceptable|accepted|allowed|permitted|tolerated|expected|by design)\b`)},
	{precedent.LearnDo, pattern(`\b(?:isn't|aren't|never|not) ` + quite +
		`(?:fine|ok|okay|acceptable|accepted|allowed|permitted|tolerated)\b`)},
	{precedent.LearnDo, pattern(`^(?:allow|permit|tolerate|accept) (?:only|no|at most|nothing)\b`)},
	{
		precedent.LearnDontFlag,
		pattern(`^(.+?) (?:need not|needn't|should not|shouldn't|must not|mustn't|should never|must never|(?:do|does) not (?:need|have) to|(?:don't|doesn't) (?:need|have) to) be ` + told + `\b.*$`),
	},
	{precedent.LearnDo, pattern(`\b(?:must|should|shall|have to|has to|need to|needs to) (?:always |still |also )*be ` +
		told + `\b`)},

	{precedent.LearnDontFlag, pattern(`^` + stop + ` ` + often + tell +
		`\b(?: (?:that|any|the|these|those))? ?:? ?(.*)$`)},
	{precedent.LearnDontFlag, pattern(`^` + skip + `\b ?:? ?(.*)$`)},
	{precedent.LearnDontFlag, pattern(`^allow (.+)$`)},
	{precedent.LearnDontFlag, pattern(`^leave (.+) alone\b.*$`)},
	{precedent.LearnDontFlag, pattern(`^(?:you (?:can|may|should)|feel free to|it(?: is|'s) (?:fine|ok|okay|safe) to) ` +
		often + skip + `\b (.*)$`)},
	{
		precedent.LearnDontFlag,
		pattern(`^(?:i|we|you|they|nobody|no one|the team|reviewers|our team) (?:really |just |honestly |also )*(?:do not|don't|dont|does not|doesn't|need not|should not|shouldn't|never|)` +
			` ?(?:care|cares|worry|worries) about (.*)$`),
	},
	{
		precedent.LearnDontFlag,
		pattern(`^(?:i|we|you|the team|reviewers)(?:'m|'re| am| are)? (?:not interested in|(?:do not|don't|dont) (?:mind|want to (?:hear|know|read) about|need to (?:hear|know|read) about|want ` + noise + ` (?:about|on|for))) (.*)$`),
	},
	{precedent.LearnDontFlag, pattern(`^no (?:more |further )?` + noise + ` (?:about|on|for|regarding) (.*)$`)},
	{
		precedent.LearnDontFlag,
		pattern(`^no (?:more |further )?((?:[^ ]+ ){1,4}(?:warnings?|nits?|nitpicks?|complaints?|remarks?|findings?)\b.*)$`),
	},
	{precedent.LearnDontFlag, pattern(`^no need (?:for ` + noise + `|to ` + tell +
		`) ?(?:about|on|for|regarding)? ?(.*)$`)},
	{precedent.LearnDontFlag, pattern(`^it(?: is|'s) ` + quite + fine + ` (?:to|that|if|when|for) (.*)$`)},
	{precedent.LearnDontFlag, pattern(`^(.+?) ?` + be + ` ` + quite + fine + there)},

	{
		precedent.LearnStricter,
		pattern(`^be (?:much |a bit |even )?(?:stricter|more strict|pickier|harder|tougher|more careful|less lenient|less forgiving) (?:about|with|on|regarding)\b ?:? ?(.*)$`),
	},
	{
		precedent.LearnLenient,
		pattern(`^(?:be (?:much |a bit |even )?(?:more lenient|less strict|less picky|more relaxed|more tolerant|gentler|more forgiving) (?:with|about|on|regarding)|go easy on|tone down)\b ?:? ?(.*)$`),
	},
	{
		precedent.LearnLenient,
		pattern(`^(?:focus less on|pay less attention to|de-?prioriti[sz]e|care less about|look less at)\b ?:? ?(.*)$`),
	},
	{
		precedent.LearnFocus,
		pattern(`^(?:focus (?:more )?on|pay (?:more |special |close )?attention to|prioriti[sz]e|concentrate on|look (?:more )?closely at|emphasi[sz]e)\b ?:? ?(.*)$`),
	},
	{
		precedent.LearnConvention,
		pattern(`^(?:we|our|all|this repo(?:sitory)?|by convention,?|the convention is|in this (?:repo(?:sitory)?|project|codebase),? we) `),
	},
}

// pattern compiles a regular expression when it is first used.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// leadIns are what may come before a directive without changing it.
var leadIns = pattern(`^(?:(?:please|pls|kindly|hey|hi|also|and|so|now|just|ok|okay|that|to|from now on|going forward|in (?:the )?future(?: reviews)?|for (?:all )?future reviews|next time|` +
	`(?:can|could|would|will) you|you (?:should|must|can)|(?:i|we)(?:'d| would)? (?:want|like) you to|(?:the )?(?:reviewers?|precedent|bots?) (?:should|must|can))[ ,:]+)*`)

// Of returns what a directive asks for.
func Of(directive string) Meaning {
	s := strings.TrimRight(strings.Join(strings.Fields(apostrophes.Replace(directive)), " "), " .!")
	l := Lower(s)
	from := len(leadIns().FindString(l))
	for _, r := range rules {
		m := r.pattern().FindStringSubmatchIndex(l[from:])
		if m == nil {
			continue
		}
		meaning := Meaning{Kind: r.kind, Subject: s}
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 && m[g] < m[g+1] {
				meaning.Subject = strings.TrimRight(s[from+m[g]:from+m[g+1]], " ,.;:")
			}
		}
		return meaning
	}
	return Meaning{Kind: precedent.LearnDo, Subject: s}
}

var apostrophes = strings.NewReplacer("’", "'", "‘", "'")

// Lower turns the capitals of ASCII into small letters. It keeps all others, and so the length:
// a letter that only looks like one of ASCII never becomes one.
func Lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
