package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// LearningsName is the name of the tool that returns learnings, the only one that engines get.
const LearningsName = "get_review_learnings"

const learningsDescription = "Returns what the team taught the code reviewer: directives with their reasons, limited to files by a glob. " +
	"Reviewers call it for the learnings that did not fit into their prompt."

type learningsInput struct {
	Paths []string `json:"paths,omitempty" jsonschema:"only learnings that apply to one of these files, named from the top folder"`
	Query string   `json:"query,omitempty" jsonschema:"sort by likeness to these words"`
	pages
}

// learning is a learning as agents see it.
type learning struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Directive string `json:"directive"`
	Rationale string `json:"rationale,omitempty"`
	Glob      string `json:"glob,omitempty" jsonschema:"the files that it is limited to"`
	Category  string `json:"category,omitempty" jsonschema:"the findings that it is limited to"`
	Author    string `json:"author,omitempty"`
	Source    string `json:"source" jsonschema:"how it was captured"`
	URL       string `json:"url,omitempty" jsonschema:"the comment that it comes from"`
	Thread    string `json:"thread,omitempty" jsonschema:"the id of the thread that it comes from"`
	Used      int    `json:"used" jsonschema:"how many reviews used it"`
	Loaded    int    `json:"loaded" jsonschema:"how many reviews read it"`
	Updated   string `json:"updated,omitempty"`
}

func showLearning(l *precedent.Learning) learning {
	return learning{
		ID: l.ID, Kind: string(l.Kind), Directive: l.Directive, Rationale: l.Rationale, Glob: l.Glob,
		Category: string(l.Category), Author: l.From.Who, Source: string(l.From.By), URL: l.From.URL,
		Thread: l.From.Thread, Used: l.Used, Loaded: l.Loaded, Updated: day(l.UpdatedAt),
	}
}

// day returns the day of a time; empty for none.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func (s *Server) addLearnings(all func(context.Context) ([]precedent.Learning, error)) {
	add(s, &sdk.Tool{Name: LearningsName, Title: "Learnings of reviews", Description: learningsDescription},
		func(ctx context.Context, in learningsInput) (page[learning], error) {
			found, err := all(ctx)
			if err != nil {
				return page[learning]{}, err
			}
			return selectLearnings(found, in)
		})
}

func selectLearnings(all []precedent.Learning, in learningsInput) (page[learning], error) {
	if err := cleanPaths(in.Paths); err != nil {
		return page[learning]{}, err
	}
	if utf8.RuneCountInString(in.Query) > maxQuery {
		return page[learning]{}, mistake("the query has at most 500 characters")
	}
	all = slices.DeleteFunc(slices.Clone(all), func(l precedent.Learning) bool {
		return !memory.InFiles(l.Glob, in.Paths...)
	})
	if in.Query != "" {
		words := text.NewVector(in.Query)
		likeness := map[string]float64{}
		for i := range all {
			likeness[all[i].ID] = text.Cosine(text.NewVector(all[i].Directive+" "+all[i].Rationale), words)
		}
		slices.SortStableFunc(all, func(a, b precedent.Learning) int { return cmp.Compare(likeness[b.ID], likeness[a.ID]) })
	}
	return paged(in.pages, all, showLearning)
}

// LearningsTool is get_review_learnings for a model behind an API, over these learnings.
func LearningsTool(all []precedent.Learning) llm.Tool {
	return llm.Tool{
		Name: LearningsName, Description: learningsDescription,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"paths":{"type":"array","items":{"type":"string"},"description":"only learnings that apply to one of these files, named from the top folder"},` +
			`"query":{"type":"string","description":"sort by likeness to these words"},` +
			`"limit":{"type":"integer","description":"at most this many entries: 1 to 100, 20 if it is missing"},` +
			`"offset":{"type":"integer","description":"skip this many entries; next_offset of a result is the offset of the next page"}` +
			`},"additionalProperties":false}`),
		Run: func(_ context.Context, raw json.RawMessage) (string, error) {
			var in learningsInput
			if err := strict.UnmarshalKnown(raw, &in); err != nil {
				return "", mistake("the arguments are not of this tool's form")
			}
			found, err := selectLearnings(all, in)
			if err != nil {
				return "", err
			}
			return fenced(found), nil
		},
	}
}

type proposalInput struct {
	Directive string `json:"directive" jsonschema:"what later reviews should do, in the imperative, in one sentence"`
	Rationale string `json:"rationale,omitempty" jsonschema:"why, in one sentence"`
	Kind      string `json:"kind,omitempty" jsonschema:"do, dont_flag, stricter, lenient, focus, convention or exception; what the directive means by its words if it is missing"`
	Glob      string `json:"glob,omitempty" jsonschema:"limits it to these files: a glob or a folder, from the top folder"`
	Category  string `json:"category,omitempty" jsonschema:"limits it to findings of this category"`
}

type proposed struct {
	ID      string `json:"id,omitempty"`
	State   string `json:"state,omitempty"`
	Known   bool   `json:"known" jsonschema:"there was such a learning already"`
	Refused string `json:"refused,omitempty" jsonschema:"why nothing was stored"`
	Next    string `json:"next"`
}

func (s *Server) addProposals(open Open, propose func(context.Context, *workspace.Workspace, memory.Proposal) (memory.Captured, error)) {
	no := false
	add(s, &sdk.Tool{
		Name: "add_learning", Title: "Propose a learning",
		Description: "Proposes a directive for later reviews. It stays pending, and changes no review, until a person with write permission approves it.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no},
	}, with(open, func(ctx context.Context, w *workspace.Workspace, in proposalInput) (proposed, error) {
		c, err := propose(ctx, w, memory.Proposal{
			Kind: precedent.LearningKind(in.Kind), Directive: in.Directive,
			Rationale: in.Rationale, Glob: in.Glob, Category: precedent.Category(in.Category),
		})
		switch {
		case errors.Is(err, store.ErrProposals):
			return proposed{}, mistake(fmt.Sprintf("%d proposals of agents are pending; a person must approve or forget some first", store.MaxProposals))
		case err != nil:
			return proposed{}, err
		case c.Refused != "":
			return proposed{Refused: c.Refused, Next: "change it, or leave it"}, nil
		}
		next := "a person approves it with: precedent learn approve " + c.ID
		if c.State != precedent.LearningPending {
			next = "nothing: it is known"
		}
		return proposed{ID: c.ID, State: string(c.State), Known: c.Known, Next: next}, nil
	}))
}

type deletionInput struct {
	ID string `json:"id" jsonschema:"the id of the learning"`
}

type deleted struct {
	ID      string `json:"id,omitempty"`
	Deleted bool   `json:"deleted"`
	Next    string `json:"next,omitempty" jsonschema:"what a person can do instead"`
}

// addDeletions adds the tool that takes proposals back. What people taught or approved stays: an agent may do what a
// text that it has read says.
func (s *Server) addDeletions(open Open) {
	closed := false
	add(s, &sdk.Tool{
		Name: "delete_review_learning", Title: "Take a proposal back",
		Description: "Deletes a learning that an agent proposed and that is still pending. Others are deleted by people only; the result says how.",
		Annotations: &sdk.ToolAnnotations{IdempotentHint: true, OpenWorldHint: &closed},
	}, with(open, func(ctx context.Context, w *workspace.Workspace, in deletionInput) (deleted, error) {
		l, err := w.Memory.Learning(ctx, in.ID)
		if err != nil {
			return deleted{}, err
		}
		if l.From.By != precedent.FromAgent || l.State != precedent.LearningPending {
			return deleted{ID: l.ID, Next: "a person deletes it with: precedent learn forget " + l.ID}, nil
		}
		_, err = w.Memory.ForgetLearning(ctx, l.ID, "an agent")
		return deleted{ID: l.ID, Deleted: err == nil}, err
	}))
}
