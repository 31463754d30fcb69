package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

// agentSources are the files for coding agents.
//
//go:embed agents
var agentSources embed.FS

// agentSetups are the files of each agent, by its name: where the project has them, and their source. One that holds
// MCP servers comes first: it is the one that may exist.
var agentSetups = map[string][][2]string{
	"claude": {{".mcp.json", "mcp.json"}, {".claude/skills/precedent-review/SKILL.md", "SKILL.md"}},
	"codex":  {{".codex/config.toml", "codex.toml"}, {".agents/skills/precedent-review/SKILL.md", "SKILL.md"}},
	"cursor": {{".cursor/mcp.json", "mcp.json"}, {".cursor/skills/precedent-review/SKILL.md", "SKILL.md"}},
}

// writeAgent writes the set-up of a coding agent below the top of a work tree. A file with MCP servers that exists is
// left alone, also with force, because it may have servers of others; what to add to it is printed.
func (a *app) writeAgent(top, agent string, force bool) error {
	setup, ok := agentSetups[agent]
	if !ok {
		return hinted(fmt.Errorf("no set-up for %q", agent), "use --agent claude, --agent codex or --agent cursor")
	}
	again := "precedent init --agent " + agent + " --force"
	var files []initFile
	advice := []string{"Commit them. The agent asks once whether to start the server; precedent has to be on its PATH."}
	for i, f := range setup {
		data, err := agentSources.ReadFile("agents/" + f[1])
		if err != nil {
			return fmt.Errorf("read set-up: %w", err)
		}
		if i == 0 && checkAbsent(top, f[0], again) != nil {
			advice = slices.Concat([]string{f[0] + " exists. Add this server to it:"}, strings.Split(string(data), "\n"), advice)
			continue
		}
		files = append(files, initFile{f[0], data})
	}
	if err := a.writeFiles(top, files, force, again); err != nil {
		return err
	}
	return a.printAdvice(advice...)
}
