package mcp

import (
	"context"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
)

// Limits of the overview.
const (
	maxHotspots    = 10
	maxConventions = 20
)

// overview is the result of get_repo_memory.
type overview struct {
	Repositories []string   `json:"repositories" jsonschema:"the names of the repository"`
	Reviews      int        `json:"reviews"`
	Findings     int        `json:"findings"`
	Dismissals   int        `json:"dismissals"`
	Learnings    int        `json:"learnings"`
	Oldest       string     `json:"oldest,omitempty" jsonschema:"the day of the first review"`
	Newest       string     `json:"newest,omitempty" jsonschema:"the day of the last review"`
	Hotspots     []hotspot  `json:"hotspots" jsonschema:"the files with the most findings"`
	Conventions  []learning `json:"conventions" jsonschema:"learnings that say how the team does things"`
}

type hotspot struct {
	Path        string   `json:"path"`
	Findings    int      `json:"findings"`
	Dismissed   int      `json:"dismissed"`
	Categories  []string `json:"categories"`
	TopSeverity string   `json:"top_severity"`
	LastSeen    string   `json:"last_seen"`
}

func (s *Server) addMemory(open Open) {
	add(s, &sdk.Tool{
		Name: "get_repo_memory", Title: "Memory of the repository",
		Description: "Summarizes what the reviewer remembers of the repository: how much, since when, the files with the most findings, and the team's conventions.",
	}, with(open, func(ctx context.Context, m *memory.Memory, _ struct{}) (overview, error) {
		status, err := m.Status(ctx)
		if err != nil {
			return overview{}, err
		}
		hot, err := m.Hotspots(ctx, maxHotspots)
		if err != nil {
			return overview{}, err
		}
		learnings, err := m.ActiveLearnings(ctx)
		if err != nil {
			return overview{}, err
		}
		o := overview{
			Repositories: []string{}, Reviews: status.Reviews, Findings: status.Findings, Dismissals: status.Rejections, Learnings: status.Learnings,
			Oldest: day(status.Oldest), Newest: day(status.Newest), Hotspots: []hotspot{}, Conventions: []learning{},
		}
		for _, name := range status.Names {
			o.Repositories = append(o.Repositories, line(name.String(), maxPath))
		}
		for _, h := range hot {
			o.Hotspots = append(o.Hotspots, showHotspot(h))
		}
		learnings = slices.DeleteFunc(learnings, func(l precedent.Learning) bool { return l.Kind != precedent.LearnConvention })
		for i := range learnings[:min(len(learnings), maxConventions)] {
			o.Conventions = append(o.Conventions, showLearning(&learnings[i]))
		}
		return o, nil
	}))
}

func showHotspot(h precedent.Hotspot) hotspot {
	out := hotspot{
		Path: line(h.Path, maxPath), Findings: h.Findings, Dismissed: h.Dismissed, Categories: []string{},
		TopSeverity: line(string(h.TopSeverity), maxLine), LastSeen: day(h.LastSeen),
	}
	for _, c := range h.Categories {
		out.Categories = append(out.Categories, line(string(c), maxLine))
	}
	return out
}
