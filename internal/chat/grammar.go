package chat

import (
	"regexp"
	"strings"

	"github.com/precedent-dev/precedent/internal/intent"
	"github.com/precedent-dev/precedent/internal/text"
)

// access tells which sentences may be a command of a kind.
type access int

const (
	direct   access = iota // the sentence has a mention
	follows                // or it follows one that has, in the same paragraph
	inThread               // or it is in our thread
	alone                  // as direct, or it is all that the comment in our thread says
)

// trigger is how a command begins.
type trigger struct {
	kind   Kind
	scope  Scope
	access access
	whole  bool // the content is the sentence, not only the group
	// pattern matches the normal form of a sentence, after the mention and lead-ins. Its last
	// group that matched is the content.
	pattern func() *regexp.Regexp
	example string // for the person
	// phrase is for words that people use without thinking of a command: they count only if nothing
	// else in the comment takes them back or postpones them.
	phrase bool
}

const (
	courtesy = `(?:please|pls|plz|thanks|thank you|thankyou|thx|ty|cheers|kindly|hey|hi|hello|yo|dear|ok|okay|and|also|so|now|then|again|btw|fyi|well|` +
		`morning|good morning|evening|yes|yep|yeah|sure|no|nope|nah|sorry|great|nice|good bot|lgtm|hm+|actually|but|just|sounds good|good point|good catch|fair enough|going forward|from now on|in (?:the )?future|a lot|so much|very much|` + onPull + `)`
	// onPull limits a command to the pull request.
	onPull = `(?:in|for|on) this (?:pr|pull request|mr|merge request|change|branch)`
	// polite may end a command.
	polite = `(?:[ ,]+(?:please|pls|plz|thanks|thank you|thx|ty|now|again|then))*[ .!:;)(]*$`
	// could may begin what is asked for, except where something is stored.
	could = `^(?:(?:can|could|would|will) you (?:please |pls |plz |just |kindly )*)?`
	later = `(?: (?:one|please|pls|too|for (?:next time|the future|future reviews|future prs|later)|next time|from now on|in (?:the )?future|going forward))*[ ,.!]*$`
	these = `(?:this|that|it|these|those|them)`
	repo  = `(?:(?:this|the|our) )?(?:repo|repository|project|codebase)`
	// because may stand before a reason.
	because = `(?: ?[:,;(-]+ ?(?:because |since |as |bc )?| (?:because|since|bc|cause|cuz)(?: |: ?))`
	// prefs are what users call what we store.
	prefs = `(?:preferences?|rules?|learnings?|conventions?|memory|memories|settings)`
	// id is the id of a learning: base 32, which may be without a digit, or another word that has one.
	id    = `[a-z_-]{0,40}[0-9][a-z0-9_-]{0,40}|[0-9a-hjkmnp-tv-z]{10}|` + "\x00" + `+`
	noise = `(?:issues?|warnings?|findings?|errors?|nits?|nitpicks?|comments?|complaints?|remarks?|violations?|problems?|suggestions?)`
)

// dismisses matches sentences that dismiss a finding without giving it a name.
const dismisses = `^(?:(?:no|nope|thanks|sorry|ok|okay|yes|well|actually|honestly|but|we|i|think|this|that|it|one|is|it's|that's|looks|seems|like|an?|clearly|totally|just|simply|` +
	`definitely|really|closing|closed|marking|marked|dismissing|dismissed|as|finding|the)[,:]* )*` +
	`(?:won't fix|wontfix|will not fix|false positive|false alarm|not a bug|not an issue|not applicable|n/a|by design|intentional|(?:works |working as )?intended|works as intended|dismiss|fp)` +
	`(?:$|-.*| ?[^a-z0-9 -].*| (?:here|because|since|this|that|per|see)\b.*| [^a-z0-9].*)$`

// triggers are all commands, in the order in which they are tried.
var triggers = []trigger{
	{Confirm, "", alone, false, text.Pattern(`^(?:confirm(?:ed)?|go ahead)` + polite), `confirm`, false},
	{
		Confirm, "", direct, false,
		text.Pattern(`^yes(?:,? (?:please|do it|go ahead|confirm(?:ed)?|i'm sure|i am sure|sure|forget (?:everything|them|all|it)(?: .*)?))*[ .!]*$`), `yes`, false,
	},

	{RememberReferential, InRepository, follows, false, text.Pattern(`^remember ` + these + later), `remember this`, false},
	{
		Remember, InRepository, follows, false, text.Pattern(`^remember(?: ` + these +
			`)?(?: for (?:next time|the future|future reviews))?(?:,? (?:please|pls))? ?(?:[:;]| - )[ -]*(.*)$`),
		`remember this: errors are wrapped with %w`, false,
	},
	{
		Remember, InRepository, follows, false, text.Pattern(`^remember,? (?:that|to) (.*)$`),
		`remember that error messages are in English`, false,
	},
	{
		Remember, InRepository, follows, false, text.Pattern(`^remember,? ((?:we|our|always|never|not to|all|every|no) .*)$`),
		`remember that error messages are in English`, false,
	},
	{
		Remember, InRepository, follows, false,
		text.Pattern(`^for (?:all |the )?future reviews ?(?:[:,]| - | please | pls )[ -]*(?:please |pls )?(.*)$`),
		`for future reviews: check that every migration can be reverted`, false,
	},
	{
		Remember, InRepository, follows, true, text.Pattern(`^always check (?:for\b|that\b|if\b|whether\b) ?:? ?(.*)$`),
		`always check for missing authorization`, false,
	},
	{
		Remember, InRepository, direct, true,
		text.Pattern(`^we (?:always |never |only |also |mostly |don't |do not |now )*use (.+? in ` + repo + `)\b`),
		`we use PascalCase for components in this repo`, false,
	},
	{
		Remember, InRepository, direct, true, text.Pattern(`^in ` + repo +
			`,? we (?:always |never |only |also |mostly |don't |do not |now )*use (.+)$`),
		`we use PascalCase for components in this repo`, false,
	},
	{
		Remember, InRepository, direct, true, text.Pattern(`^our convention (?:here |for .{1,80}? )?is\b ?:? ?(.*)$`),
		`our convention is to wrap errors`, false,
	},

	{
		Dismiss, InRepository, direct, false,
		text.Pattern(`^(?:i|we) (?:really |just |honestly |also )*(?:don't|dont|do not) (?:really )?care about\b ?:? ?(.*)$`),
		`i don't care about trailing whitespace`, false,
	},
	{
		Dismiss, InRepository, follows, false, text.Pattern(`^ignore ((?:[^ ]+ ){0,12}?` + noise + `\b.*)$`),
		"ignore style issues in `tests/**`", false,
	},
	{Dismiss, InRepository, follows, false, text.Pattern(intent.Quiet), "don't flag console.log in `scripts/**`", false},
	{
		Dismiss, InRepository, follows, false, text.Pattern(`^skip ((?:[^ ]+ ){0,12}?checks?\b.*)$`), `skip spelling checks`,
		false,
	},
	{
		Exception, InPullRequest, inThread, false,
		text.Pattern(`^(?:this|that|it)(?: is|'s|s) (?:totally |completely |perfectly |clearly |actually |all )?(?:intentional|intended|fine|ok|okay|by design|on purpose),? ?(?:because|bc|since|cause|cuz)\b ?:? ?(.*)$`), `this is intentional because old clients need it`, false,
	},
	{WontFix, InThread, inThread, false, text.Pattern(`^(?:(?:we|i) )?(?:won'?t|will not) ?fix(?: this| it| here)?(?:` +
		because + `(.*)|[ .!]*)$`), `won't fix: we prefer this pattern`, true},
	{
		NotApplicable, InThread, inThread, false,
		text.Pattern(`^(?:(?:this|that|it) is |(?:this|that|it)'s )?not applicable(?: here)?(?:` + because + `(.*)|[ .!]*)$`),
		`not applicable here`, true,
	},
	{
		kind: NotApplicable, scope: InThread, access: inThread, phrase: true, pattern: text.Pattern(dismisses),
		example: `this is a false positive`,
	},

	{
		Stricter, InRepository, follows, false,
		text.Pattern(`^be (?:stricter|more strict) (?:about|with|on|regarding)\b ?:? ?(.*)$`),
		"be stricter about security in `api/**`", false,
	},
	{
		Lenient, InRepository, follows, false,
		text.Pattern(`^be (?:more lenient|less strict|more relaxed) (?:with|about|on|regarding)\b ?:? ?(.*)$`),
		`be more lenient with types in tests`, false,
	},
	{FocusMore, InRepository, follows, false, text.Pattern(`^focus more on\b ?:? ?(.*)$`), `focus more on performance`, false},
	{FocusLess, InRepository, follows, false, text.Pattern(`^focus less on\b ?:? ?(.*)$`), `focus less on naming`, false},

	{UpdatePreference, InRepository, follows, false, text.Pattern(`^update (?:the |my |our |this )?` + prefs +
		` ?(?::| - )[ -]*(.*)$`), `update preference: we moved from 2 to 4 spaces`, false},
	{
		ForgetAll, InRepository, follows, false,
		text.Pattern(`^forget (?:everything|all|all of it|all (?:of )?(?:the |my |our |your )?` + prefs +
			`)(?: (?:that )?you(?:'ve| have)? (?:know|learned|remember|stored))?(?: (?:for|about|in|of) ` + repo + `)?` +
			polite), `forget all preferences for this repo`, false,
	},
	{
		ForgetRule, InRepository, follows, false, text.Pattern(`^forget (?:about )?(?:the |our |my |this )?(?:` + prefs +
			` )?(?:"([^"]*)"|'([^']*(?:'[a-z][^']*)*)'|(` + "\x00" + `+))(?: ` + prefs + `)?(?:[ ,.!;:-].*)?$`),
		`forget the "no panics" rule`, false,
	},
	{ForgetRule, InRepository, follows, false, text.Pattern(`^forget (?:about )?(?:the |our |my |this )?(?:` + prefs +
		` )?("[^"]*)$`), `forget the "no panics" rule`, false},
	{Forget, InRepository, follows, false, text.Pattern(`^forget ?:[ -]*(.*)$`), `forget: the rule about 2 spaces`, false},
	{
		Forget, InRepository, follows, false, text.Pattern(`^forget (?:that|about) ((?:[^ "]+ ){2,}[^"]*)$`),
		`forget that we use 2 spaces`, false,
	},
	{
		Forget, InRepository, follows, false,
		text.Pattern(`^forget (?:about )?(?:the |our |my )((?:rule|preference|convention)s? (?:about|that|on|for) [^"]*|[^ "][^"]* (?:rule|preference|convention)s?)(?: ?[,;(-].*| please)?[ .!]*$`), `forget the rule about 2 spaces`, false,
	},
	{ResetThresholds, InRepository, follows, false, text.Pattern(`^reset (?:the |all |your )?(?:confidence )?thresholds?` +
		polite), `reset confidence thresholds`, false},
	{ResetPreferences, InRepository, follows, false, text.Pattern(`^reset (?:the |all |my |our )*` + prefs +
		`(?:(?: for| in| of| under)? ?(.*))$`), "reset preferences for `src/legacy`", false},

	{
		AskRemember, "", follows, false,
		text.Pattern(`^what (?:do|did|have) you (?:remember|know|learn|learned|remembered)(?: (?:about|from|for|in) (?:` + repo +
			`|us|(?:this|the|our) (?:pr|code|team)))?[ ?!.]*$`), `what do you remember about this repo?`, false,
	},
	{ListPreferences, "", follows, false, text.Pattern(could + `(?:list|show)(?: me)? (?:all |the |my |our |your |of )*` +
		prefs + `(?: (?:for|in|of|about) ` + repo + `)?(?: please)?[ ?!.]*$`), `list my preferences`, false},
	{ListPreferences, "", follows, false, text.Pattern(`^what are (?:the |my |our |your )` + prefs +
		`(?: (?:for|in|of|about) ` + repo + `)?[ ?!.]*$`), `list my preferences`, false},
	{
		PreferencesForFile, "", follows, false, text.Pattern(`^(?:what|which) ` + prefs +
			` (?:do )?(?:apply|applies|hold|exist|are there|are active)(?: (?:to|for|in) ?(.*?)| here)?[ ?!.]*$`),
		`what preferences apply to this file?`, false,
	},
	{ExplainFlag, InThread, inThread, false, text.Pattern(could +
		`explain (?:to me )?why (?:did you flag|you flagged|you're flagging|this (?:was|is|got) flagged)(?: ` + these +
		`)?(?: (?:line|one|code|here))?` + `(?: please)?[ ?!.]*$`), `explain why you flagged this`, false},
	{
		ExplainFlag, InThread, inThread, false,
		text.Pattern(`^why (?:did you flag|was this flagged|is this flagged|have you flagged|are you flagging)(?: ` + these +
			`)?(?: (?:line|one|code|here))?[ ?!.]*$`), `explain why you flagged this`, false,
	},

	{ReviewAgain, InPullRequest, direct, false, text.Pattern(could + `(?:re-?review|review (?:(?:` + these +
		`|(?:(?:this|the|my) )?(?:pr|pull request|mr|merge request|change|changes)) )?(?:again|once more|one more time))(?: (?:` + these + `|(?:(?:this|the|my) )?(?:pr|pull request|mr|merge request|changes?)))?[ ?]*` + polite), `review again`, false},
	{Review, InPullRequest, direct, false, text.Pattern(could + `(?:do a |give (?:this|it) a )?review(?: (?:` + these +
		`|(?:(?:this|the|my) )?(?:(?:latest |new )?(?:changes?|commits?|push)|pr|pull request|mr|merge request)))?[ ?]*` +
		polite), `review`, false},
	{Resolve, InThread, alone, false, text.Pattern(`^resolve` + polite), `resolve`, false},
	{Resolve, InThread, direct, false, text.Pattern(could + `(?:resolve|close) (?:` + these +
		`|(?:(?:this|the) )?(?:thread|conversation|comment|finding|discussion))[ ?]*` + polite), `resolve`, false},
	{Fix, InPullRequest, alone, false, text.Pattern(`^fix` + polite), `fix`, false},
	{Fix, InPullRequest, direct, false, text.Pattern(could + `fix (?:` + these +
		`(?: for me)?|(?:(?:this|the) )?(?:finding|issue|bug|problem))[ ?]*` + polite), `fix`, false},
	{
		Pause, InPullRequest, direct, false,
		text.Pattern(`^pause(?: (?:reviews?|reviewing))?(?: (?:on|for|in) (?:this|the) (?:pr|pull request|mr|merge request))?(?:,.*|` + polite + `)$`), `pause`, false,
	},
	{
		Resume, InPullRequest, direct, false,
		text.Pattern(`^(?:resume|unpause)(?: (?:reviews?|reviewing))?(?: (?:on|for|in) (?:this|the) (?:pr|pull request|mr|merge request))?(?:,.*|` + polite + `)$`), `resume`, false,
	},
	{
		Help, "", direct, false,
		text.Pattern(`^(?:help(?: me)?|commands|what can you do|what commands (?:are there|do you (?:know|support|understand)))[ ?]*` + polite), `help`, false,
	},
	{
		Approve, "", alone, false, text.Pattern(`^approve(?: ` + these + `| (?:learning |rule )?#?(` + id + `))?` + polite),
		`approve`, false,
	},
	{
		Undo, "", alone, false, text.Pattern(`^undo(?: ` + these + `| (?:learning |rule )?#?(` + id + `))?` + polite), `undo`,
		false,
	},
}

var (
	leadIns = text.Pattern(`^(?:(?:` + courtesy + `)(?:[ ,.:;!)]+|-+ |$)|:[a-z0-9_+-]+:|[ ,.;!)-]+|: ?)*`)
	// thanks matches what ends a content without belonging to it.
	thanks = text.Pattern(`(?:[ ,]+(?:please|pls|plz|thanks|thank you|thx))+[ !.]*$`)
	// postpones matches words of a comment that promises or reports a change, or puts it off.
	postpones = text.Pattern(` fixed| (?:i|we)'ll | i will | let me | let's | will do| agree| follow-? ?up| backlog| next | for now| filed| tracked| in this pr| in another| separate | unless | until | anyway|` +
		`(?:fix|positive|alarm|bug|issue|applicable|n/a|design|intentional|intended|dismiss|fp)\b[^.!?]* but `)
	// retracts matches words that take back what a reason says.
	retracts = text.Pattern(`\b(?:you're right|you are right|i'll (?:fix|change)|will (?:fix|change) (?:it|this|that)\b|good catch|scratch that|never ?mind|i misread|fixed (?:it|this|in)|wait, no)|\bwill fix[ .!]*$`)
	question = text.Pattern(`\?[?! )"'.]*$`)
)

// stores tells whether a command of a kind changes what we do later. Such a sentence must not be a question.
func (k Kind) stores() bool {
	switch k {
	case AskRemember, ListPreferences, PreferencesForFile, ExplainFlag, Review, ReviewAgain, Resolve, Fix, Help:
		return false
	}
	return true
}

// forgets tells whether a command of a kind ends something for the whole repository, whatever it says of a pull request.
func (k Kind) forgets() bool {
	return k == ForgetAll || k == ForgetRule || k == Forget || k == ResetThresholds || k == ResetPreferences
}

// begins tells whether a text begins like a command that may follow another one.
func begins(l string) bool {
	l = l[len(leadIns().FindString(l)):]
	for i := range triggers {
		if t := &triggers[i]; t.access == follows && t.pattern().MatchString(l) {
			return true
		}
	}
	return false
}

// mention returns the end of a mention of one of the names that a text begins with, after
// lead-ins; -1 if there is none. Names are in small letters.
func mention(l string, names []string) int {
	for _, from := range []int{0, len(leadIns().FindString(l))} {
		rest, ok := strings.CutPrefix(l[from:], "@")
		if !ok {
			continue
		}
		for _, name := range names {
			after, ok := strings.CutPrefix(rest, name)
			if !ok {
				continue
			}
			after = strings.TrimPrefix(after, "[bot]")
			if endsName(after) {
				return len(l) - len(after)
			}
		}
	}
	return -1
}

// endsName tells whether a name ends before a text.
func endsName(after string) bool {
	if after == "" {
		return true
	}
	if strings.IndexByte(" ,:;!?.-)", after[0]) < 0 {
		return false
	}
	return len(after) == 1 || strings.IndexByte(".-", after[0]) < 0 || !isAlnum(after[1])
}
