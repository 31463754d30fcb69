package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// question is what an answer depends on.
type question struct {
	finder string // the title of its assignment; empty for the other roles
	claims []string
	pairs  []string // the ids of what a verifier or a judge is to look at
	text   string   // the prompt
}

var (
	assignment = regexp.MustCompile(`(?m)^# Your assignment: (.*)$`)
	// claim has the id, the path, the side and the first line of a claim.
	claim   = regexp.MustCompile(`(?m)^id: (\S+)\nplace: (.*):\d+(?:-\d+)?( of the old file)?\n(?:[a-z]+: .*\n)*lines:\n(.*)$`)
	givenID = regexp.MustCompile(`(?m)^<data-[0-9a-f]{16} kind="(claim|pair)">\nid: (\S+)$`)
)

func questionOf(r llmtest.Request) question {
	q := question{text: r.Prompt()}
	for _, id := range givenID.FindAllStringSubmatch(q.text, -1) {
		if id[1] == "claim" {
			q.claims = append(q.claims, id[2])
		} else {
			q.pairs = append(q.pairs, id[2])
		}
	}
	if r.System == prompt.System() {
		q.finder = assignment.FindStringSubmatch(q.text)[1]
	}
	return q
}

// confirm is the answer of a verifier to whom all is right.
func (q question) confirm() string {
	var all []string
	for _, c := range claim.FindAllStringSubmatch(q.text, -1) {
		at := "head"
		if c[3] != "" {
			at = "base"
		}
		all = append(all, fmt.Sprintf(`{"finding":%q,"verdict":"confirmed","confidence":90,"reason":"It is so.","evidence":[{"path":%q,"at":%q,"quote":%q}]}`, c[1], c[2], at, c[4]))
	}
	return `{"verdicts":[` + strings.Join(all, ",") + `]}`
}

// serveAnswers starts a server, compatible with OpenAI's, that answers as the function says.
func serveAnswers(t *testing.T, answer func(question) string) *llmtest.Server {
	t.Helper()
	usage := precedent.Usage{InputTokens: 1000, CachedTokens: 400, OutputTokens: 50}
	return llmtest.OpenAI(t, func(r llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: answer(questionOf(r)), Model: "scripted", Usage: &usage}
	})
}

// nothing is what a finder says that finds nothing.
const nothing = `{"findings":[]}`
