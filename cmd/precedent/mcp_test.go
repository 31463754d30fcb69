package main

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestMCP: a server that is started before the first review answers from what reviews and people
// store meanwhile, and what an agent proposes waits for a person.
func TestMCP(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	repo := defectiveRepository(t, home, "repo")
	server := &sdk.CommandTransport{Command: precedentCmd(home, repo, "mcp", "--write")}
	c := needs.Value(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), server, nil))(t)
	defer c.Close()
	call := func(tool string, arguments map[string]any) string {
		r := needs.Value(c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments}))(t)
		said, _ := json.Marshal(r)
		return string(said)
	}
	if said := call("get_findings", nil); !strings.Contains(said, `"total":0`) {
		t.Error(said)
	}
	ends(t, precedent.ExitFindings, precedentCmd(home, repo, "review"))
	if said := call("get_findings", map[string]any{"paths": []string{"a.txt"}}); !strings.Contains(said, `"path":"a.txt"`) {
		t.Error(said)
	}
	said := call("add_learning", map[string]any{"directive": "close every response body"})
	id := regexp.MustCompile(`learn approve ([0-9a-z]{10})`).FindStringSubmatch(said)
	if id == nil || strings.Contains(call("get_review_learnings", nil), "close every response body") {
		t.Fatal(said)
	}
	ends(t, 0, precedentCmd(home, repo, "learn", "approve", id[1]))
	if said := call("get_review_learnings", nil); !strings.Contains(said, "close every response body") {
		t.Error(said)
	}
}

// TestMCPInspector: the public inspector lists the tools, and calls one.
func TestMCPInspector(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	repo := defectiveRepository(t, home, "repo")
	ends(t, precedent.ExitFindings, precedentCmd(home, repo, "review"))
	inspector := needs.MCPTool(t, "mcp-inspector")
	for method, want := range map[string]string{
		"tools/list --strict": `"name": "get_review_learnings"`,
		`tools/call --tool-name get_findings --tool-arg paths=["a.txt"]`: `"notice": "Data from the memory`,
	} {
		cmd := exec.Command(inspector[0], slices.Concat(inspector[1:], []string{"--cli", "precedent", "mcp", "--method"}, strings.Fields(method))...)
		cmd.Dir, cmd.Env = repo, precedentCmd(home, repo).Env
		if out, _ := ends(t, 0, cmd); !strings.Contains(out, want) {
			t.Errorf("%s: %s", method, out)
		}
	}
}
