package review

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// seesHole is a model that reports the hole where it is shown, as the security
// finder, and knows nothing else. It confirms every claim.
func seesHole(r llmtest.Request) llmtest.Reply {
	answer := object{"summary": "Read it.", "findings": []object{}}
	if finderOf(r) == "security" && strings.Contains(prefixOf(r), hole+"\n") {
		answer["findings"] = []object{{
			"path": "auth/login.go", "side": "RIGHT", "start": 4, "end": 4, "quote": hole, "category": "security",
			"severity": "critical", "confidence": 95, "title": "An empty token logs in as anybody",
			"body": "With an empty `given` the check passes.",
		}}
	}
	if _, claims, ok := strings.Cut(r.User[len(r.User)-1].Text, "\nid: "); ok {
		id, _, _ := strings.Cut(claims, "\n")
		answer["verdicts"] = []object{{
			"finding": id, "verdict": "confirmed", "confidence": 90, "reason": "Nothing checks it.",
			"evidence": []object{{"path": "auth/login.go", "line": 4, "quote": hole}},
		}}
	}
	out, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return llmtest.Reply{Text: string(out)}
}

// TestOverflow: thousands of lines of noise in front of the defect, in its own
// hunk and in other files, do not keep it from being read.
func TestOverflow(t *testing.T) {
	a := newAuthor(9)
	noise := strings.Join(a.text(5_000), "\n") + "\n"
	mark := "func Check("
	inside := strings.Replace(loginHead["auth/login.go"], mark, noise+mark, 1)
	for _, test := range []struct {
		name string
		head files
	}{
		{"in its hunk", files{"auth/login.go": inside}},
		{"in other files", files{"aaa/noise.go": "package aaa\n" + noise, "auth/login.go": loginHead["auth/login.go"]}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, _ := changed(t, files{"auth/login.go": loginBase["auth/login.go"], "CLAUDE.md": loginBase["CLAUDE.md"]}, files{
				"CLAUDE.md": loginBase["CLAUDE.md"], "auth/login.go": test.head["auth/login.go"],
				"aaa/noise.go": test.head["aaa/noise.go"],
			})
			server := served(t, &in, test.head, seesHole, nil)
			r := run(t, in)
			if f := byTitle(t, r, "An empty token logs in as anybody"); !f.Live() {
				t.Errorf("the hole is reported as %+v", f)
			}
			l, at := newLedger(server), "auth/login.go\x00+"+hole
			for _, spec := range prompt.Finders() {
				if !l.by[spec.Name][at] {
					t.Errorf("%s was not answered on the defect", spec.Name)
				}
			}
			if left := unread(&in, l); len(left) > 0 || r.Coverage.HunksRead != r.Coverage.Hunks || r.Coverage.Hunks < 1 {
				t.Errorf("the log lacks %v, coverage %+v", left, r.Coverage)
			}
		})
	}
}

// TestKeyAtTheEdge: a key of many lines is recognised although the parts of the change end within it.
func TestKeyAtTheEdge(t *testing.T) {
	var lines []string
	a := newAuthor(4)
	for range 60 {
		lines = append(lines, a.fill("{a} {a} {a} {a} of a file that goes on"))
	}
	lines = append(lines, "-----BEGIN RSA "+"PRIVATE KEY-----")
	var secrets []string
	for range 30 {
		var b strings.Builder
		for b.Len() < 64 {
			b.WriteByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[a.IntN(64)])
		}
		secrets = append(secrets, b.String())
	}
	lines = append(append(lines, secrets...), "-----END RSA "+"PRIVATE KEY-----", "the end")
	c := diff.Change{Files: []diff.File{added("key.txt", lines...)}}
	for most := 200; most < 1_200; most += 37 {
		p := newPlan(&c, nil)
		p.pack(&c, most)
		b := newBrief(&Input{Change: &c})
		for i, s := range p.shards {
			for _, secret := range secrets {
				if strings.Contains(string(b.render(s.pieces)), secret) {
					t.Fatalf("part %d of %d shows %q", i+1, len(p.shards), secret)
				}
			}
		}
	}
}
