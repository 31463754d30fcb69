package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm"
)

// use calls a tool by its name.
func use(t *testing.T, tools []llm.Tool, name string, args json.RawMessage) (string, error) {
	t.Helper()
	i := slices.IndexFunc(tools, func(tool llm.Tool) bool { return tool.Name == name })
	if i < 0 {
		t.Fatalf("no tool %s", name)
	}
	return tools[i].Run(t.Context(), args)
}

func TestTools(t *testing.T) {
	content := map[string]string{
		"a.go":           "package a\n\nfunc A() {}\n",
		"lib/b.go":       "package lib\n// \u202ehidden\x1b[31m\nfunc B() {}\n",
		"lib/deep/c.txt": "text\n",
		"data.bin":       "\x00\x01",
		"long.txt":       strings.Repeat("line\n", 5000),
		"lib/zh.txt":     "." + strings.Repeat("\u8bc4\u5ba1", 2000),
	}
	files := Files{
		List: func(_ context.Context, at precedent.Side) ([]string, error) {
			if at == precedent.Left {
				return []string{"old.go"}, nil
			}
			return []string{"a.go", "data.bin", "lib/b.go", "lib/deep/c.txt", "long.txt"}, nil
		},
		Read: func(_ context.Context, at precedent.Side, p string, _ int64) ([]byte, error) {
			if at == precedent.Left {
				return []byte("package before\n"), nil
			}
			if c, ok := content[p]; ok {
				return []byte(c), nil
			}
			return nil, errors.New("secret reason /home/me")
		},
		History: func(_ context.Context, p string) (string, error) { return "2026-01-05 dana first\n", nil },
	}
	call := func(name, args string) (string, error) { return use(t, files.tools(), name, json.RawMessage(args)) }
	for _, test := range []struct{ tool, args, want string }{
		{"list_files", `{"glob":"**"}`, "a.go\ndata.bin\nlib/b.go\nlib/deep/c.txt\nlong.txt\n"},
		{"list_files", `{"glob":"**/*.{go,bin}"}`, "a.go\ndata.bin\nlib/b.go\n"},
		{"list_files", `{"glob":"lib"}`, "lib/b.go\nlib/deep/c.txt\n"},
		{"read_file", `{"path":"a.go","start":3,"end":9}`, "     3\tfunc A() {}\n"},
		{"read_file", `{"path":"./lib/b.go","start":2,"end":2}`, "     2\t// <U+202E>hidden<U+001B>[31m\n"},
		{"search", `{"pattern":"^func","glob":"*.go"}`, "a.go:3: func A() {}\nlib/b.go:3: func B() {}\n"},
		{"search", `{"pattern":"absent"}`, "no line matches\n"},
		{"list_files", `{"glob":"**","at":"base"}`, "old.go\n"},
		{"read_file", `{"path":"old.go","at":"base"}`, "     1\tpackage before\n"},
		{"file_history", `{"path":"a.go"}`, "2026-01-05 dana first\n"},
	} {
		if got, err := call(test.tool, test.args); err != nil || got != test.want {
			t.Errorf("%s %s: %q, %v", test.tool, test.args, got, err)
		}
	}
	if got, _ := call("read_file", `{"path":"long.txt"}`); strings.Count(got, "\n") != maxReadLines+1 ||
		!strings.Contains(got, "the file has 5000") {
		t.Errorf("a long file: %d lines", strings.Count(got, "\n"))
	}
	if got, err := call("read_file", `{"path":"lib/zh.txt"}`); err != nil || !strings.Contains(got, content["lib/zh.txt"]) {
		t.Errorf("a text of others than ASCII: %v", err)
	}
	if got, _ := call("search", `{"pattern":"line"}`); strings.Count(got, "\n") != maxMatches+1 {
		t.Errorf("many matches: %d lines", strings.Count(got, "\n"))
	}
	for _, args := range []string{
		`{"path":"/etc/passwd"}`, `{"path":"../x"}`, `{"path":"lib/../../x"}`, `{"path":""}`, `{"path":"data.bin"}`,
		`{"path":"a\u0000b"}`, `{"path":"absent"}`, `{"path":7}`, `[]`, `{"path":"a.go","at":"HEAD~1"}`,
	} {
		if got, err := call("read_file", args); err == nil || strings.Contains(err.Error(), "/home/me") {
			t.Errorf("read_file %s: %q, %v", args, got, err)
		}
	}
	for _, pattern := range []string{"(", strings.Repeat("a", maxPattern+1)} {
		args, _ := json.Marshal(map[string]any{"pattern": pattern})
		if _, err := call("search", string(args)); err == nil {
			t.Errorf("the pattern %.20q was taken", pattern)
		}
	}
	if (Files{}).tools() != nil {
		t.Error("tools without files")
	}
}

// TestToolsShowNoSecret: what a model looks up leaves like the change does.
func TestToolsShowNoSecret(t *testing.T) {
	key := "AKIA" + "QYLPMN5HHHFPZAM2"
	content := map[string]string{
		"keys.go": "package keys\n\nconst access = \"" + key + "\"\nconst other = 1\n",
		".env":    "PASSWORD=hunter2\nHOST=db\n",
		// Only the names of these files tell that these are credentials.
		"main.tf":      "  administrator_login_password = \"kq7Zt2-" + "vRw9Lm4x\"\n",
		"nuget.config": "<add key=\"ClearTextPassword\" value=\"kq7Zt2-" + "vRw9Lm4x\" />\n",
	}
	files := Files{
		List: func(context.Context, precedent.Side) ([]string, error) {
			return []string{".env", "keys.go", "main.tf", "nuget.config"}, nil
		},
		Read: func(_ context.Context, _ precedent.Side, p string, _ int64) ([]byte, error) {
			return []byte(content[p]), nil
		},
		History: func(context.Context, string) (string, error) { return "2026-01-05 dana use " + key + "\n", nil },
	}
	for call, want := range map[[2]string]string{
		{"read_file", `{"path":"keys.go"}`}:             "4\tconst other = 1",
		{"read_file", `{"path":"./keys.go","start":3}`}: "[REDACTED:",
		{"read_file", `{"path":".env"}`}:                "[REDACTED:private-file]",
		{"search", `{"pattern":"const"}`}:               "keys.go:3: const access = \"[REDACTED:",
		{"search", `{"pattern":"AKIA[A-Z0-9]+"}`}:       "no line matches",
		{"read_file", `{"path":"main.tf"}`}:             "[REDACTED:",
		{"read_file", `{"path":"nuget.config"}`}:        "[REDACTED:",
		{"search", `{"pattern":"Lm4x"}`}:                "no line matches",
		{"file_history", `{"path":"keys.go"}`}:          "dana use [REDACTED:",
	} {
		got, err := use(t, files.tools(), call[0], json.RawMessage(call[1]))
		if err != nil || !strings.Contains(got, want) || strings.Contains(got, key) || strings.Contains(got, "hunter2") ||
			strings.Contains(got, "Lm4x") {
			t.Errorf("%v: %q, %v", call, got, err)
		}
	}
}
