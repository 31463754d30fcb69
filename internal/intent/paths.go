package intent

import (
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
)

const (
	// maxPaths limits the paths of one command, and maxPath the bytes of each.
	maxPaths = 5
	maxPath  = 200
)

var (
	// located matches a preposition with a path, in backquotes or as a word. Verbs say where
	// something is, not where a rule holds.
	located = pattern("(?i)(?:^|[ " +
		",;:(\n])((?:live|lives|belong|belongs|go|goes|is|are|be|stay|stays|kept|stored|defined|located|put|placed|move|moved|added) )?" +
		"(in|under|inside|within|below|for)((?: " +
		"(?:all|any|every|the|only|our|files?|code|everything|anything|stuff|folder|directory|dir|package|path|in|under|matching|of))*) " +
		"(`[^`\n]+`|[^ `,;:!?\"'()\n]+)((?:(?:,? (?:and|or|nor)|,) (?:in |under |for )?(?:`[^`\n]+`|[^ `,;:!?\"'()\n]+))*)")
	pathToken = pattern("`[^`\n]+`|[^ `,;:!?\"'()\n]+")
	pathWord  = pattern(`^[\p{L}\p{N}_.*{}\[\]@+/~,-]+$`)
	// folder matches the folders in which sources usually are. In "client/server" the slash is
	// an "or".
	folder    = pattern(`^(?:\.{1,2}|src|lib|libs|pkg|internal|cmd|app|apps|packages|tests?|spec|docs?|scripts?|tools?|examples?|vendor|third_party|db|config|build|ci|\.[a-z]+|migrations|services|modules|web|api|assets|static|public|components|crates|include)/`)
	extension = pattern(`[\w*-]\.[a-z][a-z0-9]{0,4}$`)
	// source is the name of a file. Other words with a period are code, such as "req.body".
	source = pattern(`(?i)^[\w.*-]+\.(?:go|mod|sum|rs|py|pyi|js|jsx|mjs|cjs|ts|tsx|vue|svelte|java|kt|kts|gradle|scala|c|h|cc|cpp|cxx|hpp|m|cs|fs|rb|erb|php|swift|dart|lua|ex|exs|erl|hs|ml|` +
		`sh|bash|ps1|sql|proto|tf|md|rst|txt|ya?ml|json|toml|xml|html?|css|scss|less|ini|cfg|conf|env|lock|snap|csv|gen)$`)
	// module is the path of a module on a host.
	module = pattern(`^[\w-]+(?:\.[\w-]+)+/`)
)

// Glob returns the paths and patterns that a directive limits itself to, as one pattern. Only what is
// clearly a path counts: after a preposition, in backquotes or with slashes. With rule, the words may
// also say where something belongs, which limits nothing. It is not ok if one leaves the repository,
// or if they are too many: dropping one would change the directive.
func Glob(words string, rule bool) (glob string, ok bool) {
	var g globs
	for _, m := range located().FindAllStringSubmatch(words, maxPaths) {
		if m[1] != "" && rule {
			continue
		}
		under := m[2] == "under" || m[2] == "below" || m[2] == "inside" || m[2] == "within" || m[3] != ""
		for i, token := range pathToken().FindAllString(m[4]+" "+m[5], 2*maxPaths) {
			g.add(token, under && i == 0)
		}
	}
	return g.join()
}

// Paths returns all words that are paths or patterns as one pattern, as Glob does.
func Paths(words string) (glob string, ok bool) {
	var g globs
	for _, token := range pathToken().FindAllString(words, maxPaths) {
		g.add(token, true)
	}
	return g.join()
}

// globs are patterns of one directive.
type globs struct {
	all []string
	bad bool // one is not in the repository
}

func (g *globs) add(token string, under bool) {
	one, is, valid := pathGlob(token, under)
	g.bad = g.bad || is && !valid
	if is && valid && !slices.Contains(g.all, one) {
		g.all = append(g.all, one)
	}
}

func (g *globs) join() (glob string, ok bool) {
	if glob = strings.Join(g.all, ","); len(g.all) > 1 {
		glob = "{" + glob + "}"
	}
	if g.bad || len(g.all) > maxPaths || len(glob) > precedent.MaxLearningGlob {
		return "", false
	}
	return glob, true
}

// pathGlob returns the pattern of a word or a code span. Is tells whether it is a path, and
// valid whether it is one in the repository. Under tells that the sentence says that it is a
// folder.
func pathGlob(token string, under bool) (glob string, is, valid bool) {
	quoted := strings.HasPrefix(token, "`")
	p := strings.Trim(token, "`")
	if !quoted {
		p = strings.TrimRight(p, ".")
	}
	if p == "" || strings.Contains(p, "://") || !pathWord().MatchString(p) || module().MatchString(p) {
		return "", false, false
	}
	slash, star := strings.Contains(p, "/"), strings.Contains(p, "*")
	sure := quoted || star || under || strings.HasSuffix(p, "/") || strings.Count(p, "/") > 1 || folder().MatchString(p) ||
		extension().MatchString(p)
	if slash && !sure || !slash && !source().MatchString(p) && (!quoted || !star) {
		return "", false, false
	}
	parts := strings.Split(strings.TrimPrefix(p, "./"), "/")
	if len(p) > maxPath || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || slices.Contains(parts, "..") ||
		slices.Contains(parts, ".") {
		return "", true, false
	}
	p = strings.Join(parts, "/")
	last := parts[len(parts)-1]
	switch {
	case last == "":
		p += "**"
	case slash && !star && !extension().MatchString(last):
		p += "/**"
	}
	return p, true, true
}
