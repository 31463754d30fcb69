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

// Steering tells whether a file or folder of this name, at any depth, configures agents, also as
// Windows interprets the name.
func Steering(name string) bool {
	name = strings.TrimRight(strings.ToLower(name), ". ")
	return slices.Contains(steering, name) || strings.HasPrefix(name, ".env.")
}
