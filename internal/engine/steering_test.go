package engine

import "testing"

func TestSteering(t *testing.T) {
	for path, want := range map[string]bool{
		"a.go": false, "docs/guide.md": false, ".github/workflows/ci.yml": false, "claude.go": false, "env": false,
		"agents.md.go": false,
		"CLAUDE.md":    true, "Claude.MD": true, "x/y/claude.local.md": true, "x/AGENTS.md": true, ".mcp.json": true,
		"x/.MCP.json": true, ".claude/settings.json": true, "x/.Claude/agents/a.md": true, ".git": true,
		".env": true, "x/.env.local": true, "bunfig.toml": true, "claude.md. ": true,
	} {
		if got := Steering(path); got != want || (Leave(path) != "") != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
