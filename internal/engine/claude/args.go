package claude

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// tools are those that only read. The rules let each look below the working
// directory alone: the bare names would open the whole disk to the agent.
var tools = []string{"Read", "Grep", "Glob"}

// answerTool is what the CLI adds to the tools for a schema.
const answerTool = "StructuredOutput"

// arguments are the CLI's. What they keep out, seen with version 2.1.197:
//
//   - --setting-sources user: the tree's .claude/settings.json would choose the
//     server that gets the key, run hooks and grant tools; CLAUDE.md and
//     .mcp.json would be read.
//   - --strict-mcp-config with an empty configuration: servers of the user's own.
//   - --tools: everything that writes, runs, or fetches is not there at all.
//   - --allowedTools: only says again what the default mode grants anyway.
//   - --disable-slash-commands: skills, and a prompt that begins like a command.
//   - --no-session-persistence: the prompt would stay in the user's HOME.
//
// Flags that take several values are followed by another flag, and the prompt,
// which may be larger than any argument, is on standard input, see input. Of an
// answer the CLI tells when it is whole; --include-partial-messages makes it
// tell when it begins.
//
// Without a schema the CLI takes the first answer, whatever it is. With one it
// asks again.
func arguments(model string, turns int, dollars float64, system string, schema json.RawMessage) []string {
	var rules []string
	for _, tool := range tools {
		rules = append(rules, tool+"(./**)")
	}
	args := []string{
		"--print", "--input-format", "stream-json",
		"--output-format", "stream-json", "--verbose", "--include-partial-messages",
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
	return append(args,
		"--max-turns", strconv.Itoa(turns),
		"--append-system-prompt-file", system,
		"--mcp-config", `{"mcpServers":{}}`, "--strict-mcp-config",
		"--setting-sources", "user",
		"--tools", strings.Join(tools, ","),
		"--allowedTools", strings.Join(rules, ","),
		"--permission-mode", "default",
		"--disable-slash-commands",
		"--no-session-persistence",
	)
}

// withoutDialect is the schema without the name of its dialect. The CLI knows none but
// draft-07's, and without a word drops a schema that names another: the agent
// would have no tool to answer with.
func withoutDialect(schema json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(schema, &fields) != nil {
		return string(schema)
	}
	delete(fields, "$schema")
	rest, _ := json.Marshal(fields) // what was just read can be written
	return string(rest)
}

// own are the variables that the engine sets whatever the caller's say.
var own = []string{
	// Without it the CLI puts any file of this machine, which the prompt names
	// as @path, into the prompt; a diff may name what it likes.
	"CLAUDE_CODE_DISABLE_ATTACHMENTS=1",
	"CLAUDE_CODE_DISABLE_CLAUDE_MDS=1",  // the guide comes with the prompt, from the base commit
	"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", // no review leaves anything for the next
	// No telemetry and no updates; nor switches that Anthropic turns from afar,
	// one of which adds a cache mark to those that input counts on.
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	"CLAUDE_CODE_MAX_RETRIES=2", // ten otherwise, for minutes, a wrong key included
	// A person's plan has cache marks for an hour, and the API takes none of
	// those behind one for five minutes as input's.
	"FORCE_PROMPT_CACHING_5M=1",
}

// environment is the CLI's, for a session that may try so many answers. The CLI
// asks again once after prose, and as often as this variable says but one after
// an answer that breaks the schema.
func environment(env []string, attempts int) []string {
	return slices.Concat(env, own, []string{"MAX_STRUCTURED_OUTPUT_RETRIES=" + strconv.Itoa(max(attempts-1, 1))})
}

// secrets are the values of variables that are named like secrets.
func secrets(env []string) []string {
	const least = 8 // shorter ones would blot out words
	var found []string
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD"} {
			if strings.Contains(name, word) && len(value) >= least {
				found = append(found, value)
				break
			}
		}
	}
	return found
}

// scrub removes the secrets: whatever becomes of the output, they are not in it.
func scrub(text []byte, secrets []string) []byte {
	for _, s := range secrets {
		text = bytes.ReplaceAll(text, []byte(s), []byte("[REDACTED:environment]"))
	}
	return text
}
