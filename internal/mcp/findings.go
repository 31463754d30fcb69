package mcp

import (
	"context"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/workspace"
)

type findingsInput struct {
	Paths    []string `json:"paths,omitempty" jsonschema:"only findings in these files, named from the top folder"`
	Category string   `json:"category,omitempty" jsonschema:"only findings of this category"`
	pages
}

// finding is a finding as agents see it.
type finding struct {
	ID        string `json:"id"`
	Path      string `json:"path"`
	Severity  string `json:"severity"`
	Category  string `json:"category"`
	Title     string `json:"title"`
	Seen      int    `json:"seen" jsonschema:"reviews that showed it"`
	LastSeen  string `json:"last_seen"`
	Outcome   string `json:"outcome,omitempty" jsonschema:"what happened to it on its pull request; missing if nobody knows"`
	Dismissed bool   `json:"dismissed" jsonschema:"a person said that it does not apply"`
}

func showFinding(f *memory.Seen) finding {
	return finding{
		ID: f.ID, Path: f.Path, Severity: string(f.Severity), Category: string(f.Category), Title: f.Title, Seen: f.Seen,
		LastSeen: day(f.Last), Outcome: string(f.Outcome), Dismissed: f.Dismissed,
	}
}

func (s *Server) addFindings(open Open) {
	add(s, &sdk.Tool{
		Name: "get_findings", Title: "Findings of files",
		Description: "Lists the findings that reviews showed, newest first: id, file, severity, title and what happened to them. It has no code.",
	}, with(open, func(ctx context.Context, w *workspace.Workspace, in findingsInput) (page[finding], error) {
		if err := cleanPaths(in.Paths); err != nil {
			return page[finding]{}, err
		}
		paths := in.Paths
		if len(paths) == 0 {
			paths = nil
		}
		all, err := w.Memory.Findings(ctx, paths)
		if err != nil {
			return page[finding]{}, err
		}
		if in.Category != "" {
			all = slices.DeleteFunc(all, func(f memory.Seen) bool { return string(f.Category) != in.Category })
		}
		return paged(in.pages, all, showFinding)
	}))
	add(s, &sdk.Tool{
		Name: "explain_finding", Title: "Explain a finding",
		Description: "Tells why the last review that had a finding showed or hid it: each decision, and the memories that influenced it. It has no code.",
	}, with(open, func(ctx context.Context, w *workspace.Workspace, in struct {
		ID string `json:"id" jsonschema:"the id of the finding, or its beginning"`
	},
	) (explanation, error) {
		if len(in.ID) > maxLine {
			return explanation{}, mistake("an id has ten characters")
		}
		e, err := w.Memory.Explain(ctx, in.ID)
		if err != nil {
			return explanation{}, err
		}
		return showExplanation(&e), nil
	}))
}

func (s *Server) addDismissals(open Open) {
	add(s, &sdk.Tool{
		Name: "list_rejections", Title: "Dismissals",
		Description: "Lists what people dismissed, with their reasons, newest first. A dismissal hides its finding and lowers similar ones.",
	}, with(open, func(ctx context.Context, w *workspace.Workspace, in struct {
		Paths []string `json:"paths,omitempty" jsonschema:"only dismissals in these files, named from the top folder"`
		pages
	},
	) (page[dismissal], error) {
		if err := cleanPaths(in.Paths); err != nil {
			return page[dismissal]{}, err
		}
		all, err := w.Memory.Dismissals(ctx)
		if err != nil {
			return page[dismissal]{}, err
		}
		all = slices.DeleteFunc(all, func(j precedent.Dismissal) bool {
			return len(in.Paths) > 0 && !slices.Contains(in.Paths, j.Path)
		})
		return paged(in.pages, all, showDismissal)
	}))
}

func (s *Server) addThreads(open Open) {
	add(s, &sdk.Tool{
		Name: "get_threads", Title: "Threads of a pull request",
		Description: "Lists the conversations about the findings that were posted on a pull request, with their state, their outcome and the last answers.",
	}, with(open, func(ctx context.Context, w *workspace.Workspace, in struct {
		PullRequest int `json:"pull_request" jsonschema:"the number of the pull request"`
		pages
	},
	) (page[thread], error) {
		all, err := w.Memory.Rows.Threads(ctx, in.PullRequest)
		if err != nil {
			return page[thread]{}, err
		}
		outcomes, err := w.Memory.Rows.Outcomes(ctx, in.PullRequest)
		if err != nil {
			return page[thread]{}, err
		}
		became := map[string]precedent.OutcomeKind{}
		for _, o := range outcomes {
			became[o.Fingerprint] = o.Kind
		}
		return paged(in.pages, all, func(t *precedent.Thread) thread {
			return thread{
				Answers: answers(t.Messages), ID: t.ID, Finding: t.Finding, Path: t.Path, Line: t.Start,
				Severity: string(t.Severity), Title: t.Title, State: string(t.State), Messages: len(t.Messages),
				Outcome: string(became[t.Fingerprint]),
			}
		})
	}))
}

// dismissal is a dismissal as agents see it.
type dismissal struct {
	ID       string `json:"id"`
	Finding  string `json:"finding"`
	Rule     string `json:"rule,omitempty" jsonschema:"set if all findings of an analyzer's rule were dismissed"`
	Claim    string `json:"claim"`
	Path     string `json:"path"`
	Symbol   string `json:"symbol,omitempty"`
	Glob     string `json:"glob,omitempty" jsonschema:"the files that it reaches"`
	Category string `json:"category"`
	Severity string `json:"severity"`
	Reason   string `json:"reason,omitempty"`
	Who      string `json:"who,omitempty"`
	At       string `json:"at"`
	Expires  string `json:"expires"`
}

func showDismissal(j *precedent.Dismissal) dismissal {
	return dismissal{
		ID: j.ID, Finding: j.Finding, Rule: j.Rule, Claim: j.Claim, Path: j.Path, Symbol: j.Symbol, Glob: j.Glob,
		Category: string(j.Category), Severity: string(j.Severity), Reason: j.Reason, Who: j.Who, At: day(j.At),
		Expires: day(j.ExpiresAt),
	}
}

// thread is a conversation as agents see it.
type thread struct {
	ID       string `json:"id"`
	Finding  string `json:"finding"`
	Path     string `json:"path"`
	Line     int    `json:"line,omitempty"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
	State    string `json:"state"`
	Messages int    `json:"messages" jsonschema:"the number of answers"`
	Outcome  string `json:"outcome,omitempty"`
	// Answers are the last maxAnswers.
	Answers []reply `json:"answers" jsonschema:"the last answers, oldest first"`
}

type reply struct {
	Who      string `json:"who"`
	MayWrite bool   `json:"may_write" jsonschema:"the person has write permission"`
	Text     string `json:"text"`
	At       string `json:"at,omitempty"`
}

// maxAnswers limits the answers of a thread that are shown.
const maxAnswers = 10

func answers(all []precedent.Message) []reply {
	out := []reply{}
	for _, m := range all[max(0, len(all)-maxAnswers):] {
		who := m.Who
		if m.Own {
			who = "precedent"
		}
		out = append(out, reply{who, m.MayWrite, string(m.Body), day(m.At)})
	}
	return out
}

// explanation is an explanation as agents see it.
type explanation struct {
	ID         string      `json:"id"`
	Path       string      `json:"path"`
	Line       int         `json:"line,omitempty"`
	Severity   string      `json:"severity"`
	Category   string      `json:"category"`
	Confidence int         `json:"confidence" jsonschema:"percent"`
	Title      string      `json:"title"`
	Dropped    string      `json:"dropped,omitempty" jsonschema:"why it is not shown; missing if it is"`
	Seen       int         `json:"seen"`
	FirstSeen  string      `json:"first_seen"`
	LastSeen   string      `json:"last_seen"`
	Threshold  int         `json:"threshold" jsonschema:"the least confidence that was shown, in percent"`
	Decisions  []decision  `json:"decisions"`
	Dismissal  *dismissal  `json:"dismissal,omitempty" jsonschema:"the dismissal of this finding that the next review applies"`
	Dismissals []dismissal `json:"rejections" jsonschema:"dismissals that influenced it"`
}

type decision struct {
	Step  string `json:"step"`
	Text  string `json:"text"`
	Delta int    `json:"delta,omitempty" jsonschema:"change of the confidence, in percent points"`
	By    string `json:"by,omitempty" jsonschema:"the id of the memory or finding that caused it"`
}

// maxDecisions limits the decisions and dismissals of an explanation.
const maxDecisions = 50

func showExplanation(e *precedent.Explanation) explanation {
	f := &e.Finding
	x := explanation{
		ID: f.ID, Path: f.Path, Line: f.Start, Severity: string(f.Severity), Category: string(f.Category),
		Confidence: f.Confidence, Title: f.Title, Dropped: string(f.Dropped), Seen: e.Seen, FirstSeen: day(e.FirstSeen),
		LastSeen: day(e.LastSeen), Threshold: e.Review.Threshold, Decisions: []decision{}, Dismissals: []dismissal{},
	}
	for _, d := range e.Trail[:min(len(e.Trail), maxDecisions)] {
		x.Decisions = append(x.Decisions, decision(d))
	}
	for i := range e.Dismissals[:min(len(e.Dismissals), maxDecisions)] {
		x.Dismissals = append(x.Dismissals, showDismissal(&e.Dismissals[i]))
	}
	if e.Dismissal != nil {
		j := showDismissal(e.Dismissal)
		x.Dismissal = &j
	}
	return x
}
