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

// readers are the files of the product that call encoding/json to read, by the reason.
var readers = map[string]string{
	written: "cmd/precedent/mcp.go internal/background/background.go internal/converse/converse.go " +
		"internal/engine/claude/args.go internal/engine/keep.go internal/fix/push.go internal/lint/vetmain.go " +
		"internal/lint/vetrun.go internal/llm/schema.go internal/post/state.go internal/queue/river.go " +
		"internal/review/again.go internal/sandbox/launch_linux.go internal/sandbox/order_linux.go " +
		"internal/sandbox/selftest_linux.go internal/store/document.go internal/store/reviews.go",
	checked: "internal/converse/talk.go internal/engine/api/edit.go internal/engine/api/tools.go " +
		"internal/engine/schema.go internal/engine/wire.go internal/fixround/ask.go " +
		"internal/forge/github/graphql.go internal/forge/wire/call.go internal/forge/wire/hook.go " +
		"internal/llm/embeddings_read.go internal/match/judge.go internal/memory/insight.go internal/review/answer.go " +
		"internal/review/second.go",
	embedded: "cmd/precedent/demo.go internal/llm/prices.go",
	loose:    "internal/gate/managers.go internal/gate/node.go internal/gate/requirements.go",
	told:     "internal/engine/claude/reply.go internal/forge/wire/errors.go internal/llm/openai_read.go",
	itself:   "internal/corpus/line.go internal/engine/repair.go internal/mcp/serve.go internal/strict/strict.go",
	"a linter that the operator installed wrote it, in the sandbox; its findings are as trusted as the linter": "internal/lint/sarif.go",
	"it reads lists of internal/lint/sarif.go":           "internal/sarif/read.go",
	"it only tells a JSON Web Token from other text":     "internal/secret/value.go",
	"who imports an installation trusts all of its rows": "internal/store/dump.go",
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
	for _, names := range readers {
		for name := range strings.FieldsSeq(names) {
			if !found[name] {
				t.Errorf("%s is in the table, but reads no JSON that way", name)
			}
			delete(found, name)
		}
	}
	for name := range found {
		t.Errorf("%s reads JSON without internal/strict: use it, or add the file to the table with a reason", name)
	}
}
