package precedent

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// Why JSON may be read by encoding/json alone, which takes the last of two equal keys and ignores their case.
const (
	written  = "the program wrote it, and nothing else writes there"
	checked  = "its keys were checked before: engine.Repair for answers, wire.RoundTrip for forges, mcp.checkMessage for tools"
	embedded = "it is part of the program"
	loose    = "names of packages may differ in case alone, and what it says is data for a sandbox"
	told     = "it only chooses words or numbers to show"
	itself   = "it is the strict reader, or checks the keys itself"
)

// readers are the files of the product that call encoding/json to read, with the reason.
var readers = map[string]string{
	"cmd/precedent/demo.go":              embedded,
	"cmd/precedent/mcp.go":               written,
	"internal/background/background.go":  written,
	"internal/converse/converse.go":      written,
	"internal/converse/talk.go":          checked,
	"internal/corpus/line.go":            itself,
	"internal/engine/api/edit.go":        checked,
	"internal/engine/api/tools.go":       checked,
	"internal/engine/claude/args.go":     written,
	"internal/engine/claude/reply.go":    told,
	"internal/engine/keep.go":            written,
	"internal/engine/repair.go":          itself,
	"internal/engine/schema.go":          checked,
	"internal/engine/wire.go":            checked,
	"internal/fix/push.go":               written,
	"internal/fixround/ask.go":           checked,
	"internal/forge/github/graphql.go":   checked,
	"internal/forge/wire/call.go":        checked,
	"internal/forge/wire/errors.go":      told,
	"internal/forge/wire/hook.go":        checked,
	"internal/gate/managers.go":          loose,
	"internal/gate/node.go":              loose,
	"internal/gate/requirements.go":      loose,
	"internal/lint/sarif.go":             "a linter that the operator installed wrote it, in the sandbox; its findings are as trusted as the linter",
	"internal/lint/vetmain.go":           written,
	"internal/lint/vetrun.go":            written,
	"internal/llm/openai_read.go":        told,
	"internal/llm/prices.go":             embedded,
	"internal/llm/schema.go":             written,
	"internal/match/judge.go":            checked,
	"internal/mcp/serve.go":              itself,
	"internal/memory/insight.go":         checked,
	"internal/post/state.go":             written,
	"internal/queue/river.go":            written,
	"internal/review/again.go":           written,
	"internal/review/answer.go":          checked,
	"internal/review/second.go":          checked,
	"internal/sandbox/launch_linux.go":   written,
	"internal/sandbox/order_linux.go":    written,
	"internal/sandbox/selftest_linux.go": written,
	"internal/sarif/read.go":             "it reads lists of internal/lint/sarif.go",
	"internal/secret/value.go":           "it only tells a JSON Web Token from other text",
	"internal/store/document.go":         written,
	"internal/store/dump.go":             "who imports an installation trusts all of its rows",
	"internal/store/reviews.go":          written,
	"internal/strict/strict.go":          itself,
}

// notProduct are folders whose programs and fakes read what tests and developers write.
var notProduct = []string{
	"internal/eval/", "internal/forge/forgetest/", "internal/llm/llmtest/", "internal/engine/enginetest/", "internal/markdown/markdowntest/",
	"internal/pulltest/", "internal/needs/", "cmd/precedent-eval/", "scripts/",
}

// TestJSONFromOutsideIsReadStrictly: every file that reads JSON without internal/strict has a reason.
func TestJSONFromOutsideIsReadStrictly(t *testing.T) {
	found := map[string]bool{}
	eachFile(t, os.DirFS("."), ".go", func(name, text string) {
		if strings.HasSuffix(name, "_test.go") ||
			slices.ContainsFunc(notProduct, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			return
		}
		file := needs.Value(parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Unmarshal" || s.Sel.Name == "NewDecoder") {
				if p, ok := s.X.(*ast.Ident); ok && p.Name == "json" {
					found[name] = true
				}
			}
			return true
		})
	})
	for name := range found {
		if readers[name] == "" {
			t.Errorf("%s reads JSON without internal/strict: use it, or add the file to the table with a reason", name)
		}
	}
	for name := range readers {
		if !found[name] {
			t.Errorf("%s is in the table, but reads no JSON that way", name)
		}
	}
}
