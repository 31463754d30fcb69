package chat

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/intent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Parse returns the commands of a comment, in order, and those that it refuses. Without
// any, a comment that addresses us or that answers in our thread is one FreeText.
//
// A mention holds for the sentences after it in the same paragraph as long as each of them is
// a command or a courtesy.
func Parse(body precedent.Untrusted, o Options) (commands []Command, refusals []Refusal) {
	p := parser{prose: newProse(body), thread: o.InThread, own: ownSentences(o.Own)}
	for _, name := range o.Names {
		if name = strings.TrimSuffix(strings.TrimPrefix(intent.Lower(name), "@"), "[bot]"); name != "" {
			p.names = append(p.names, name)
		}
	}
	if len(p.names) == 0 {
		p.names = []string{"precedent"}
	}
	return p.parse()
}

// parser reads one comment.
type parser struct {
	*prose
	names  []string
	thread bool
	own    map[string]bool

	commands []Command
	refusals []Refusal
	// addressed tells that a sentence addresses us, and said that one is the author's own.
	addressed, said bool
	// unread are sentences that begin with a mention and are not commands.
	unread []string
}

// ownSentences returns the sentences of our comments.
func ownSentences(bodies []precedent.Untrusted) map[string]bool {
	own := map[string]bool{}
	for _, body := range bodies {
		p := newProse(body)
		for _, s := range p.sentences {
			own[p.text(s)] = true
		}
	}
	return own
}

func (p *parser) parse() ([]Command, []Refusal) {
	held, paragraph := false, -1
	for i := 0; i < len(p.sentences); {
		s := p.sentences[i]
		if s.paragraph != paragraph {
			held = held && s.isItem && p.sentences[i-1].inList
			paragraph = s.paragraph
		}
		var n int
		held, n = p.sentence(i, held)
		i += n
		if len(p.commands)+len(p.refusals) > maxActs {
			return nil, []Refusal{{
				Reason: TooMany, Why: "A comment can have at most 10 commands, and this one has more. None was carried out.",
				Example: "remember this: errors are wrapped with %w",
			}}
		}
	}
	if len(p.commands)+len(p.refusals) == 0 {
		if !p.said || !p.addressed && !p.thread {
			return nil, nil
		}
		all := p.source(0, len(p.norm))
		return []Command{{Kind: FreeText, Content: text.Cut(all, maxFreeText), Sentence: text.Cut(all, maxLength)}}, nil
	}
	// Without this, the answers to the other commands would look as if they were all.
	for _, l := range p.unread[:min(len(p.unread), maxActs-len(p.commands)-len(p.refusals))] {
		p.refusals = append(p.refusals, Refusal{
			Reason: NoCommand, Why: "This is not a command: “" + text.Cut(l, maxShown) + "”.", Example: "help",
			Sentence: text.Cut(l, maxShown),
		})
	}
	return p.commands, p.refusals
}

// sentence reads the sentence at i, and those after it that belong to its content: n sentences.
// Held tells whether a mention holds for it, and then for the next one.
func (p *parser) sentence(i int, held bool) (holds bool, n int) {
	s := p.sentences[i]
	l := p.text(s)
	if s.inQuote || p.own[l] {
		return false, 1
	}
	p.said = true
	at := max(mention(l, p.names), 0)
	mentioned := at > 0 || i > 0 && (p.sentences[i-1].paragraph == s.paragraph || s.example && s.isItem) && p.greets(i-1)
	p.addressed = p.addressed || mentioned || p.ends(l)
	lead := at + len(leadIns().FindString(l[at:]))
	if s.example && !held && !p.greets(i-1) {
		return false, 1
	}
	whole := len(l) - len(strings.TrimLeft(l[at:], " ,.:;!)-"))
	for _, from := range []int{whole, lead} {
		for k := range triggers {
			t := &triggers[k]
			if !p.applies(t, mentioned, held) || t.access == alone && !mentioned && lead > whole {
				continue
			}
			m := t.pattern().FindStringSubmatchIndex(l[from:])
			if m == nil || t.kind.stores() && question().MatchString(l) {
				continue
			}
			if n := p.take(i, t, from, m, mentioned || held); n > 0 {
				return mentioned || held, n
			}
		}
	}
	if lead < len(l) && at > 0 {
		p.unread = append(p.unread, p.source(s.from, s.to))
	}
	return lead == len(l) && (held || mentioned), 1
}

// applies tells whether a sentence may be a command of a trigger.
func (p *parser) applies(t *trigger, mentioned, held bool) bool {
	switch {
	case t.kind == Confirm && len(p.sentences) > 1:
		return false // "Yes. But not now."
	case mentioned:
		return true
	case t.access == follows:
		return held
	case t.access == inThread:
		return held || p.thread
	case t.access == alone:
		return p.thread && len(p.sentences) == 1
	}
	return false
}

// greeting matches what may precede a mention that the next sentence belongs to.
var greeting = text.Pattern(`^(?:(?:hi|hey|hello|yo|dear|ok|okay|please|pls|and|also)[ ,!]+)*@`)

// greets tells whether a sentence is only a mention, as in "Hi @precedent!", or above a list.
func (p *parser) greets(i int) bool {
	l := p.text(p.sentences[i])
	at := mention(l, p.names)
	return at > 0 && strings.Trim(l[at:], " ,.:;!-") == "" && greeting().MatchString(l)
}

// ends tells whether a sentence ends by addressing us, as in "why, @precedent?".
func (p *parser) ends(l string) bool {
	i := strings.LastIndex(l, ", @")
	return i >= 0 && len(l)-i < 100 && mention(l[i+2:], p.names) > 0 &&
		strings.IndexByte(strings.TrimRight(l[i+2:], " .?!"), ' ') < 0
}

// take adds the command that a trigger found in the sentence at i, or its refusal. It returns
// how many sentences belong to it; 0 if it is neither.
func (p *parser) take(i int, t *trigger, from int, m []int, addressed bool) (n int) {
	s := p.sentences[i]
	begin, end := -1, -1
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 {
			begin, end = s.from+from+m[g], s.from+from+m[g+1]
		}
	}
	n = 1
	hasTail := begin >= 0 && strings.HasSuffix(strings.TrimRight(string(p.norm[s.from:begin]), " -"), ":")
	if hasTail {
		if n = p.tail(i); n > 1 {
			end = p.sentences[i+n-1].to
		}
	}
	c := Command{Kind: t.kind, Scope: t.scope, Sentence: p.source(s.from, max(s.to, end))}
	said := ""
	if begin >= 0 {
		if t.kind != ForgetRule {
			end -= len(thanks().FindString(string(p.norm[begin:end])))
		}
		said = string(p.norm[begin:end])
		if c.Content = trimContent(p.source(begin, end)); t.whole && c.Content != "" {
			c.Content = trimContent(p.source(s.from+from, max(end, s.to)))
		}
	}
	if t.access == inThread && (retracts().MatchString(string(p.norm[s.from:])) || t.phrase &&
		postpones().MatchString(" "+string(p.norm)+" ")) {
		return 0
	}
	if !addressed && begin >= 0 && c.Content == "" {
		return 0
	}
	if c.Scope == InRepository && thisPull().MatchString(string(p.norm[s.from:s.from+from])) {
		if t.kind.forgets() {
			return 0
		}
		c.Scope = InPullRequest
	}
	reason := p.complete(&c, said, begin >= 0)
	if reason == "" {
		p.commands = append(p.commands, c)
		return n
	}
	p.refuse(t, reason, c.Sentence)
	return n
}

// tail returns how many sentences belong to a content that a colon begins in the sentence at i.
// It goes on to the end of the paragraph, and into a list or a paragraph that a colon
// announces. It ends before the next command, a question and what is only a courtesy.
func (p *parser) tail(i int) (n int) {
	first := p.sentences[i]
	end := i + 1
	for ; end < len(p.sentences); end++ {
		s, before := p.sentences[end], p.sentences[end-1]
		l := p.text(s)
		switch {
		case s.afterGap, s.inQuote, s.isItem && first.isItem, p.own[l], mention(l, p.names) > 0:
			return p.trimTail(i, end)
		case s.paragraph != before.paragraph && !s.example && (!s.isItem || !before.inList):
			return p.trimTail(i, end)
		case !s.inList && (begins(l) || question().MatchString(l)):
			return p.trimTail(i, end)
		}
	}
	return p.trimTail(i, end)
}

// trimTail removes courtesies from the end.
func (p *parser) trimTail(i, end int) (n int) {
	for end > i+1 {
		l := p.text(p.sentences[end-1])
		if len(leadIns().FindString(l)) < len(l) {
			break
		}
		end--
	}
	return end - i
}

// trimContent removes the period of a sentence.
func trimContent(s string) string {
	if t, ok := strings.CutSuffix(strings.TrimRight(s, " ,"), "."); ok && !strings.HasSuffix(t, ".") &&
		!strings.HasSuffix(t, "etc") {
		return t
	}
	return strings.TrimRight(s, " ,")
}

var (
	unclear = text.Pattern(`^(?:ignore )?` + these + `(?: (?:one|ones|here|anymore|again|kind|kinds|thing|things|stuff|of|` +
		noise + `|patterns?|in (?:the )?future))*(?:[ .!]*$| ?[,;(-]| because | since )`)
	broad = text.Pattern(`^(?:(?:all|any|every|everything|anything|other|your|my|the|of|previous|prior|above|these|those|issues?|` + noise + `|checks?|here|anymore|at all|in this ` +
		`repo(?:sitory)?)\b ?)+(?:(?:in|for|under|from) .*)?[ .!]*$|\b(?:all|previous|prior|above|earlier|system) (?:[a-z]+ )?(?:instructions?|prompts?|rules|messages?)\b`)
	thisPlace = text.Pattern(`\b(?:in|for|to|of|under|about) this (file|directory|folder|dir|package|module)\b|^this (file|directory|folder|dir|package|module)\b`)
	thisPull  = text.Pattern(`\b` + onPull + `\b`)
)

// complete sets what the content of a command says of its place and scope, and returns why the
// command is refused, if it is. Said is the content in the normal form.
func (p *parser) complete(c *Command, said string, hasContent bool) Reason {
	optional := c.Kind == WontFix || c.Kind == NotApplicable || c.Kind == PreferencesForFile || c.Kind == Undo ||
		c.Kind == Approve
	switch {
	case c.Scope == InThread && !p.thread && c.Kind == Resolve:
		c.Scope = InPullRequest
	case c.Scope == InThread && !p.thread:
		return NoThread
	case hasContent && c.Content == "" && !optional:
		return Empty
	case utf8.RuneCountInString(c.Content) > maxLength:
		return TooLong
	case (c.Kind == Forget || c.Kind == ForgetRule) && strings.Count(said, `"`)%2 == 1:
		return Unclosed
	}
	switch c.Kind {
	case Remember, Dismiss, Stricter, Lenient, FocusMore, FocusLess, UpdatePreference, PreferencesForFile,
		ResetPreferences:
	case ForgetRule, Undo, Approve:
		c.Content = strings.Trim(c.Content, "` ")
		if c.Content == "" && !optional {
			return Empty
		}
		return ""
	default:
		return ""
	}
	find := intent.Paths
	if c.Kind != PreferencesForFile && c.Kind != ResetPreferences {
		find = func(words string) (string, bool) {
			return intent.Glob(words, c.Kind == Remember || c.Kind == UpdatePreference)
		}
	}
	glob, ok := find(c.Content)
	if !ok {
		return BadPath
	}
	c.Glob = glob
	if m := thisPlace().FindStringSubmatch(said); m != nil {
		c.Place = ThisDirectory
		if cmp.Or(m[1], m[2]) == "file" {
			c.Place = ThisFile
		}
	}
	if thisPull().MatchString(said) && c.Scope == InRepository {
		c.Scope = InPullRequest
	}
	return p.limits(c, said)
}

// limits returns why a command is refused that says too little or too much.
func (p *parser) limits(c *Command, said string) Reason {
	quieter := c.Kind == Dismiss || c.Kind == Lenient || c.Kind == FocusLess
	rule := c.Kind == Remember || c.Kind == UpdatePreference
	if m := intent.Of(c.Content); rule && m.Kind.Quieter() {
		quieter, rule, said = true, false, intent.Lower(m.Subject)
	}
	switch {
	case c.Place != "" && !p.thread:
		return Unclear
	case c.Kind == ResetPreferences && c.Glob == "" && c.Place == "":
		return Empty
	case c.Kind == PreferencesForFile:
		c.Content = c.Glob
	case !rule && unclear().MatchString(said):
		return Unclear
	case quieter && c.Glob == "" && broad().MatchString(said):
		return TooBroad
	}
	return ""
}

// refusal is what a person is told.
var refusal = map[Reason]string{
	Empty:    "It does not say what.",
	TooLong:  "It has more than 20,000 characters.",
	TooBroad: "It would apply to everything. Name the kind of issue, or a path.",
	Unclear:  "It is not clear what \"this\" is. Name the kind of issue, or a path.",
	Unclosed: "The quotation mark is not closed.",
	BadPath:  "A path leaves the repository, or the paths are too many or too long.",
	NoThread: "This works only in the thread of a finding.",
}

// maxShown limits the sentence of a refusal, and maxFreeText the text of FreeText, in
// characters.
const (
	maxShown    = 300
	maxFreeText = 8000
)

func (p *parser) refuse(t *trigger, reason Reason, sentence string) {
	p.refusals = append(p.refusals, Refusal{
		Kind: t.kind, Reason: reason, Why: refusal[reason], Example: t.example, Sentence: text.Cut(sentence, maxShown),
	})
}

// Dismissal returns the sentence with which a reply in our thread dismisses the finding.
func Dismissal(reply precedent.Untrusted) (sentence string, ok bool) {
	commands, _ := Parse(reply, Options{InThread: true})
	for _, c := range commands {
		switch c.Kind {
		case Exception, WontFix, NotApplicable:
			return c.Sentence, true
		}
	}
	return "", false
}
