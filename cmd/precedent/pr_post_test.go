package main

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// post runs precedent pr --post and returns its exit status and what it said.
func (s *prStage) post(more ...string) (int, string) {
	s.t.Helper()
	s.out.Reset()
	s.err.Reset()
	status := s.app.run(s.t.Context(), append([]string{"pr", s.door.URL + "/octo/app/pull/7", "--post"}, more...))
	return status, s.err.String()
}

// shown are the comments of ours of a kind, but not the answers to people.
func (s *prStage) shown(kind forge.CommentKind) []forge.Comment {
	var all []forge.Comment
	for _, c := range s.door.stage.World.By(s.pull, forgetest.Bot) {
		if c.Kind == kind && !isAnswer(c) {
			all = append(all, c)
		}
	}
	return all
}

// isAnswer tells whether a comment of ours answers a person's comment.
func isAnswer(c forge.Comment) bool { return strings.Contains(string(c.Body), " kind=answer ") }
