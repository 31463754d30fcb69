package engine

import (
	"slices"
	"strings"
)

// steering are the files and folders by which a tree configures agents, in lower case: settings, hooks,
// servers, instructions. No agent gets a tree with them; changes to them are in the diff. The last two are
// read by the runtime of Claude Code from its working folder, unless disabled at build time.
var steering = []string{
	".claude", ".claude.json", ".claude-plugin", ".mcp.json", ".lsp.json", "claude.md", "claude.local.md",
	"agents.md", "agents.local.md", "agents.override.md", "gemini.md", ".agents", ".git", ".env", "bunfig.toml",
}

// Steering tells whether the file at a path configures agents, or a folder that it is in, also as Windows interprets
// their names.
func Steering(path string) bool {
	for name := range strings.SplitSeq(strings.ToLower(path), "/") {
		name = strings.TrimRight(name, ". ")
		if slices.Contains(steering, name) || strings.HasPrefix(name, ".env.") {
			return true
		}
	}
	return false
}

// Leave returns why a file is left out of the trees of tasks; empty if it is not.
func Leave(path string) string {
	if Steering(path) {
		return "it configures git or agents"
	}
	return ""
}
