package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent/internal/needs"
)

// agentPlace is a repository with a home, in which tests start programs.
type agentPlace struct {
	t          *testing.T
	home, repo string
}

func newAgentPlace(t *testing.T) *agentPlace {
	t.Helper()
	home := t.TempDir()
	return &agentPlace{t, home, defectiveRepository(t, home, "repo")}
}

func (p *agentPlace) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(p.t.Context()), name, args...)
	cmd.Dir = p.repo
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// run returns what a program prints; a finding is not a failure.
func (p *agentPlace) run(name string, args ...string) string {
	p.t.Helper()
	status, out, said := finished(p.t, p.command(name, args...))
	if status > 1 {
		p.t.Fatalf("%s %v: %d\n%s%s", name, args, status, out, said)
	}
	return out
}

// TestMCP: a server that is started before the first review answers from what reviews and people
// store meanwhile, and what an agent proposes waits for a person.
func TestMCP(t *testing.T) {
	t.Parallel()
	p := newAgentPlace(t)
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: p.command("precedent", "mcp", "--write")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	call := func(tool string, arguments map[string]any) string {
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		said, _ := json.Marshal(r)
		return string(said)
	}
	if said := call("get_findings", nil); !strings.Contains(said, `"total":0`) {
		t.Error(said)
	}
	p.run("precedent", "review")
	if said := call("get_findings", map[string]any{"paths": []string{"a.txt"}}); !strings.Contains(said, `"path":"a.txt"`) {
		t.Error(said)
	}
	said := call("add_learning", map[string]any{"directive": "close every response body"})
	id := regexp.MustCompile(`learn approve ([0-9a-z]{10})`).FindStringSubmatch(said)
	if id == nil || strings.Contains(call("get_review_learnings", nil), "close every response body") {
		t.Fatal(said)
	}
	p.run("precedent", "learn", "approve", id[1])
	if said := call("get_review_learnings", nil); !strings.Contains(said, "close every response body") {
		t.Error(said)
	}
}

// TestMCPInspector: the public inspector lists every tool, and calls one, in make soak all of them: each call starts Node.
func TestMCPInspector(t *testing.T) {
	t.Parallel()
	p := newAgentPlace(t)
	inspector := needs.MCPTool(t, "mcp-inspector")
	inspect := func(args ...string) string {
		t.Helper()
		out, _ := ends(t, 0, p.command(inspector[0], slices.Concat(inspector[1:], []string{"--cli", "precedent", "mcp", "--write"}, args)...))
		return out
	}
	p.run("precedent", "review")
	list := parsed[struct{ Tools []struct{ Name string } }](t, inspect("--method", "tools/list", "--strict"))
	findings := inspect("--method", "tools/call", "--tool-name", "get_findings")
	id := regexp.MustCompile(`"id": "([0-9a-z]{10})"`).FindStringSubmatch(findings)
	if id == nil {
		t.Fatal(findings)
	}
	taught := regexp.MustCompile(`learned (\S+)`).FindStringSubmatch(p.run("precedent", "learn", "add", "name every error"))
	arguments := map[string][]string{
		"delete_review_learning": {"id=" + taught[1]},
		"explain_finding":        {"id=" + id[1]}, "get_threads": {"pull_request=7"}, "add_learning": {"directive=close every response body"},
		"get_review_learnings": {"query=errors", `paths=["a.txt"]`, "limit=5"}, "search_precedents": {"query=errors", "limit=5"},
	}
	for _, tool := range list.Tools[:needs.Rounds(len(list.Tools), 1)] {
		args := []string{"--method", "tools/call", "--tool-name", tool.Name}
		if given := arguments[tool.Name]; given != nil {
			args = append(append(args, "--tool-arg"), given...)
		}
		result := parsed[struct {
			IsError           bool
			StructuredContent struct{ Notice string }
		}](t, inspect(args...))
		if result.IsError || !strings.HasPrefix(result.StructuredContent.Notice, "Data from the memory") {
			t.Errorf("%s: %+v", tool.Name, result)
		}
	}
	if len(list.Tools) < 7 {
		t.Errorf("%d tools", len(list.Tools))
	}
}
