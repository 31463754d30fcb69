package llmtest

import (
	"crypto/sha256"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
)

// Server is a scripted server. URL is the base that a client is given.
type Server struct {
	URL string

	handler Handler
	dialect dialect
	closed  chan struct{}

	mu        sync.Mutex
	exchanges []Exchange
	cache     cache
}

// dialect is one of the two APIs.
type dialect struct {
	path    string
	parse   func(body []byte) (Request, prompt, error)
	failure func(status int, message string) any
	answer  func(w *stream, r Request, reply Reply, u precedent.Usage)
}

// Anthropic serves Anthropic's Messages API until the test has ended.
func Anthropic(t testing.TB, h Handler) *Server {
	t.Helper()
	return serve(t, h, dialect{"/v1/messages", parseAnthropic, anthropicFailure, answerAnthropic}, "")
}

// OpenAI serves OpenAI's chat completions until the test has ended.
func OpenAI(t testing.TB, h Handler) *Server {
	t.Helper()
	return serve(t, h, dialect{"/v1/chat/completions", parseOpenAI, openAIFailure, answerOpenAI}, "/v1")
}

func serve(t testing.TB, h Handler, d dialect, base string) *Server {
	t.Helper()
	s := &Server{
		handler: h, dialect: d, closed: make(chan struct{}),
		cache: cache{prefixes: map[[sha256.Size]byte]bool{}, texts: map[string][]string{}},
	}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = server.URL + base
	t.Cleanup(func() {
		close(s.closed)
		server.Close()
	})
	return s
}

// tokensOf counts characters by four, as providers give it for English and code.
func tokensOf(text string) int { return len(text) / 4 }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	if r.Method != http.MethodPost || r.URL.Path != s.dialect.path {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	request, prompt, refused := s.dialect.parse(body)
	request.Header, request.Body = r.Header.Clone(), body
	request, u := s.arrive(request, prompt)
	reply := Reply{Status: http.StatusBadRequest}
	if refused != nil {
		reply.Message = refused.Error()
	} else {
		reply = s.handler(request)
	}
	out := &stream{w: w, client: r.Context().Done(), closed: s.closed, left: reply.Cut, bounded: reply.Cut > 0}
	if !out.wait(reply.Hold) {
		return
	}
	maps.Copy(w.Header(), reply.Header)
	if reply.Status == 0 {
		reply.Status = http.StatusOK
	}
	if reply.Status != http.StatusOK || reply.Body != "" {
		s.fail(out, reply)
	} else {
		u.OutputTokens = tokensOf(reply.said())
		if reply.Usage != nil {
			u = *reply.Usage
		}
		u.Requests = 1
		s.begin(request.N, prompt, u)
		s.dialect.answer(out, request, reply, u)
	}
	if out.over && reply.Torn {
		panic(http.ErrAbortHandler)
	}
}

// said returns the text whose tokens count as output.
func (r Reply) said() string {
	text := r.Text + r.Reasoning + r.Refusal
	for _, c := range r.Calls {
		text += c.Name + c.Args
	}
	return text
}

// fail answers with an error, which costs nothing.
func (s *Server) fail(out *stream, reply Reply) {
	body := []byte(reply.Body)
	if reply.Body == "" {
		body = encode(s.dialect.failure(reply.Status, reply.Message))
	}
	if out.w.Header().Get("Content-Type") == "" {
		out.w.Header().Set("Content-Type", "application/json")
	}
	out.w.WriteHeader(reply.Status)
	out.write(body)
}
