package precedent

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

const module = "github.com/precedent-dev/precedent"

// floors is the order of the packages: a package imports from lower floors
// only, never a neighbour. docs/architecture.md says what each floor is for.
var floors = map[string]int{
	"": 0,

	"internal/backoff": 1, "internal/background": 1, "internal/calibration": 1, "internal/child": 1, "internal/diff": 1, "internal/git": 1, "internal/intent": 1, "internal/label": 1, "internal/sarif": 1, "internal/secret": 1, "internal/strict": 1, "internal/temp": 1, "internal/text": 1,

	"internal/chat": 2, "internal/forge": 2, "internal/guide": 2, "internal/llm": 2, "internal/markdown": 2, "internal/match": 2, "internal/prompt": 2, "internal/sandbox": 2, "internal/search": 2, "internal/store": 2,

	"internal/comment": 3, "internal/engine": 3, "internal/gate": 3, "internal/hook": 3, "internal/queue": 3, "internal/forge/wire": 3, "internal/lint": 3, "internal/report": 3,

	"internal/corpus": 4, "internal/fixround": 4, "internal/memory": 4, "internal/settings": 4, "internal/thread": 4,

	"internal/portable": 5, "internal/post": 5, "internal/review": 5,

	"internal/workspace": 6,

	"internal/run": 7,

	"internal/pull": 8,

	"internal/converse": 9, "internal/fix": 9,

	"internal/mcp": 10, "internal/round": 10,

	"internal/doctor": 11, "internal/progress": 11, "internal/server": 11, "internal/web": 11,

	"internal/engine/api": 12, "internal/engine/claude": 12, "internal/engine/command": 12, "internal/engine/enginetest": 12,
	"internal/llm/llmtest": 12, "internal/markdown/markdowntest": 12, "internal/golden": 12, "internal/needs": 12,
	"internal/forge/forgetest": 12, "internal/forge/gitea": 12, "internal/forge/github": 12, "internal/forge/local": 12, "internal/secret/secrettest": 12,

	"internal/pulltest": 13,

	"cmd/precedent": 14,

	// Measurements and tools of developers: nothing of the product imports them.
	"internal/eval": 15,

	"cmd/precedent-eval": 16, "scripts/changelog": 16, "scripts/site": 16, "scripts/mutate": 16, "scripts/package": 16, "scripts/sbom": 16,
	"scripts/size": 16, "scripts/testsummary": 16,
}

// wired names, for packages that commands use through internal/workspace, the files of
// cmd/precedent that may import them. Its tests may import any.
var wired = map[string][]string{
	"internal/comment": {"wire_workflow.go"}, "internal/portable": {}, "internal/post": {}, "internal/queue": {"jobs.go"}, "internal/store": {}, "internal/thread": {},

	"internal/forge/gitea": {"forges.go"}, "internal/forge/github": {"forges.go"}, "internal/forge/local": {"forges.go"},
	"internal/forge/wire": {"forges.go", "dashboard.go"},
}

// adapters is the floor whose packages only main and tests may import, and stages the one of what
// tests alone may.
const (
	adapters = 12
	stages   = 13
)

// needsPath is imported only by tests, and by the adapters that are for tests.
const needsPath = "internal/needs"

// anywhere stands for every package in the table of third parties.
const anywhere = "*"

// thirdParties names, for each third-party module, the packages that may
// import it. docs/decisions gives the reason for each.
var thirdParties = map[string][]string{
	"github.com/CycloneDX/cyclonedx-go":        {"scripts/sbom"},
	"github.com/VictoriaMetrics/metrics":       {"internal/server"},
	"github.com/bluekeyes/go-gitdiff":          {"internal/diff"},
	"github.com/bmatcuk/doublestar/v4":         {"internal/diff", "internal/guide", "internal/lint", "internal/prompt"},
	"github.com/charmbracelet/x/ansi":          {"internal/report"},
	"github.com/chromedp/cdproto":              {"internal/web", "scripts/site"}, // tests
	"github.com/chromedp/chromedp":             {"internal/web", "scripts/site"},
	"github.com/getkin/kin-openapi":            {"internal/forge/forgetest"},
	"github.com/golang-jwt/jwt/v5":             {"internal/forge/github"},
	"github.com/google/go-cmp":                 {anywhere, "internal/forge/forgetest", "internal/golden", "internal/needs"},
	"github.com/google/jsonschema-go":          {"internal/engine", "cmd/precedent"},
	"github.com/google/uuid":                   {"internal/post", "internal/store", "internal/pull", "internal/run", "internal/fix", "cmd/precedent"},
	"github.com/jackc/pgx/v5":                  {"internal/store"},
	"github.com/modelcontextprotocol/go-sdk":   {"internal/mcp", "internal/web", "cmd/precedent"},
	"github.com/pelletier/go-toml/v2":          {"internal/gate", "internal/secret"},
	"github.com/pressly/goose/v3":              {"internal/store"},
	"github.com/reviewdog/errorformat":         {"internal/lint"},
	"github.com/riverqueue/river":              {"internal/queue"},
	"github.com/rogpeppe/go-internal":          {"internal/diff", "internal/fix", "internal/needs", "cmd/precedent", "cmd/precedent-eval"},
	"github.com/santhosh-tekuri/jsonschema/v6": {"internal/report"},
	"github.com/spf13/cobra":                   {"cmd/precedent", "cmd/precedent-eval"},
	"github.com/spf13/pflag":                   {"cmd/precedent"}, // cobra's flags
	"github.com/yuin/goldmark":                 {"internal/markdown", "internal/markdown/markdowntest", "scripts/site"},
	"github.com/vektah/gqlparser/v2":           {"internal/forge/forgetest"},
	"github.com/zricethezav/gitleaks/v8":       {anywhere},
	"go.uber.org/goleak":                       {"internal/engine/enginetest", "internal/engine/command"},
	"golang.org/x/mod":                         {"internal/lint", "cmd/precedent"},
	"golang.org/x/net":                         {"cmd/precedent", "internal/web"}, // of the latter, its tests
	"golang.org/x/oauth2":                      {"internal/web"},
	"golang.org/x/sys":                         {"internal/background", "internal/child", "internal/doctor", "internal/engine/command", "internal/sandbox"},
	"golang.org/x/term":                        {"cmd/precedent"},
	"golang.org/x/text":                        {"internal/text"},
	"golang.org/x/tools":                       {"internal/lint"},
	"gopkg.in/yaml.v3":                         {"internal/gate", "internal/guide", "internal/portable", "internal/settings", "cmd/precedent"},
	"maragu.dev/gomponents":                    {"internal/web"},
	"modernc.org/sqlite":                       {"internal/store"},
	"pgregory.net/rapid":                       {anywhere, "internal/markdown/markdowntest"},
}

func TestFloors(t *testing.T) {
	for _, complaint := range checkFloors(t, os.DirFS(".")) {
		t.Error(complaint)
	}
}

// checkFloors returns the violations of the tables in the Go sources of fsys.
func checkFloors(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	complaints := map[string]bool{}
	say := func(format string, args ...any) { complaints[fmt.Sprintf(format, args...)] = true }
	walkImports(t, fsys, func(dir, file, imported string) {
		from, ok := floors[dir]
		if !ok {
			say("%s is on no floor: add it to the table", dir)
			return
		}
		test := strings.HasSuffix(file, "_test.go")
		switch {
		case imported == "C":
			say("%s: cgo breaks the static binary", file)
		case imported == module || strings.HasPrefix(imported, module+"/"):
			target := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
			to, ok := floors[target]
			switch {
			case !ok:
				say("%s imports %s, which is on no floor", file, target)
			case test && (to == adapters || to == stages || target == dir), target == needsPath && from == adapters:
			case target == needsPath:
				say("%s: only tests import %s", file, needsPath)
			case dir == "cmd/precedent" && !test && wired[target] != nil && !slices.Contains(wired[target], path.Base(file)):
				say("%s imports %s, which commands use through internal/workspace and above", file, target)
			case to >= from:
				say("%s: %s (floor %d) imports %s (floor %d)", file, dir, from, target, to)
			}
		case strings.Contains(strings.Split(imported, "/")[0], "."):
			m, ok := thirdParty(imported)
			if !ok {
				say("%s imports %s: %s is not in the table of third parties", file, imported, imported)
			} else if users := thirdParties[m]; !slices.Contains(users, dir) && (users[0] != anywhere || !test) {
				say("%s imports %s, which is not for it", file, imported)
			}
		}
	})
	return slices.Sorted(maps.Keys(complaints))
}

// walkImports calls visit for every import of every Go file below fsys, with the folder and the file, both
// relative to it, and at least once, with an empty import, for a folder that imports nothing.
func walkImports(t *testing.T, fsys fs.FS, visit func(dir, file, imported string)) {
	t.Helper()
	eachFile(t, fsys, ".go", func(name, source string) {
		parsed := needs.Value(parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly))(t)
		dir := strings.TrimPrefix(path.Dir(name), ".")
		visit(dir, name, "")
		for _, spec := range parsed.Imports {
			visit(dir, name, needs.Value(strconv.Unquote(spec.Path.Value))(t))
		}
	})
}

// eachFile calls visit for the files below fsys with one of the endings, but not for what tests read, what tools are and
// what was built.
func eachFile(t *testing.T, fsys fs.FS, endings string, visit func(name, text string)) {
	t.Helper()
	skipped := []string{"testdata", "node_modules", "bin", "dist"}
	needs.NoError(t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || slices.Contains(skipped, base)):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(strings.Fields(endings), path.Ext(name)):
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		visit(name, string(text))
		return err
	}))
}

// thirdParty finds the module of an import in the table.
func thirdParty(imported string) (string, bool) {
	for m := range thirdParties {
		if imported == m || strings.HasPrefix(imported, m+"/") {
			return m, true
		}
	}
	return "", false
}
