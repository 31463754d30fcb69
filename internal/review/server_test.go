package review

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/api"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// theKey is what the provider gets to know the caller by.
const theKey = "the-key-that-opens-the-provider"

// client is an engine that asks a server.
func client(tb testing.TB, server *llmtest.Server, f api.Files) engine.Engine {
	tb.Helper()
	transport := &http.Transport{}
	tb.Cleanup(transport.CloseIdleConnections)
	model, err := llm.Anthropic(llm.Config{
		Key: theKey, BaseURL: server.URL, Model: "m1", Transport: transport,
		Now: time.Now,
	})
	needs.NoError(tb, err)
	return api.New(api.Config{Model: model, Why: "a test", Files: f})
}

// roles tells finders apart by the assignment that ends their prompts.
var roles = func() map[string]string {
	byTitle := map[string]string{}
	for _, f := range prompt.Finders() {
		byTitle["\n# Your assignment: "+f.Title+"\n"] = f.Name
	}
	return byTitle
}()

// finderOf is the finder that sends a request; empty for other roles.
func finderOf(r llmtest.Request) string {
	last := r.User[len(r.User)-1].Text
	for heading, name := range roles {
		if strings.Contains("\n"+last, heading) {
			return name
		}
	}
	return ""
}
