package mcp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

type precedentsInput struct {
	Query string `json:"query,omitempty" jsonschema:"words to search for: a remark, a question, a name in the code; of a long text the first 10000 characters count"`
	File  string `json:"file,omitempty" jsonschema:"a file, named from the top folder: finds comments on it and on similar ones"`
	Line  int    `json:"line,omitempty" jsonschema:"with file: a line of it in the work tree, from 1; finds comments on similar code"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many comments: 1 to 100, 10 if it is missing"`
}

type said struct {
	PullRequest int    `json:"pull_request"`
	Author      string `json:"author"`
	Date        string `json:"date"`
	Path        string `json:"path,omitempty" jsonschema:"missing for a comment on the pull request as a whole"`
	Line        int    `json:"line,omitempty" jsonschema:"at the commit that was commented"`
	URL         string `json:"url,omitempty"`
	Excerpt     string `json:"excerpt"`
	Outcome     string `json:"outcome,omitempty" jsonschema:"what happened then: adopted, declined or reverted; missing if it is not known"`
	Why         string `json:"why" jsonschema:"why it is at this place: its rank in each list, how similar the words are, and what raised or lowered it"`
}

type precedentsFound struct {
	Entries  []said   `json:"entries" jsonschema:"the best first"`
	Searched int      `json:"searched" jsonschema:"the number of comments that could have been found"`
	Failures []string `json:"failures,omitempty" jsonschema:"what the search went on without"`
}

func (s *Server) addPrecedents(open Open,
	search func(context.Context, *workspace.Workspace, workspace.CorpusQuery) (workspace.CorpusResult, error),
) {
	add(s, &sdk.Tool{
		Name: "search_precedents", Title: "What people said in reviews",
		Description: "Finds what people wrote in reviews of earlier pull requests about the same thing: by words, or by a file and a line of it. It has no code.",
	}, with(open, func(ctx context.Context, w *workspace.Workspace, in precedentsInput) (precedentsFound, error) {
		if err := in.check(); err != nil {
			return precedentsFound{}, err
		}
		q := workspace.CorpusQuery{Text: text.Cut(in.Query, maxSearch), File: in.File, Line: in.Line, Limit: in.Limit}
		switch {
		case in.File == "":
		case w.Git != nil:
			q.File = filepath.Join(w.Git.Top(), filepath.FromSlash(in.File))
		default: // there is no work tree; its name is searched for
			q.Text, q.File, q.Line = strings.TrimSpace(q.Text+" "+in.File), "", 0
		}
		got, err := search(ctx, w, q)
		if err != nil {
			return precedentsFound{}, err
		}
		found, err := paged(pages{Limit: maxPage}, got.Found, showPrecedent) // as many as a result may have
		return precedentsFound{
			Entries: found.Entries, Searched: got.Searched,
			Failures: slices.Clone(got.Failures[:min(len(got.Failures), maxDecisions)]),
		}, err
	}))
}

// check refuses arguments that no search takes.
func (in *precedentsInput) check() error {
	switch {
	case in.Limit < 0 || in.Limit > maxPage:
		return mistake(fmt.Sprintf("limit is from 1 to %d", maxPage))
	case strings.TrimSpace(in.Query) == "" && in.File == "":
		return mistake("give a query or a file")
	case in.Line < 0 || in.Line > 0 && in.File == "":
		return mistake("a line needs a file, and counts from 1")
	case in.File != "":
		paths := []string{in.File}
		err := cleanPaths(paths)
		in.File = paths[0]
		return err
	}
	return nil
}

func showPrecedent(f *workspace.CorpusFound) said {
	date, _, _ := strings.Cut(f.At, "T")
	return said{
		PullRequest: f.Pull, Author: f.Author, Date: date, Path: f.Path, Line: f.Line, URL: f.URL, Excerpt: f.Text,
		Outcome: f.Outcome, Why: strings.Join(f.Why(), " · "),
	}
}
