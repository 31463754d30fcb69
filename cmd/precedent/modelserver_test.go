package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent/internal/prompt"
)

// modelServer is a server that is compatible with OpenAI's, answers what it is
// asked, and keeps what it was sent.
type modelServer struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	// onRequest is called with the number of each request, from 1, before it is
	// answered; false leaves it unanswered.
	onRequest func(n int) bool
	// onAnswer is called when the answer has been sent but for its end, and again
	// when all of it has.
	onAnswer func()
}

// question is what an answer depends on.
type question struct {
	finder string // the title of its assignment; empty for the other roles
	claims []string
	pairs  []string // the ids of what a verifier or a judge is to look at
	text   string   // the prompt
}

var (
	assignment = regexp.MustCompile(`(?m)^# Your assignment: (.*)$`)
	givenID    = regexp.MustCompile(`(?m)^<data-[0-9a-f]{16} kind="(claim|pair)">\nid: (\S+)$`)
)

// parseQuestion reads the body of a request.
func parseQuestion(body []byte) (q question, err error) {
	var request struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return q, err
	}
	if len(request.Messages) != 2 || !strings.Contains(request.Messages[0].Content, "You ") {
		return q, fmt.Errorf("%d messages", len(request.Messages))
	}
	q.text = request.Messages[1].Content
	for _, id := range givenID.FindAllStringSubmatch(q.text, -1) {
		if id[1] == "claim" {
			q.claims = append(q.claims, id[2])
		} else {
			q.pairs = append(q.pairs, id[2])
		}
	}
	if request.Messages[0].Content == prompt.System() {
		q.finder = assignment.FindStringSubmatch(q.text)[1]
	}
	return q, nil
}

// confirm is the answer of a verifier to whom all is right, and same that of a
// judge to whom all is one.
func (q question) confirm() string {
	var all []string
	for _, id := range q.claims {
		all = append(all, fmt.Sprintf(`{"finding":%q,"verdict":"confirmed","confidence":90,"reason":"It is so."}`, id))
	}
	return `{"verdicts":[` + strings.Join(all, ",") + `]}`
}

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
	s := &modelServer{onRequest: func(int) bool { return true }, onAnswer: func() {}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		n, answered, sending := len(s.bodies), s.onRequest, s.onAnswer
		s.mu.Unlock()
		q, err := parseQuestion(body)
		if err != nil {
			t.Errorf("request %d: %v", n, err)
		}
		if !answered(n) {
			<-r.Context().Done()
			return
		}
		content, err := json.Marshal(answer(q))
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"model\":%q,\"choices\":[{\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\n", modelOf(string(body)), content)
		_ = http.NewResponseController(w).Flush()
		sending()
		fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":50,\"prompt_tokens_details\":{\"cached_tokens\":400}}}\n\ndata: [DONE]\n\n")
		_ = http.NewResponseController(w).Flush()
		sending()
	}))
	t.Cleanup(s.Close)
	return s
}

// nothing is what a finder says that finds nothing.
const nothing = `{"findings":[]}`

func (s *modelServer) set(onRequest func(n int) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRequest = onRequest
}

func (s *modelServer) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.bodies...)
}
