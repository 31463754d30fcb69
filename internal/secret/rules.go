package secret

import (
	_ "embed" // of the rules
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// rule is one rule of gitleaks' configuration. Its expressions are compiled
// when a keyword of it is first met: compiling all of them takes 20 ms, and a
// change meets a handful.
type rule struct {
	id, description string
	pattern         func() expression     // nil for a rule about paths alone
	path            func() *regexp.Regexp // nil for a rule about every file
	group           int                   // the secret's group; 0 for the first that is not empty
	entropy         float64               // bits a character, above which the secret must be
	keywords        []string
	allow           func() []allowlist
	// before and after say how many lines around a keyword a match can reach.
	before, after int
}

// ruleSet is the whole configuration, ready for scanning.
type ruleSet struct {
	rules   []rule
	allow   func() []allowlist // of all rules
	words   keywords           // of all rules, by the rules' indices
	byPath  []int              // rules about paths alone
	pathed  []int              // rules with an expression and a path
	generic int                // index of the catch-all rule, -1 if there is none
}

// genericRule is the catch-all: where a specific rule matches too, that one speaks.
const genericRule = "generic-api-key"

// defaultRules is gitleaks' built-in configuration, whose licence is in
// gitleaks.LICENSE. A test compares it with the library's, which is not linked:
// its reader brings three libraries along and compiles everything at once.
//
//go:embed gitleaks.toml
var defaultRules string

// loadRules is gitleaks' configuration, read once.
var loadRules = sync.OnceValues(func() (*ruleSet, error) { return parseRules(defaultRules) })

// parseRules reads gitleaks' configuration format.
func parseRules(text string) (*ruleSet, error) {
	var doc struct {
		Rules []struct {
			ID, Description, Path, Regex string
			SecretGroup                  int
			Entropy                      float64
			Keywords                     []string
			Allowlists                   []allowlist
		}
		Allowlist allowlist
	}
	if err := toml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, fmt.Errorf("read gitleaks rules: %w", err)
	}
	set := &ruleSet{generic: -1, allow: compileAllow([]allowlist{doc.Allowlist})}
	for i, d := range doc.Rules {
		r := rule{
			id: d.ID, description: d.Description, group: d.SecretGroup, entropy: d.Entropy,
			keywords: d.Keywords, allow: compileAllow(d.Allowlists), before: 1, after: 2,
		}
		if d.Path != "" {
			r.path = compile(d.Path)
		}
		if d.Regex == "" {
			set.byPath = append(set.byPath, i)
		} else {
			r.pattern = compileExpression(d.Regex, d.Keywords)
			if d.Path != "" {
				set.pathed = append(set.pathed, i)
			}
		}
		if crossesLines(d.Regex) {
			r.before, r.after = farBefore, farAfter
		}
		if d.ID == genericRule {
			set.generic = i
		}
		for _, k := range r.keywords {
			set.words.add(k, i)
		}
		set.rules = append(set.rules, r)
	}
	return set, nil
}

// leadIn begins most of the expressions. It takes up to 50 characters of the
// name in front of the keyword and cannot change which secret is found, but
// makes the search five times as slow; leadStart puts it back.
const leadIn = `[\w.-]{0,50}?`

// leadStart moves the start of a match back over what leadIn would have taken.
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

// A rule whose expression crosses lines freely is given this many lines around
// its keyword: enough for the key block of a 16,384 bit RSA key (260 lines)
// and for a Kubernetes manifest's head.
const farBefore, farAfter = 20, 400

// crossesLines tells whether an expression can run over any number of lines.
func crossesLines(pattern string) bool {
	for _, s := range []string{`[\s\S`, `(?s:.)`, `[\r\n]`, `\r\n]`} {
		if strings.Contains(pattern, s) {
			return true
		}
	}
	return false
}

// expression is a rule's expression. An anchored one begins with a keyword and
// is matched where the keyword stands, which costs a hundredth of looking for
// it in the lines around.
type expression struct {
	*regexp.Regexp
	anchored bool
}

func compileExpression(pattern string, keywords []string) func() expression {
	return sync.OnceValue(func() expression {
		pattern := strings.ReplaceAll(pattern, leadIn, "")
		if beginsWith(pattern, keywords) {
			return expression{regexp.MustCompile("^(?:" + pattern + ")"), true}
		}
		return expression{regexp.MustCompile(pattern), false}
	})
}

// compile compiles an expression when it is first needed.
func compile(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
