package mcp

import (
	"context"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Limits of the overview.
const (
	maxHotspots    = 10
	maxConventions = 20
	maxInsights    = 12
)

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
	Insights     []insight  `json:"insights" jsonschema:"active patterns across changes"`
}

type hotspot struct {
	Path        string               `json:"path"`
	Findings    int                  `json:"findings"`
	Dismissed   int                  `json:"dismissed"`
	Categories  []precedent.Category `json:"categories"`
	TopSeverity precedent.Severity   `json:"top_severity"`
	LastSeen    string               `json:"last_seen"`
}

func (s *Server) addMemory(open Open) {
	add(s, &sdk.Tool{
		Name: "get_repo_memory", Title: "Memory of the repository",
		Description: "Summarizes what the reviewer remembers of the repository: how much, since when, the files with the most findings, and the team's conventions.",
	}, with(open, func(ctx context.Context, w *workspace.Workspace, _ struct{}) (overview, error) {
		status, err := w.Memory.Status(ctx)
		if err != nil {
			return overview{}, err
		}
		hot, err := w.Memory.Hotspots(ctx, maxHotspots)
		if err != nil {
			return overview{}, err
		}
		learnings, err := w.Memory.ActiveLearnings(ctx)
		if err != nil {
			return overview{}, err
		}
		o := overview{
			Repositories: []string{}, Reviews: status.Reviews, Findings: status.Findings,
			Dismissals: status.Dismissals, Learnings: status.Learnings, Oldest: day(status.Oldest),
			Newest: day(status.Newest), Hotspots: []hotspot{}, Conventions: []learning{}, Insights: []insight{},
		}
		for _, name := range status.Names {
			o.Repositories = append(o.Repositories, name.String())
		}
		for _, h := range hot {
			o.Hotspots = append(o.Hotspots, hotspot{
				Path: h.Path, Findings: h.Findings, Dismissed: h.Dismissed, Categories: slices.Clone(h.Categories),
				TopSeverity: h.TopSeverity, LastSeen: day(h.LastSeen),
			})
		}
		learnings = slices.DeleteFunc(learnings,
			func(l precedent.Learning) bool { return l.Kind != precedent.LearnConvention })
		for i := range learnings[:min(len(learnings), maxConventions)] {
			o.Conventions = append(o.Conventions, showLearning(&learnings[i]))
		}
		patterns, err := w.Memory.Rows.Insights(ctx)
		patterns = slices.DeleteFunc(patterns, func(i precedent.Insight) bool { return i.State != precedent.InsightActive })
		for i := range patterns[:min(len(patterns), maxInsights)] {
			o.Insights = append(o.Insights, showInsight(&patterns[i]))
		}
		return o, err
	}))
}

// insight is an insight as agents see it.
type insight struct {
	ID           string   `json:"id"`
	State        string   `json:"state" jsonschema:"active: finders read it; candidate: too little evidence; paused: people rejected it"`
	Text         string   `json:"text"`
	Scope        string   `json:"scope,omitempty" jsonschema:"the files that it is about; missing for all"`
	Category     string   `json:"category"`
	Findings     int      `json:"findings"`
	Citations    []string `json:"citations" jsonschema:"ids of findings that show it best"`
	PullRequests int      `json:"pull_requests"`
	Accepted     int      `json:"accepted"`
	Rejected     int      `json:"rejected"`
	Updated      string   `json:"updated,omitempty"`
}

func showInsight(i *precedent.Insight) insight {
	return insight{
		ID: i.ID, State: string(i.State), Text: i.Text, Scope: i.Scope, Category: string(i.Category),
		Findings: len(i.Findings), PullRequests: len(i.PullRequests), Accepted: i.Accepted, Rejected: i.Rejected,
		Citations: append([]string{}, i.Citations[:min(len(i.Citations), maxCitations)]...), Updated: day(i.UpdatedAt),
	}
}

// maxCitations limits the citations of an insight.
const maxCitations = 10

func (s *Server) addInsights(open Open) {
	add(s, &sdk.Tool{
		Name: "list_insights", Title: "Patterns across changes",
		Description: "Lists the patterns that the reviewer found in the findings of several changes, with the findings that show them.",
	}, with(open, func(ctx context.Context, w *workspace.Workspace, in pages) (page[insight], error) {
		all, err := w.Memory.Rows.Insights(ctx)
		if err != nil {
			return page[insight]{}, err
		}
		return paged(in, all, showInsight)
	}))
}
