package report_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/markdown/markdowntest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/report"
)

// login is a change to one function, and full a whole review of it.
func login() *diff.Change {
	return &diff.Change{Added: 212, Removed: 38, Files: []diff.File{{
		Path: "auth/token.go", OldPath: "auth/token.go", Status: diff.Modified,
		Hunks: []diff.Hunk{{OldStart: 39, OldLines: 3, NewStart: 39, NewLines: 6, Lines: []diff.Line{
			{Op: diff.Context, Old: 39, New: 39},
			{Op: diff.Add, New: 40, Text: "func (s *Store) Check(tok string) bool {"},
			{Op: diff.Delete, Old: 40, Text: "func (s *Store) Check(tok string) error {"},
			{Op: diff.Add, New: 41, Text: "\twant := s.current()"},
			{Op: diff.Add, New: 42, Text: "\treturn tok == want"},
			{Op: diff.Add, New: 43, Text: "}"},
			{Op: diff.Add, New: 44, Text: "const key = \"" + "AKIA" + "IOSFODNN7EXAMPLF\""},
		}}},
	}}}
}

// at is lines of the file.
func at(start, end int) precedent.Span {
	return precedent.Span{Path: "auth/token.go", Side: precedent.Right, Start: start, End: end}
}

func full() *precedent.Review {
	r := &precedent.Review{
		Schema: precedent.ResultSchema, ID: "0192d3a0-0000-7000-8000-000000000001",
		Repo: precedent.Repo{Host: "example.org", Owner: "team", Name: "app"},
		Base: strings.Repeat("a", 40), Head: strings.Repeat("b", 40),
		Scope: precedent.FullScope, Verdict: precedent.Findings, Threshold: 75, ThresholdFrom: "tuned from 64 outcomes",
		TakenAway: []precedent.TakenAway{
			{
				Finding: "t4k3n0aw4y", Title: "An empty token logs in", Severity: precedent.Critical, Span: at(41, 41),
				How: "refuted",
				Why: "current never returns an empty one (auth/token.go:41)", Quote: "want := s.current()",
			},
			{
				Finding: "t4k3n0aw5y", Title: "The key is in the code", Severity: precedent.High, Span: at(44, 44),
				How: "duplicate", Why: "duplicate of another", Quote: "Key",
			},
		},
		Findings: []precedent.Finding{
			{
				ID: "k7m2q0v5xa", Fingerprint: strings.Repeat("0", 32), Finder: "bugs", Category: precedent.Security,
				Severity: precedent.High, Confidence: 91, Span: at(42, 42), Quote: "\treturn tok == want",
				Title: "Token is compared with ==, which leaks timing",
				Body: "An attacker measures how long a wrong token takes and learns it byte by byte.\n\nThe route has no " +
					"limiter: every guess is free, and there is nothing in the log that would show it.",
				Suggestion: "\treturn subtle.ConstantTimeCompare([]byte(tok), []byte(want)) == 1",
				Cites: []precedent.Cite{{
					Kind: precedent.CitesPrecedent, ID: "inline-318",
					Text: "Compare secrets in constant time, @carl: `==` leaks how far they agree.",
					URL:  "https://example.org/team/app/pull/12#discussion_r318",
					Precedent: &precedent.CitedComment{
						Pull: 12, AuthorID: "7", Author: "mona", At: time.Date(2025, 4, 5, 6, 7, 8, 0, time.UTC), Path: "auth/session.go",
						Line: 9, Kind: "inline", Similarity: 0.74,
					},
				}, {Kind: "insight", ID: "1ns1ght000", Text: "comparisons leak"}},
				Votes: 2, Verifier: precedent.Confirmed, Placement: precedent.Inline,
			},
			{
				ID: "ab3d0e5f7g", Fingerprint: strings.Repeat("1", 32), Finder: "secrets", Category: precedent.Secrets,
				Severity: precedent.Critical, Confidence: 95, Span: at(44, 44),
				Quote: "const key = \"[REDACTED:aws-access-token]\"",
				Rule:  "aws-access-token", Title: "An AWS access key is committed",
				Body:  "Anyone who reads the repository can use it. Revoke it first.",
				Votes: 1, Verifier: precedent.Unchecked, Placement: precedent.Inline,
			},
			{
				ID: "zz11223344", Fingerprint: strings.Repeat("2", 32), Finder: "bugs", Category: precedent.Style,
				Severity: precedent.Nit, Confidence: 80, Span: at(40, 41), Title: "Check says nothing about who asks",
				Votes: 1, Placement: precedent.Summary,
			},
			{ID: "below00001", Span: at(41, 41), Confidence: 62, Dropped: precedent.BelowThreshold, Placement: precedent.Hidden},
			{
				ID: "dupli00001", Span: at(42, 42), Dropped: precedent.Duplicate, DroppedBy: "k7m2q0v5xa",
				Placement: precedent.Hidden,
			},
			{ID: "wrong00001", Span: at(42, 42), Dropped: precedent.Refuted, Placement: precedent.Hidden},
			{ID: "nowhere001", Dropped: precedent.NoEvidence, Placement: precedent.Hidden},
			{
				ID: "h1dd3n0001", Span: at(43, 43), Title: "Check may return early", Dropped: precedent.Dismissed, DroppedBy: "r1",
				Placement: precedent.Hidden,
			},
		},
		Finders: []precedent.FinderRun{
			{
				Name: "bugs", Engine: "command", Status: precedent.StatusOK, Found: 6, TookMS: 8123,
				Usage: precedent.Usage{Requests: 1, InputTokens: 60000, CachedTokens: 49800, OutputTokens: 1000},
			},
			{Name: "secrets", Engine: "analyzer", Status: precedent.StatusOK, Found: 1},
			{Name: "unicode", Engine: "analyzer", Status: precedent.StatusEmpty},
			{Name: "govet", Engine: "analyzer", Status: precedent.StatusSkipped, Error: "no Go toolchain on PATH"},
		},
		Coverage: precedent.Coverage{
			Files: 6, Hunks: 14, HunksRead: 14,
			Skipped: []precedent.SkippedFile{{Path: "go.sum", Reason: "lock file"}, {Path: "logo.png", Reason: "binary"}},
		},
		Memory: precedent.MemoryUse{
			Hotspots:  []precedent.Hotspot{{Path: "auth/token.go", Findings: 3, Dismissed: 2}},
			Learnings: precedent.LearningsGiven{Rendered: 3, RenderedBytes: 421, Omitted: 1, OmittedBytes: 1200},
			LearningsUsed: []precedent.LearningUse{{
				Cite: precedent.Cite{
					Kind: "learning", ID: "c0nst4nt00", Text: "compare secrets in constant time",
					URL: "https://example.com/pull/7#comment-9",
				},
				Does: precedent.LearnStricter, Why: "we had an incident", Who: "mona", Scope: precedent.RepositoryScope,
				Glob: "auth/**",
				At:   time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC), Findings: []string{"k7m2q0v5xa"},
			}},
			PrecedentUse: precedent.CorpusUse{Searched: 10_306, Shown: 8, Cited: 1},
			Suppressed: []precedent.SuppressedFinding{{
				Finding: "h1dd3n0001", Title: "Check may return early",
				Dropped: precedent.Dismissed, By: "r1", Why: "early is what we want here", Who: "dana",
			}},
		},
		Failures: []precedent.Failure{{Step: "policy", Error: ".precedent.yaml:3:1: unknown key \"treshold\""}},
		Usage:    precedent.Usage{Requests: 1, InputTokens: 60000, CachedTokens: 49800, OutputTokens: 1000},
		CostUSD:  0.08, TookMS: 14210,
		Target:       precedent.Target{Head: "feature/login", Base: "main", Added: 1212, Removed: 38},
		RulesChecked: []precedent.Rule{{Source: "CLAUDE.md"}, {Source: "CLAUDE.md"}, {Source: "AGENTS.md"}},
		Sightings:    map[string]int{"k7m2q0v5xa": 2},
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; !f.Live() {
			f.Finder, f.Category, f.Severity = "bugs", precedent.Bugs, precedent.Low
		}
	}
	return r
}

// analyzersOnly is a clean review that no model took part in.
func analyzersOnly() *precedent.Review {
	return &precedent.Review{
		Schema: precedent.ResultSchema, Scope: precedent.AnalyzersScope, Verdict: precedent.Clean, Threshold: 75,
		Finders: []precedent.FinderRun{
			{Name: "secrets", Status: precedent.StatusEmpty},
			{Name: "unicode", Status: precedent.StatusEmpty},
			{Name: "bugs", Status: precedent.StatusOff, Error: "no engine is configured"},
			{Name: "tests", Status: precedent.StatusOff, Error: "no engine is configured"},
			{Name: "style", Status: precedent.StatusOff, Error: "turned off by the repository's policy"},
			{Name: "govet", Status: precedent.StatusEmpty, Error: "1 package does not load: ./broken"},
		},
		Coverage: precedent.Coverage{Files: 1, Hunks: 1, HunksRead: 1},
		Target: precedent.Target{
			Head: "the last commit", Base: "HEAD~1", Added: 1,
			Why: "nothing is uncommitted and the branch has no upstream",
		},
		TookMS: 12,
	}
}

// broken is a review whose engine did not answer.
func broken() *precedent.Review {
	r := analyzersOnly()
	r.Scope, r.Verdict = precedent.FullScope, precedent.Failed
	r.Finders[2] = precedent.FinderRun{
		Name: "bugs", Engine: "command", Status: precedent.StatusTimeout,
		Error: "no answer within 30s",
	}
	r.Coverage = precedent.Coverage{
		Files: 2, Hunks: 9,
		Truncated: []precedent.TruncatedHunk{{Path: "big.go", Hunk: 3, Reason: "diff larger than 4 MiB"}},
	}
	return r
}

func TestText(t *testing.T) {
	for _, test := range []struct {
		name   string
		review *precedent.Review
		style  report.Style
	}{
		{"full.txt", full(), report.Style{
			Engine: "command ./engine (--engine) → this machine", Remembered: 42,
			Change: login(),
		}},
		{"full-wide.txt", full(), report.Style{Width: 120, Remembered: 1, Change: login()}},
		{"full-narrow.txt", full(), report.Style{Width: 44, Change: login()}},
		{"full-color.txt", full(), report.Style{Color: true, Change: login()}},
		{"quotes.txt", full(), report.Style{}},
		{"analyzers.txt", analyzersOnly(), report.Style{Engine: "none", NoEngine: true}},
		{"failed.txt", broken(), report.Style{Engine: "command ./engine"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := string(printed(t, "text", test.review, test.style))
			golden.Compare(t, filepath.Join("testdata", test.name), out)
			if strings.Contains(out, "AKIA") {
				t.Error("the excerpt shows the secret that the finding redacts")
			}
		})
	}
}

func TestJSON(t *testing.T) {
	golden.Compare(t, "testdata/full.json", string(printed(t, "json", full(), report.Style{})))
}

// everywhere is a review of which every text is s.
func everywhere(s string) *precedent.Review {
	r := full()
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Path, f.Title, f.Body, f.Suggestion, f.Quote, f.Finder, f.Rule, f.ID = s, s, s+"\n"+s, s+"\n"+s, s, s, s, s
		f.Severity, f.Verifier = precedent.Severity(s), precedent.Check(s)
		f.Cites = []precedent.Cite{{Kind: s, ID: s, Text: s}}
	}
	for i := range r.Finders {
		r.Finders[i].Name, r.Finders[i].Error, r.Finders[i].Status = s, s, precedent.Status(s)
	}
	r.ID, r.Head, r.Positive, r.Verdict = s, s, s, precedent.Verdict(s)
	r.Coverage.Skipped = []precedent.SkippedFile{{Path: s, Reason: s}}
	r.Coverage.Truncated = []precedent.TruncatedHunk{{Path: s, Hunk: 1, Reason: s}}
	r.Failures = []precedent.Failure{{Step: s, Error: s}}
	r.Target = precedent.Target{Head: s, Base: s, Why: s}
	r.RulesChecked = []precedent.Rule{{Source: s}}
	cite := []precedent.Cite{{Kind: s, ID: s, Text: s, URL: s}}
	r.Memory.Precedents, r.Memory.Insights = cite, cite
	r.Memory.Hotspots = []precedent.Hotspot{{Path: s, Findings: 2}}
	r.Memory.Suppressed = []precedent.SuppressedFinding{{
		Finding: s, Title: s, Why: s, Who: s, By: s, Dropped: precedent.Dismissed,
	}}
	r.Memory.LearningsUsed = []precedent.LearningUse{{
		Cite: cite[0], Does: precedent.LearningKind(s), Why: s, Who: s, Scope: precedent.LearningScope(s), Glob: s,
		Findings: []string{s},
	}}
	return r
}

// hostileChange is login, but with a path and lines that are s.
func hostileChange(s string) *diff.Change {
	change := login()
	change.Files[0].Path = s
	for i := range change.Files[0].Hunks[0].Lines {
		change.Files[0].Hunks[0].Lines[i].Text = s
	}
	return change
}

var (
	ownSGR = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33|36|1;31)m")
	unsafe = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
)

const joiner = "\u200d" // which is kept within emoji

// workflow is what GitHub's runner takes for a command in the log of a step.
var workflow = regexp.MustCompile(`(?m)^\s*::|##\[`)

// TestFormatsAreInert: the formats write nothing that a terminal obeys but the package's own colours, and nothing that
// GitHub's runner obeys. TestMarkdownIsInert shows it for Markdown.
func TestFormatsAreInert(t *testing.T) {
	for _, s := range markdowntest.Infamous(t) {
		style := report.Style{Engine: s, Change: hostileChange(s), Version: s}
		for _, f := range report.Formats {
			if f.Name == "markdown" {
				continue
			}
			out := strings.ReplaceAll(string(printed(t, f.Name, everywhere(s), style)), joiner, "")
			if bad := unsafe.FindString(out); bad != "" {
				t.Errorf("%s of %q holds %q", f.Name, s, bad)
			}
			if bad := workflow.FindString(out); bad != "" && f.Name != "github" {
				t.Errorf("%s of %q tells GitHub's runner %q", f.Name, s, bad)
			}
		}
		style.Color = true
		out := strings.ReplaceAll(string(printed(t, "text", everywhere(s), style)), joiner, "")
		if bad := unsafe.FindString(ownSGR.ReplaceAllString(out, "")); bad != "" {
			t.Errorf("coloured text of %q holds %q", s, bad)
		}
		var back precedent.Review
		needs.NoError(t, json.Unmarshal(printed(t, "json", everywhere(s), report.Style{}), &back))
		if utf8.ValidString(s) && back.Findings[0].Title != s {
			t.Errorf("the title came back from JSON as %q, want %q", back.Findings[0].Title, s)
		}
	}
}

// TestTextIsBounded shows that a line of megabytes is cut before it is laid out.
func TestTextIsBounded(t *testing.T) {
	r := everywhere(strings.Repeat("x y", 1<<20))
	change := login()
	change.Files[0].Hunks[0].Lines[4].Text = strings.Repeat("z", 5<<20)
	r.Findings = full().Findings[:1]
	r.Memory, r.Coverage, r.Failures, r.Finders = precedent.MemoryUse{}, precedent.Coverage{}, nil, nil
	r.Target, r.RulesChecked, r.Verdict = precedent.Target{}, nil, precedent.Findings
	r.Findings[0].Body = strings.Repeat("long ", 1<<20)
	if n := len(printed(t, "text", r, report.Style{Change: change})); n > 1<<20 {
		t.Errorf("%d bytes of text for one finding", n)
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// TestExcerptsHaveNoCredential: an excerpt is redacted with the file's name and with the
// lines before it, which can be what makes a line a secret.
func TestExcerptsHaveNoCredential(t *testing.T) {
	for name, lines := range map[string][]string{
		"ops/secret.yaml": {
			"kind: Secret", "metadata:", "  name: db", "  labels:", "    app: db", "stringData:",
			"  pg: kq7Zt2-" + "vRw9Lm4x",
		},
		"ops/main.tf": {"administrator_login_password = \"kq7Zt2-" + "vRw9Lm4x\""},
		".env":        {"GREETING=kq7Zt2-" + "vRw9Lm4x"},
	} {
		hunk := diff.Hunk{NewStart: 1, NewLines: len(lines)}
		for i, l := range lines {
			hunk.Lines = append(hunk.Lines, diff.Line{Op: diff.Add, New: i + 1, Text: l})
		}
		change := &diff.Change{Files: []diff.File{{Path: name, Status: diff.Added, Hunks: []diff.Hunk{hunk}}}}
		n := len(lines)
		r := &precedent.Review{Findings: []precedent.Finding{{
			ID: "f1", Title: "Odd", Body: "It is odd.", Confidence: 90, Severity: precedent.Medium, Category: precedent.Bugs,
			Placement: precedent.Inline,
			Span:      precedent.Span{Path: name, Side: precedent.Right, Start: n, End: n},
		}}}
		for _, format := range []string{"text", "markdown"} {
			out := string(printed(t, format, r, report.Style{Change: change}))
			if strings.Contains(out, "vRw9Lm4x") || !strings.Contains(out, "[REDACTED") {
				t.Errorf("%s:\n%s", name, out)
			}
		}
	}
}
