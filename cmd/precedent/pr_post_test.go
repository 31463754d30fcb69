package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
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

// TestPost: one review with a comment on each finding's line, one summary, one
// check, and nothing at all the second time.
func TestPost(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	s.app.sleep = s.door.stage.Clock.Sleep
	status, said := s.post()
	if status != precedent.ExitFindings || !strings.Contains(said, "posted") {
		t.Fatalf("status %d\n%s", status, said)
	}
	summaries, reviews, remarks := s.shown(forge.OnThread), s.shown(forge.OnReview), s.shown(forge.OnLine)
	if len(summaries) != 1 || len(reviews) != 1 || len(remarks) == 0 {
		t.Fatalf("%d summaries, %d reviews, %d remarks\n%s", len(summaries), len(reviews), len(remarks), said)
	}
	for _, c := range remarks {
		if bytes.Contains([]byte(c.Body), []byte("AKIA"+"QYLPMN5HFIQR7XYA")) {
			t.Errorf("the credential that was found is posted:\n%s", c.Body)
		}
	}
	before := len(s.door.stage.Script.Requests())
	status, said = s.post()
	if status != precedent.ExitFindings || !strings.Contains(said, "was reviewed already") {
		t.Errorf("again: status %d\n%s", status, said)
	}
	for _, r := range s.door.stage.Script.Requests()[before:] {
		if r.Method != http.MethodGet && !strings.HasSuffix(r.Path, "/graphql") {
			t.Errorf("again: %s %s", r.Method, r.Path)
		}
	}
	if n := len(s.door.stage.World.By(s.pull, forgetest.Bot)); n != 2+len(remarks) {
		t.Errorf("%d comments after the second run", n)
	}
}

// isAnswer tells whether a comment of ours answers a person's comment.
func isAnswer(c forge.Comment) bool { return strings.Contains(string(c.Body), " kind=answer ") }
