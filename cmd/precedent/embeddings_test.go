package main

import (
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/doctor"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
)

// TestDoctorAndEmbeddings: what is set, where texts go, and with --try whether it answers; never
// the key, and never a reason that a review would not work.
func TestDoctorAndEmbeddings(t *testing.T) {
	for _, test := range []struct {
		name        string
		model, size string
		reply       llmtest.VectorReply
		state       doctor.State
		says, hint  string
	}{
		{"healthy", "text-embedding-3-small", "", llmtest.VectorReply{}, doctor.OK, "answered with a vector of 8 dimensions", ""},
		{"a wrong key", "m", "", llmtest.VectorReply{Status: 401, Message: "no such key: vec-canary-9"}, doctor.Warning, "no such key: [key]", "check the key"},
		{"slow", "m", "", llmtest.VectorReply{Hold: llmtest.Never}, doctor.Warning, "did not answer within 100ms", "embeddings.timeout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := llmtest.Embeddings(t, llmtest.VectorScript(test.reply))
			a := &app{dir: t.TempDir(), now: time.Now, env: map[string]string{
				"PRECEDENT_EMBEDDINGS_URL": s.URL, "PRECEDENT_EMBEDDINGS_MODEL": test.model, "PRECEDENT_EMBEDDINGS_DIMENSIONS": test.size,
				"PRECEDENT_EMBEDDINGS_TIMEOUT": "100ms", "PRECEDENT_EMBEDDINGS_KEY": "vec-canary-9",
			}}
			if test.state == doctor.OK {
				a.env["PRECEDENT_EMBEDDINGS_TIMEOUT"] = "1m"
			}
			op, err := a.settings(nil)
			if err != nil {
				t.Fatal(err)
			}
			d := doctor.New(hintOf)
			a.checkEmbeddings(t.Context(), d, op, false)
			if len(d.Checks) != 1 || d.Checks[0].State != doctor.OK || !strings.Contains(d.Checks[0].Text, "PRECEDENT_EMBEDDINGS_KEY is set") || len(s.Requests()) != 0 {
				t.Errorf("%+v after %d requests", d.Checks, len(s.Requests()))
			}
			if priced := strings.Contains(d.Checks[0].Text, "$0.02"); priced != (test.model != "m") {
				t.Error(d.Checks[0].Text)
			}
			a.checkEmbeddings(t.Context(), d, op, true)
			got := d.Checks[2]
			if got.State != test.state || !strings.Contains(got.Text, test.says) || !strings.Contains(got.Hint, test.hint) || strings.Contains(got.Text, "canary") || !d.Works {
				t.Errorf("%+v", got)
			}
		})
	}
	a := &app{dir: t.TempDir(), now: time.Now, env: map[string]string{"PRECEDENT_EMBEDDINGS_URL": "https://example.org/v1"}}
	op, err := a.settings(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := doctor.New(hintOf)
	if a.checkEmbeddings(t.Context(), d, op, true); len(d.Checks) != 1 || d.Checks[0].State != doctor.Warning || !strings.Contains(d.Checks[0].Hint, "embeddings.model") {
		t.Errorf("%+v", d.Checks)
	}
}
