package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// modelServer is compatible with OpenAI's, and answers what it is asked.
type modelServer struct {
	*llmtest.Server
	mu sync.Mutex
	// onRequest is called with the number of each request, from 1, before it is
	// answered; false leaves it unanswered.
	onRequest func(n int) bool
}

// question is what an answer depends on.
type question struct {
	finder string   // the title of its assignment; empty for the other roles
	claims []claim  // what a verifier is to look at
	pairs  []string // the ids of what a judge is to look at
	text   string   // the prompt
}

// claim is a finding as a verifier is shown it: its id, its file, the side of the
// change, and the first line of its quote.
type claim struct{ id, path, at, quote string }

// claimOf reads what follows the id of a claim.
func claimOf(id, rest string) claim {
	c := claim{id: id, at: "head"}
	if m := claimed.FindStringSubmatch(rest); m != nil {
		c.path, c.quote = m[1], m[3]
		if m[2] != "" {
			c.at = "base"
		}
	}
	return c
}

var (
	assignment = regexp.MustCompile(`(?m)^# Your assignment: (.*)$`)
	givenID    = regexp.MustCompile(`(?m)^<data-[0-9a-f]{16} kind="(claim|pair)">\nid: (\S+)$`)
	claimed    = regexp.MustCompile(`^\nplace: (.+?)(?::[0-9-]+)?( of the old file)?\n(?:.+\n)*?lines:\n(.*)\n`)
)

func questionOf(r llmtest.Request) question {
	q := question{text: r.Prompt()}
	for _, at := range givenID.FindAllStringSubmatchIndex(q.text, -1) {
		kind, id := q.text[at[2]:at[3]], q.text[at[4]:at[5]]
		if kind == "claim" {
			q.claims = append(q.claims, claimOf(id, q.text[at[1]:]))
		} else {
			q.pairs = append(q.pairs, id)
		}
	}
	if r.System == prompt.System() {
		q.finder = assignment.FindStringSubmatch(q.text)[1]
	}
	return q
}

// confirm is the answer of a verifier to whom all is right, and who proves it with the
// quotes of the claims.
func (q question) confirm() string {
	verdicts := []map[string]any{}
	for _, c := range q.claims {
		verdicts = append(verdicts, map[string]any{
			"finding": c.id, "verdict": "confirmed", "confidence": 90, "reason": "It is so.",
			"evidence": []map[string]any{{"path": c.path, "at": c.at, "line": 1, "quote": c.quote}},
		})
	}
	data, err := json.Marshal(map[string]any{"verdicts": verdicts})
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// same is the answer of a judge to whom all is one.
func (q question) same(quote string) string {
	var all []string
	for _, id := range q.pairs {
		all = append(all, fmt.Sprintf(`{"pair":%q,"same":true,"quote":%q}`, id, quote))
	}
	return `{"pairs":[` + strings.Join(all, ",") + `]}`
}

// modelOf is the model that is said to answer a request: another one for each,
// so that an answer tells which request it is to.
func modelOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return "scripted-" + hex.EncodeToString(sum[:8])
}

// serveModel starts a server that gives all requests the same answer.
func serveModel(t *testing.T, answer string) *modelServer {
	t.Helper()
	return serveAnswers(t, func(question) string { return answer })
}

// serveAnswers starts a server that answers as the function says.
func serveAnswers(t *testing.T, answer func(question) string) *modelServer {
	t.Helper()
	s := &modelServer{onRequest: func(int) bool { return true }}
	usage := precedent.Usage{InputTokens: 1000, CachedTokens: 400, OutputTokens: 50}
	s.Server = llmtest.OpenAI(t, func(r llmtest.Request) llmtest.Reply {
		s.mu.Lock()
		answered := s.onRequest
		s.mu.Unlock()
		if !answered(r.N + 1) {
			return llmtest.Reply{Hold: llmtest.Never}
		}
		return llmtest.Reply{Text: answer(questionOf(r)), Model: modelOf(string(r.Body)), Usage: &usage}
	})
	return s
}

// nothing is what a finder says that finds nothing.
const nothing = `{"findings":[]}`

func (s *modelServer) set(onRequest func(n int) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRequest = onRequest
}

// sent returns the bodies of the requests so far.
func (s *modelServer) sent() []string {
	bodies := []string{}
	for _, r := range s.Requests() {
		bodies = append(bodies, string(r.Body))
	}
	return bodies
}
