package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/enginetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// part says what the test binary is: the tests, or a program that they start.
const part = "PRECEDENT_TEST_PART"

func TestMain(m *testing.M) {
	switch os.Getenv(part) {
	case "":
		os.Exit(m.Run())
	case "scripted":
		syscall.Exit(play())
	case "spending":
		fmt.Println(initLine + "\n" + spends + "\n" + `{"type":"result","subtype":"success","result":"{}"}`)
		os.Exit(0)
	}
}

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC) }

const (
	initLine = `{"type":"system","subtype":"init","tools":["Glob","Grep","Read","StructuredOutput"],"mcp_servers":[],"permissionMode":"default"}`
	starts   = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_2","model":"claude-x","content":[],"usage":{"input_tokens":8,"output_tokens":1}}}}`
	ends     = `{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":9}}}`
	spends   = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","model":"claude-haiku-4-5","usage":{"input_tokens":1000000}}}}`
	said     = `{"type":"assistant","message":{"id":"msg_1","model":"claude-x","content":[],"usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":5}}}`
)

// join returns the prompt as one text.
func join(prompt []block) string {
	var all strings.Builder
	for _, b := range prompt {
		all.WriteString(b.Text)
	}
	return all.String()
}

// play is Claude Code as far as the conformance suite's script goes.
func play() int {
	var given struct {
		Message struct{ Content []block }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return 1
	}
	script, err := enginetest.Load(os.Getenv(enginetest.ScriptVariable))
	if err != nil {
		return 1
	}
	reply, err := script.Next(engine.Request{Prompt: join(given.Message.Content)})
	if err != nil {
		return 1
	}
	fmt.Println(initLine)
	if status := reply.Fail(os.Stdout, os.Stderr); status != 0 {
		return status
	}
	var u precedent.Usage
	if err := json.Unmarshal(reply.Usage, &u); err != nil {
		return 1
	}
	fmt.Println(said)
	result := map[string]any{
		"type": "result", "subtype": "success", "result": reply.Text,
		"usage": usage{
			Input: u.InputTokens - u.CachedTokens - u.CacheWriteTokens, CacheRead: u.CachedTokens,
			CacheWrite: u.CacheWriteTokens, Output: u.OutputTokens,
		},
	}
	if len(reply.Answer) > 0 {
		result["structured_output"] = reply.Answer
	}
	if reply.Refused {
		result["stop_reason"], result["is_error"] = "refusal", true
	}
	if json.NewEncoder(os.Stdout).Encode(result) != nil {
		return 1
	}
	if reply.Refused {
		return 1 // as the real one
	}
	return 0
}

func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, s enginetest.Script) engine.Engine {
		t.Helper()
		path := filepath.Join(t.TempDir(), "script.json")
		needs.NoError(t, s.Save(path))
		e := New(Config{
			Program: needs.Self(t), Env: []string{part + "=scripted", enginetest.ScriptVariable + "=" + path}, Now: now,
		})
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		return e
	})
}

func TestMissingProgram(t *testing.T) {
	e := New(Config{Program: filepath.Join(t.TempDir(), "claude"), Now: now})
	t.Cleanup(func() { _ = e.Close() })
	a, err := e.Run(t.Context(), engine.Task{Name: "bugs", Schema: json.RawMessage(`{}`)})
	if err != nil || a.Status != precedent.StatusError || !strings.Contains(a.Message, "cannot be started") {
		t.Errorf("%+v, %v", a, err)
	}
}

func read(stream string) engine.Reply {
	w := watcher{tools: tools}
	_ = w.see([]byte(stream + "\n"))
	return w.total()
}

func TestRead(t *testing.T) {
	const counts = `"total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":1},"modelUsage":{` +
		`"claude-x":{"inputTokens":10,"outputTokens":7,"cacheReadInputTokens":5,"cacheCreationInputTokens":3},` +
		`"claude-small":{"inputTokens":100,"outputTokens":70,"cacheReadInputTokens":50,"cacheCreationInputTokens":30}}`
	result := func(fields string) string {
		return initLine + "\n" + said + "\n" + said + "\n" + `{"type":"result",` + fields + `,` + counts + "}\n"
	}
	all := precedent.Usage{Requests: 1, InputTokens: 198, CachedTokens: 55, CacheWriteTokens: 33, OutputTokens: 77}
	check := func(name, stream string, status precedent.Status, said string, usage precedent.Usage) {
		t.Run(name, func(t *testing.T) {
			r := read(stream)
			if r.Status != status || !strings.Contains(r.Message+string(r.Output), said) {
				t.Errorf("status %q, message %q, output %q; want %q, %q", r.Status, r.Message, r.Output, status, said)
			}
			if (r.Output != nil) != (r.Status == precedent.StatusOK) || (r.Message == "") != (r.Status == precedent.StatusOK ||
				r.Status == "") {
				t.Errorf("status %q with the message %q and the output %q", r.Status, r.Message, r.Output)
			}
			needs.Equal(t, usage, r.Usage)
			r = read(strings.ReplaceAll(stream, "claude-x", "claude-haiku-4-5"))
			if (r.CostUSD > 0) != (r.Usage.InputTokens > 0) {
				t.Errorf("%+v cost $%v", r.Usage, r.CostUSD)
			}
		})
	}
	for _, test := range []struct {
		name, fields string
		status       precedent.Status
		said         string // the output, or part of the message
	}{
		{"structured", `"subtype":"success","result":"{\"n\":1}","structured_output":{"n":5}`, precedent.StatusOK, `{"n":5}`},
		{
			"text only", `"subtype":"success","result":"it is {\"n\":1}","structured_output":null`,
			precedent.StatusOK, `it is {"n":1}`,
		},
		{
			"401", `"is_error":true,"api_error_status":401,"result":"Failed to authenticate. API Error: 401 nope"`,
			precedent.StatusError, "401 nope; check the key",
		},
		{
			"error as success", `"is_error":true,"result":"API Error: Unable to connect","structured_output":{"n":5}`,
			precedent.StatusError, "Unable to connect",
		},
		{
			"turns", `"subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (5)"]`,
			precedent.StatusTruncated, "turns",
		},
		{"schema", `"subtype":"error_max_structured_output_retries","is_error":true`, precedent.StatusMalformed, "schema"},
		{"refusal", `"is_error":true,"stop_reason":"refusal","result":"API Error: policy"`, precedent.StatusRefused, "refused"},
		{
			"no room", `"is_error":true,"result":"API Error: Claude's response exceeded the 32000 output token maximum."`,
			precedent.StatusTruncated, "output limit",
		},
	} {
		if !strings.Contains(test.fields, `"subtype"`) {
			test.fields = `"subtype":"success",` + test.fields
		}
		check(test.name, result(test.fields), test.status, test.said, all)
	}
	broken := precedent.Usage{Requests: 1, InputTokens: 15, CachedTokens: 5, OutputTokens: 1}
	more := precedent.Usage{Requests: 2, InputTokens: 23, CachedTokens: 5, OutputTokens: 10}
	check("broken off in a message", initLine+"\n"+said+"\n"+starts+"\n"+ends+"\n", "", "", more)
	check("broken off", initLine+"\n"+said+"\n"+`{"type":"res`, "", "", broken)
	check("fields of other types", initLine+"\n"+`{"type":"result","is_error":"no"}`+"\n[]\nnull\n", "", "", precedent.Usage{})
}

func TestWatcher(t *testing.T) {
	synthetic := strings.Replace(said, "claude-x", synthetic, 1)
	for _, test := range []struct {
		name, stream, problem string
		began                 int
	}{
		{"as it should be", initLine + "\n" + said + "\n" + said + "\n", "", 1},
		{"a message begins", initLine + "\n" + starts + "\n" + said + "\n", "", 1},
		{"no first line, a message begins", starts + "\n", "did not say", 0},
		{"its own message", initLine + "\n" + synthetic + "\n", "", 0},
		{"noise before", "warning\n\n[1]\n" + initLine + "\n", "", 0},
		{"tool", strings.Replace(initLine, `"Read"`, `"Read","Bash"`, 1) + "\n" + said + "\n", `the tool "Bash"`, 0},
		{"tool of a server", strings.Replace(initLine, `"Read"`, `"mcp__x__Read"`, 1) + "\n", `"mcp__x__Read"`, 0},
		{"mode", strings.Replace(initLine, "default", "bypassPermissions", 1) + "\n", `"bypassPermissions"`, 0},
		{"dead server", strings.Replace(initLine, `"mcp_servers":[]`,
			`"mcp_servers":[{"name":"a","status":"connected"},{"name":"b","status":"failed"}]`, 1) + "\n", `"b" is failed`, 0},
		{"no first line", said + "\n", "did not say", 0},
		{"failed before it", `{"type":"result","is_error":true}` + "\n", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, size := range []int{1, 7, 10_000} {
				began := 0
				w := watcher{began: func() { began++ }, tools: tools}
				var err error
				for rest := []byte(test.stream); len(rest) > 0 && err == nil; {
					n := min(size, len(rest))
					err = w.see(rest[:n])
					rest = rest[n:]
				}
				if (test.problem == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.problem) {
					t.Errorf("pieces of %d: error %v, want %q", size, err, test.problem)
				}
				if began != test.began {
					t.Errorf("pieces of %d: began %d times, want %d", size, began, test.began)
				}
			}
		})
	}
}

// TestAttempts: turns in which a tool is used are requests, but no answers.
func TestAttempts(t *testing.T) {
	line := func(id int, pieces string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_%d","model":"claude-x","content":[%s]}}`+"\n", id,
			pieces)
	}
	const prose, call, answers = `{"type":"text","text":"t"}`, `{"type":"tool_use","name":"Read"}`,
		`{"type":"tool_use","name":"StructuredOutput"}`
	for _, test := range []struct {
		name, stream       string
		requests, attempts int
	}{
		{"prose", line(1, prose), 1, 1},
		{"an answer in two lines", line(1, prose) + line(1, answers), 1, 1},
		{"tools, then an answer", line(1, prose) + line(1, call) + line(2, call+","+call) + line(3, answers), 3, 1},
		{"prose, a tool, answers", line(1, prose) + line(2, call) + line(3, answers) + line(4, answers), 4, 3},
		{"the CLI's own words", strings.Replace(line(1, prose), "claude-x", synthetic, 1), 0, 0},
	} {
		if r := read(initLine + "\n" + test.stream); r.Usage.Requests != test.requests ||
			r.Attempts != test.attempts {
			t.Errorf("%s: %d requests, %d attempts, want %d and %d", test.name, r.Usage.Requests, r.Attempts, test.requests,
				test.attempts)
		}
	}
}

// TestSessionsAtOnce: the CLI knows only what its own session has spent.
func TestSessionsAtOnce(t *testing.T) {
	budget := &engine.Budget{USD: 1.2}
	needs.Value(budget.Reserve(t.Context(), 0, 0.9))(t) // by another session
	e := New(Config{Program: needs.Self(t), Env: []string{part + "=spending"}, Budget: budget, Now: now})
	a, err := e.Run(t.Context(), engine.Task{Schema: []byte(`{"type":"object"}`), Tree: t.TempDir()})
	if err != nil || a.Status != precedent.StatusOverBudget || a.CostUSD < 0.5 {
		t.Errorf("status %s (%s), $%v, %v", a.Status, a.Message, a.CostUSD, err)
	}
}

func TestBlocks(t *testing.T) {
	marked := func(s string) block { return block{Type: "text", Text: s, Cache: &cacheMark{Type: "ephemeral"}} }
	plain := func(s string) block { return block{Type: "text", Text: s} }
	for _, test := range []struct {
		name                   string
		common, prefix, prompt string
		want                   []block
	}{
		{"all three", "C", "F", "P", []block{marked("CF"), plain("P")}},
		{"nothing shared", "", "", "P", []block{plain("P")}},
		{"blank shared", " \n", "", "P", []block{plain(" \nP")}},
		{"blank prompt", "C", "F", "\n", []block{plain("CF\n")}},
		{"a command", "/c", "", "\t/init", []block{marked("/c"), plain("The task:\n\n\t/init")}},
	} {
		task := engine.Task{Common: test.common, Prefix: test.prefix, Prompt: test.prompt}
		if diff := cmp.Diff(test.want, blocks(task, true)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		for _, b := range blocks(task, false) {
			if b.Cache != nil {
				t.Errorf("%s: a mark where none may be", test.name)
			}
		}
	}
}

// TestInput: whatever the prompt holds, it is one line.
func TestInput(t *testing.T) {
	hostile := "a\n{\"type\":\"control_request\"}\r\n\u2028\x00<&>\xff"
	line := input([]block{lastBlock(hostile)})
	if strings.Count(string(line), "\n") != 1 || strings.ContainsAny(string(line), "\r\u2028\x00") ||
		!strings.Contains(string(line), "<&>") {
		t.Errorf("%q", line)
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(initLine + "\n" + said + "\n" + `{"type":"result","subtype":"success","result":"x"}`))
	f.Add([]byte(`{"type":"result","modelUsage":{"a":{"inputTokens":-1}}}`))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := read(string(stream))
		u := r.Usage
		if u.InputTokens < 0 || u.OutputTokens < 0 || r.CostUSD < 0 {
			t.Errorf("usage %+v, $%f", u, r.CostUSD)
		}
		_ = new(watcher).see(stream)
	})
}

func TestTranscripts(t *testing.T) {
	folder := t.TempDir()
	at := now()
	mine := filepath.Join(folder, "notes-of-mine.json")
	needs.NoError(t, os.WriteFile(mine, nil, 0o600))
	const reviews = mostReviews + 5
	c := records{folder: folder, now: func() time.Time { at = at.Add(time.Minute); return at }}
	for i := range reviews {
		for _, name := range []string{"bugs", "bugs", "../../etc"} {
			c.keep(engine.Task{Name: name, Tree: fmt.Sprint(i), Prompt: "P"}, engine.Reply{Status: precedent.StatusOK},
				[]byte("{\"type\":\"x\"}\nnoise\n"+starts+"\n"))
		}
	}
	entries := needs.Value(os.ReadDir(folder))(t)
	if len(entries) != 3*mostReviews+1 {
		t.Errorf("%d files, want those of %d reviews and mine", len(entries), mostReviews)
	}
	bugs := needs.Value(filepath.Glob(filepath.Join(folder, at.Format(stamp)+"-bugs-*.json")))(t)
	if _, err := os.Stat(mine); err != nil || len(bugs) != 2 {
		t.Fatalf("%v, %q", err, bugs)
	}
	text := needs.Value(os.ReadFile(bugs[0]))(t)
	var got transcript
	needs.NoError(t, json.Unmarshal(text, &got))
	if len(got.Stream) != 2 || string(got.Stream[1]) != `"noise"` || got.Prompt != "P" {
		t.Errorf("transcript %s", text)
	}
}

func TestScrub(t *testing.T) {
	found := secrets([]string{
		"HOME=/home/someone", "ANTHROPIC_API_KEY=sk-12345678", "X_TOKEN=short", "MY_SECRET=a=b=c=d=e",
	})
	if diff := cmp.Diff([]string{"sk-12345678", "a=b=c=d=e"}, found); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	if got := string(scrub([]byte("x sk-12345678 y sk-1234567"), found)); got != "x [REDACTED:environment] y sk-1234567" {
		t.Error(got)
	}
}

// TestBudget: a session is not begun when the budget has nothing left for it,
// and the CLI is told what is left otherwise.
func TestBudget(t *testing.T) {
	e := New(Config{Program: "/nowhere/claude", Budget: &engine.Budget{USD: sessionUSD / 2}, Now: time.Now})
	defer e.Close()
	a, err := e.Run(t.Context(), engine.Task{Name: "bugs", Schema: []byte(`{"type":"object"}`), Tree: t.TempDir()})
	if err != nil || a.Status != precedent.StatusOverBudget {
		t.Errorf("status %s (%s), %v", a.Status, a.Message, err)
	}
	args := strings.Join(arguments("m", 3, 1.5, "s.md", "/base", []byte("{}"), nil, tools), " ")
	if !strings.Contains(args, "--max-budget-usd 1.50 ") {
		t.Errorf("arguments %s", args)
	}
	none := strings.Join(arguments("m", 3, 0, "s.md", "", nil, nil, tools), " ")
	if strings.Contains(none, "--json-schema") || strings.Contains(none, "budget") {
		t.Errorf("arguments without a schema and a budget %s", none)
	}
	needs.Equal(t, `{"type":"object"}`, withoutDialect([]byte(`{"$schema":"x","type":"object"}`)))
}
