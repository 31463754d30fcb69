package diff

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// state is what .gitattributes says about one attribute of a file.
type state byte

const (
	unspecified state = iota // nothing: name and content decide
	set                      // "name" or "name=true"
	unset                    // "-name" or "name=false": no rule may skip the file
	reset                    // "!name" in a line: unspecified again
)

// attribute holds the states of the attributes that say who wrote a file, or that it is binary. generated is
// linguist-generated and GitLab's gitlab-generated. linguist-documentation is not one of them: documents are
// reviewed. text alone does not make a file binary: "* -text" only turns off the conversion of line endings.
type attribute struct{ generated, vendored, diff, text state }

// Limits for untrusted attributes files (T21). git itself ignores lines longer than 2,048 bytes. Every rule
// is tried on every file until the work limit is reached; after that, the attributes are ignored.
const (
	maxAttributesFile   = 256 << 10
	maxAttributesLine   = 2048
	maxAttributePattern = 256
	maxAttributeRules   = 500      // of all folders
	maxAttributesDirs   = 2000     // folders whose .gitattributes is read
	maxAttributesWork   = 16 << 20 // bytes of names compared with patterns
)

const attributesName = ".gitattributes"

// attributes evaluates all .gitattributes files of the base.
type attributes struct {
	read   func(string) ([]byte, error)
	macros map[string]attribute
	dirs   map[string][]attributeRule // by folder, "." for the root
	rules  int
	work   int
}

type attributeRule struct {
	pattern  string // for doublestar, relative to the file's folder
	anywhere bool   // the pattern matches the last element of a path
	says     attribute
}

func newAttributes(root []byte, read func(string) ([]byte, error)) *attributes {
	a := &attributes{read: read, dirs: map[string][]attributeRule{}}
	a.macros = map[string]attribute{"binary": {diff: unset, text: unset}} // git's own
	a.dirs["."] = a.parse(root, true)
	return a
}

// get returns the attributes of a file. A folder's file overrides those of its parent
// folders, and a later line overrides earlier ones.
func (a *attributes) get(name string) attribute {
	var got attribute
	for i := 0; ; {
		dir := "."
		if i > 0 {
			dir = name[:i-1]
		}
		for _, r := range a.in(dir) {
			if a.work += len(name) - i; a.work < maxAttributesWork && r.matches(name[i:]) {
				got.apply(r.says)
			}
		}
		next := strings.IndexByte(name[i:], '/')
		if next < 0 {
			return got
		}
		i += next + 1
	}
}

func (a *attributes) in(dir string) []attributeRule {
	rules, ok := a.dirs[dir]
	if !ok && len(a.dirs) < maxAttributesDirs {
		if b, err := a.read(dir + "/" + attributesName); err == nil {
			rules = a.parse(b, false)
		}
		a.dirs[dir] = rules
	}
	return rules
}

func (r *attributeRule) matches(name string) bool {
	if r.anywhere {
		name = path.Base(name)
	}
	return doublestar.MatchUnvalidated(r.pattern, name)
}

func (got *attribute) apply(says attribute) {
	got.generated.apply(says.generated)
	got.vendored.apply(says.vendored)
	got.diff.apply(says.diff)
	got.text.apply(says.text)
}

// include adds what a macro says to a line. "!name" in a macro resets what came before it.
func (got *attribute) include(macro attribute) {
	for to, from := range map[*state]state{
		&got.generated: macro.generated, &got.vendored: macro.vendored, &got.diff: macro.diff, &got.text: macro.text,
	} {
		if from != unspecified {
			*to = from
		}
	}
}

func (s *state) apply(says state) {
	switch says {
	case unspecified:
	case reset:
		*s = unspecified
	default:
		*s = says
	}
}

// parse parses an attributes file and keeps the relevant lines. Macros can be defined
// only in the root's file.
func (a *attributes) parse(b []byte, root bool) []attributeRule {
	var rules []attributeRule
	text := strings.TrimPrefix(string(b[:min(len(b), maxAttributesFile)]), "\ufeff")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || len(line) > maxAttributesLine || a.rules == maxAttributeRules {
			continue
		}
		pattern, rest := cutPattern(line)
		says := a.parseLine(rest)
		if macro, ok := strings.CutPrefix(pattern, "[attr]"); ok {
			if root {
				a.macros[macro] = says
			}
			continue
		}
		if says == (attribute{}) || pattern == "" || pattern[0] == '!' || len(pattern) > maxAttributePattern {
			continue // git forbids negative patterns
		}
		// Braces have no meaning in git.
		pattern = strings.NewReplacer("{", `\{`, "}", `\}`, `\{`, `\{`, `\}`, `\}`).Replace(pattern)
		slash := strings.Contains(pattern, "/")
		rules = append(rules, attributeRule{strings.TrimPrefix(pattern, "/"), !slash, says})
		a.rules++
	}
	return rules
}

// cutPattern splits a line into the pattern, which may be quoted, and the attributes.
func cutPattern(line string) (pattern, rest string) {
	if line[0] == '"' {
		if pattern, rest, ok := unquote(line); ok {
			return pattern, rest
		}
	}
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return line[:i], line[i:]
	}
	return line, ""
}

// parseLine parses the attributes of a line and expands macros.
func (a *attributes) parseLine(s string) attribute {
	var says attribute
	for word := range strings.FieldsSeq(s) {
		to := set
		switch word[0] {
		case '-':
			to, word = unset, word[1:]
		case '!':
			to, word = reset, word[1:]
		}
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "linguist-generated", name == "gitlab-generated":
			says.generated = unlessFalse(to, value)
		case name == "linguist-vendored":
			says.vendored = unlessFalse(to, value)
		case name == "diff": // any value names a driver
			says.diff = to
		case name == "text":
			says.text = to
		case to == set:
			says.include(a.macros[name])
		}
	}
	return says
}

// unlessFalse is the state of an attribute of linguist, whose value may be false.
func unlessFalse(to state, value string) state {
	if value == "false" {
		return unset
	}
	return to
}
