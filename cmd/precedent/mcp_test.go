package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "PRECEDENT_MCP_TOKEN=0123456789abcdef"}
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

// TestMCPAddresses: HTTP is for this machine only, with a token that is not short.
func TestMCPAddresses(t *testing.T) {
	t.Parallel()
	p := newAgentPlace(t)
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "localhost:0", "example.org:80", "127.0.0.1"} {
		cmd := p.command("precedent", "mcp", "--http", address)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "want a loopback address") {
			t.Errorf("%s: %s", address, out)
		}
	}
	cmd := p.command("precedent", "mcp", "--http", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "PRECEDENT_MCP_TOKEN=short")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "PRECEDENT_MCP_TOKEN is too short") {
		t.Errorf("%s", out)
	}
}

// publicTools returns a command that runs a program of the Model Context Protocol with Node.js.
func publicTools(t *testing.T, p *agentPlace) func(bin string, args ...string) *exec.Cmd {
	t.Helper()
	modules := needs.File(t, "PRECEDENT_TEST_MCP", "mcp/node_modules", "the MCP inspector and its conformance tests")
	modules, err := filepath.Abs(modules)
	if err != nil {
		t.Fatal(err)
	}
	node := "node"
	if own, _ := filepath.Glob(filepath.Join(modules, "node-*", "bin", "node")); len(own) > 0 {
		node = own[0]
	}
	return func(bin string, args ...string) *exec.Cmd {
		return p.command(node, append([]string{filepath.Join(modules, ".bin", bin)}, args...)...)
	}
}

// TestMCPInspector: the public inspector lists and calls every tool.
func TestMCPInspector(t *testing.T) {
	t.Parallel()
	p := newAgentPlace(t)
	tools := publicTools(t, p)
	inspect := func(args ...string) string {
		t.Helper()
		out, _ := ends(t, 0, tools("mcp-inspector", append([]string{"--cli", "precedent", "mcp", "--write"}, args...)...))
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
	for _, tool := range list.Tools {
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

// TestMCPConformance: the public scenarios pass. They know no token, so that a proxy adds it, and
// passes Host and Origin on.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	p := newAgentPlace(t)
	tools := publicTools(t, p)
	cmd := p.command("precedent", "mcp", "--http", "127.0.0.1:0")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(said)
	if !lines.Scan() {
		t.Fatal("it does not say where it serves")
	}
	_, address, _ := strings.Cut(lines.Text(), "serving ")
	target, err := url.Parse(strings.TrimSuffix(address, "/mcp"))
	if err != nil || target.Host == "" {
		t.Fatal(lines.Text(), err)
	}
	// Its own transport: the end of any other test server closes connections of the default one.
	proxy := httptest.NewServer(&httputil.ReverseProxy{Transport: &http.Transport{}, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer 0123456789abcdef")
	}})
	defer proxy.Close()
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "dns-rebinding-protection"} {
		out, err := tools("conformance", "server", "--url", proxy.URL+"/mcp", "--scenario", scenario).CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("FAILURE")) {
			t.Errorf("%s: %v: %s", scenario, err, out)
		}
		t.Logf("%s: %s", scenario, out)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target.String()+"/mcp", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the proxy's token: %s", response.Status)
	}
}
