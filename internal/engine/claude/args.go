package claude

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/mcp"
)

// tools are the read-only tools. The rules limit each to the working directory: without
// them the agent could read the whole disk.
var tools = []string{"Read", "Grep", "Glob"}

// editTools are those of a task that edits, with the same rules. The CLI writes only below the working
// directory: it refuses an absolute path, .. and a link that lead out of it, because nothing grants them.
// What was changed is read from the copy alone. Newer versions have no MultiEdit.
var editTools = append(slices.Clip(tools), "Edit", "MultiEdit", "Write")

// toolsFor returns the tools for a task.
func toolsFor(t engine.Task) []string {
	if t.Edit {
		return editTools
	}
	return tools
}

// answerTool is the tool that the CLI adds for a schema.
const answerTool = "StructuredOutput"

// arguments returns the CLI's arguments. What they prevent, as of version 2.1.197:
//
//   - --setting-sources user: the tree's .claude/settings.json would choose the
//     server that gets the key, run hooks and grant tools; CLAUDE.md and
//     .mcp.json would be read.
//   - --strict-mcp-config: servers of the user's own. The only server is the one of
//     Config.Learnings, if there is one.
//   - --tools: everything that runs or fetches is not there at all, nor is what writes, except
//     for a task that edits.
//   - --allowedTools: only says again what the default mode grants anyway: reading in
//     the working folder and in that of --add-dir, which has the base. It is what lets a task
//     that edits write, in the working folder alone.
//   - --disable-slash-commands: skills, and a prompt that begins like a command.
//   - --no-session-persistence: the prompt would stay in the user's HOME.
//
// Flags with several values are followed by another flag. The prompt, which may be
// larger than any argument, is on standard input, see input. The CLI reports an answer
// when it is complete; --include-partial-messages makes it report the start.
//
// Without a schema the CLI takes the first answer, whatever it is. With one it asks again.
func arguments(model string, turns int, dollars float64, system, base string, schema json.RawMessage, learnings,
	tools []string,
) []string {
	var rules []string
	for _, tool := range tools {
		rules = append(rules, tool+"(./**)")
	}
	if len(learnings) > 0 {
		rules = append(rules, learningsTool)
	}
	args := []string{
		"--print", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--include-partial-messages",
	}
	if model != "" {
		args = append(args, "--model", model)
	}
	if dollars > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(dollars, 'f', 2, 64))
	}
	if len(schema) > 0 {
		args = append(args, "--json-schema", withoutDialect(schema))
	}
	if base != "" {
		args = append(args, "--add-dir", base)
	}
	return append(args, "--max-turns", strconv.Itoa(turns), "--append-system-prompt-file", system, "--mcp-config",
		servers(learnings), "--strict-mcp-config", "--setting-sources", "user", "--tools", strings.Join(tools, ","),
		"--allowedTools", strings.Join(rules, ","), "--permission-mode", "default", "--disable-slash-commands",
		"--no-session-persistence")
}

// serverName is the name of the server of learnings, and learningsTool its only tool.
const (
	serverName    = "precedent"
	learningsTool = "mcp__" + serverName + "__" + mcp.LearningsName
)

// servers returns the CLI's configuration of servers, with the one that a command starts if there is one.
func servers(command []string) string {
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	all := map[string]server{}
	if len(command) > 0 {
		all[serverName] = server{command[0], command[1:]}
	}
	config, _ := json.Marshal(map[string]any{"mcpServers": all}) // strings
	return string(config)
}

// withoutDialect returns the schema without its $schema. The CLI knows only draft-07, and silently drops a
// schema that names another dialect, so that the agent has no tool for its answer.
func withoutDialect(schema json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(schema, &fields) != nil {
		return string(schema)
	}
	delete(fields, "$schema")
	rest, _ := json.Marshal(fields) // what was just read can be written
	return string(rest)
}

// own are the variables that the engine always sets.
var own = []string{
	// Without it the CLI would include any file of this machine that the prompt names as
	// @path, and a diff can name any path.
	"CLAUDE_CODE_DISABLE_ATTACHMENTS=1",
	"CLAUDE_CODE_DISABLE_CLAUDE_MDS=1",  // the guide comes with the prompt, from the base commit
	"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", // a review leaves nothing for the next
	// No telemetry, no updates, and no remote feature flags, one of which adds a cache
	// mark that input does not expect.
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	// Since 2.1.89 the CLI starts without a server that has not answered in five seconds, so on a busy machine
	// the agent could not ask for learnings.
	"MCP_CONNECT_TIMEOUT_MS=30000",
	"CLAUDE_CODE_MAX_RETRIES=2", // the default is ten, which takes minutes even for a wrong key
	// With a subscription the CLI marks for one hour, which the API refuses after
	// input's mark for five minutes.
	"FORCE_PROMPT_CACHING_5M=1",
}

// environment returns the CLI's environment for a session with the given number of attempts. The CLI asks
// again once after prose, and one time less than this variable says after an answer that violates the schema.
func environment(env []string, attempts int) []string {
	return slices.Concat(env, own, []string{"MAX_STRUCTURED_OUTPUT_RETRIES=" + strconv.Itoa(max(attempts-1, 1))})
}

// secrets returns the values of variables whose names suggest a secret.
func secrets(env []string) []string {
	const least = 8 // shorter ones would redact words
	var found []string
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		says := func(word string) bool { return strings.Contains(name, word) }
		if len(value) >= least && slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD"}, says) {
			found = append(found, value)
		}
	}
	return found
}

// scrub removes the secrets from the output.
func scrub(text []byte, secrets []string) []byte {
	for _, s := range secrets {
		text = bytes.ReplaceAll(text, []byte(s), []byte("[REDACTED:environment]"))
	}
	return text
}
