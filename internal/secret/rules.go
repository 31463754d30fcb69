package secret

import (
	_ "embed" // for the rules
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// rule is one rule of gitleaks' configuration. Its expressions are compiled when one of its keywords first
// occurs: compiling all of them takes 20 ms, and a change needs only a few.
type rule struct {
	id       string
	pattern  func() expression     // nil for a rule about paths only
	path     func() *regexp.Regexp // nil for a rule about every file
	group    int                   // the secret's group; 0 for the first non-empty one
	entropy  float64               // minimum of the secret, in bits per character, exclusive
	keywords []string
	allow    func() []allowlist
	own      bool // one of this package, whose values must look random
	issued   bool // a token of a known form, which is enough
	assigns  bool // whether a match has an operator after the name that the keyword is in
	// leaves decides what an outbound rule redacts; nil for the others. If opens is set, it
	// redacts nothing after a name that does not open something.
	leaves threshold
	opens  bool
	// paired is set if the name is in the object of the value, lists if the match opens a list of values.
	paired, lists bool
	// reach is how many bytes of a line an attempt can cost, for expressions that search a line from a keyword on.
	reach int
	// before and after are how many lines around a keyword a match can span.
	before, after int
}

// ruleSet is the whole configuration, ready for scanning.
type ruleSet struct {
	rules []rule
	allow func() []allowlist // for all rules
	words keywords           // of the rules that report, by the rules' indices
	all   keywords           // of all rules
	named map[string]int     // outbound rules by id
	// byService are the rules that match any value after the name of a service.
	byService map[string]bool
	generic   int // index of the catch-all rule, -1 if there is none
}

// genericRule is the catch-all rule: specific rules take precedence over it.
const genericRule = "generic-api-key"

// defaultRules is gitleaks' built-in configuration, whose licence is in
// gitleaks.LICENSE. A test compares it with the library's, which is not linked:
// its reader brings three libraries along and compiles everything at once.
//
//go:embed gitleaks.toml
var defaultRules string

// loadRules parses gitleaks' configuration, once.
var loadRules = sync.OnceValues(func() (*ruleSet, error) {
	set, err := parseRules(defaultRules, ownRules, outboundRules)
	if err == nil {
		set.addForms(issuedForms)
	}
	return set, err
})

// issuedForms are the forms of tokens: a rule a line.
//
//go:embed forms.txt
var issuedForms string

// addForms adds the rules for tokens that are known by their form.
func (set *ruleSet) addForms(text string) {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if line[0] == '#' || len(fields) < 3 {
			continue
		}
		r := rule{
			id: fields[1], issued: true, allow: compileAllow(nil), before: 1, after: 2,
		}
		if fields[0] == "hide" {
			r.leaves = thresholds["issued"]
		}
		pattern := "(" + fields[2] + `)(?:[^\w-]|$)`
		if r.keywords = fields[3:]; len(r.keywords) == 0 {
			if re, err := syntax.Parse(fields[2], syntax.Perl); err == nil {
				r.keywords, _ = beginnings(re)
			}
		} else {
			pattern = `\b` + pattern
		}
		r.pattern = compileExpression(pattern, r.keywords)
		set.add(r)
	}
}

// parseRules parses gitleaks' configuration format. The allowlist for all rules is that of the first text.
func parseRules(texts ...string) (*ruleSet, error) {
	set := &ruleSet{generic: -1, byService: map[string]bool{}, named: map[string]int{}}
	for _, text := range texts {
		if err := set.parse(text); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func (set *ruleSet) parse(text string) error {
	var doc struct {
		Rules []struct {
			ID, Path, Regex, Value string
			SecretGroup, Reach     int
			Entropy                float64
			Keywords               []string
			Allowlists             []allowlist
		}
		Allowlist allowlist
	}
	if err := toml.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("read secret rules: %w", err)
	}
	if set.allow == nil {
		set.allow = compileAllow([]allowlist{doc.Allowlist})
	}
	for _, d := range doc.Rules {
		i := len(set.rules)
		r := rule{
			id: d.ID, group: d.SecretGroup, entropy: d.Entropy, keywords: d.Keywords,
			allow: compileAllow(d.Allowlists), own: d.Value == "" && isOwn(d.ID),
			assigns: d.ID == genericRule || d.ID == ruleAssigned || d.ID == ruleInvented, leaves: thresholds[d.Value], reach: d.Reach,
			before: 1, after: 2,
		}
		if d.Path != "" {
			r.path = compile(d.Path)
		}
		if d.Regex != "" {
			r.pattern = compileExpression(d.Regex, d.Keywords)
		}
		if crossesLines(d.Regex) {
			r.before, r.after = farBefore, farAfter
		}
		if strings.Contains(d.Regex, leadIn) && !looseRules[d.ID] {
			set.byService[d.ID] = true
		}
		if d.ID == genericRule {
			set.generic = i
		}
		if d.Value != "" {
			set.named[d.ID] = i
			r.opens = d.Value == "named" || d.Value == "setting" || d.Value == "block"
			r.assigns = r.assigns || r.opens
			r.paired, r.lists = d.Value == "paired", d.Value == "list"
			r.opens = r.opens || r.lists
		}
		set.add(r)
	}
	return nil
}

// add adds a rule, to be tried at its keywords.
func (set *ruleSet) add(r rule) {
	for _, k := range r.keywords {
		set.all.add(k, len(set.rules))
		if r.leaves == nil {
			set.words.add(k, len(set.rules))
		}
	}
	set.rules = append(set.rules, r)
}

// leadIn begins most of the expressions. It matches up to 50 characters of the name before the keyword. It
// cannot change which secret is found, but makes the search five times slower; leadStart replaces it.
const leadIn = `[\w.-]{0,50}?`

// tokenEnd is what gitleaks wants after a token. anyEnd replaces it, and adds what stands there in prose,
// in tables and in calls.
const (
	tokenEnd = `(?:[\x60'"\s;]|\\[nr]|$)`
	anyEnd   = `(?:[\x60'"\s;,.)\]}<>&|#:!?]|\\[nr]|$)`
)

// leadStart moves the start of a match back over what leadIn would have matched.
func leadStart(text string, start int) int {
	for n := 0; n < 50 && start > 0; n++ {
		c := text[start-1]
		if c != '_' && c != '.' && c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
		start--
	}
	return start
}

// farBefore and farAfter are the lines searched around a keyword for an expression that crosses lines freely:
// enough for the key block of a 16,384 bit RSA key (260 lines) and for the head of a Kubernetes manifest.
const farBefore, farAfter = 20, 400

// crossesLines reports whether an expression can match any number of lines.
func crossesLines(pattern string) bool {
	for _, s := range []string{`[\s\S`, `(?s:.)`, `[\r\n]`, `\r\n]`} {
		if strings.Contains(pattern, s) {
			return true
		}
	}
	return false
}

// expression is a rule's expression. An anchored one begins with a keyword, or with \b before one, and is matched where
// the keyword is, which costs a hundredth of a search in the lines around it. One that crosses lines from a word as
// common as curl is not: it would be matched against the same lines from each command of a manual.
type expression struct {
	*regexp.Regexp
	anchored  bool
	beginWord bool // a match begins at the edge of a word
}

func compileExpression(pattern string, keywords []string) func() expression {
	return sync.OnceValue(func() expression {
		pattern := strings.ReplaceAll(strings.ReplaceAll(pattern, leadIn, ""), tokenEnd, anyEnd)
		flag := pattern[:len(pattern)-len(strings.TrimPrefix(pattern, "(?i)"))]
		rest, beginWord := strings.CutPrefix(pattern[len(flag):], `\b`)
		if beginsWith(flag+rest, keywords) && (!beginWord || !crossesLines(pattern)) {
			return expression{regexp.MustCompile("^(?:" + pattern + ")"), true, beginWord}
		}
		return expression{Regexp: regexp.MustCompile(pattern)}
	})
}

// compile compiles an expression on first use.
func compile(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
