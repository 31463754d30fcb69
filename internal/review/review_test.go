package review

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/prompt"
)

var theRepo = precedent.Repo{Host: "example.com", Owner: "acme", Name: "shop"}

// files is a tree: texts by path.
type files map[string]string

// gitIn runs git in a folder, apart from all configuration, with something to read.
func gitIn(tb testing.TB, dir, in string) func(args ...string) string {
	return func(args ...string) string {
		cmd := exec.CommandContext(tb.Context(), "git", append([]string{
			"-c", "user.name=T", "-c", "user.email=t@example.com",
			"-c", "core.autocrlf=false",
		}, args...)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
		cmd.Env = []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.Output()
		if err != nil {
			tb.Fatalf("git %s: %v", args, err)
		}
		return string(out)
	}
}

// input is inputOf for the finder of bugs alone.
func input(tb testing.TB, base, head files) Input {
	tb.Helper()
	in := inputOf(tb, base, head)
	in.Policy.Finders = only("bugs")
	return in
}

// inputOf is the input of a review of the change from one tree to another, made by git, without guide.
func inputOf(tb testing.TB, base, head files) Input {
	tb.Helper()
	read := func(side precedent.Side, path string) ([]byte, error) {
		tree := head
		if side == precedent.Left {
			tree = base
		}
		text, ok := tree[path]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
	change := parse(tb, patchOf(tb, base, head, "--full-index"))
	change.Classify(diff.Trees{Base: func(path string) ([]byte, error) { return read(precedent.Left, path) }})
	return Input{
		Repo: theRepo, Base: "base", Head: "head", Change: change, Read: read,
		Tree:  func(context.Context) (string, error) { return "", errors.New("no tree here") },
		Now:   func() time.Time { return time.Unix(1_700_000_000, 0) },
		NewID: func() string { return "id" },
	}
}

func run(tb testing.TB, in Input) *precedent.Review {
	tb.Helper()
	r := needs.Value(Run(tb.Context(), in))(tb)
	decidesAgain(tb, r)
	return r
}

// only turns all prompted finders off but those that are named.
func only(names ...string) map[string]bool {
	on := map[string]bool{}
	for _, f := range prompt.Finders() {
		on[f.Name] = slices.Contains(names, f.Name)
	}
	return on
}

// scripted is an engine with a model for finders, which fails if it is asked for a second reading.
func scripted(finder func(engine.Task) engine.Reply) *cast {
	no := func(engine.Task) engine.Reply {
		return engine.Reply{Status: precedent.StatusError, Message: "no second reading"}
	}
	return &cast{finder: finder, verifier: no, judge: no, threads: no}
}

// answering is a model that always answers the same to the finders of bugs and of
// everything, and has nothing to say to the others.
func answering(findings ...object) *cast {
	return scripted(func(t engine.Task) engine.Reply {
		if t.Name != "bugs" && t.Name != "general" {
			return reply1()
		}
		return reply1(findings...)
	})
}

func reply1(findings ...object) engine.Reply {
	if findings == nil {
		findings = []object{}
	}
	out, err := json.Marshal(object{"findings": findings, "summary": "read it"})
	if err != nil {
		panic(err)
	}
	return engine.Reply{
		Status: precedent.StatusOK, Output: out, Model: "m1",
		Usage: precedent.Usage{InputTokens: 10, OutputTokens: 2}, CostUSD: 0.01,
	}
}

func finding(path string, start int, quote, title string, more object) object {
	f := object{
		"path": path, "side": "RIGHT", "start": start, "end": start, "quote": quote, "title": title,
		"body": "It fails at night.", "category": "bugs", "severity": "high", "confidence": 90,
	}
	maps.Copy(f, more)
	return f
}

// inCart is a finding about a line of shopHead's cart, which says the right number.
func inCart(quote, title string, more ...object) object {
	n := strings.Index(shopHead["cart/cart.go"], quote)
	f := finding("cart/cart.go", 1+strings.Count(shopHead["cart/cart.go"][:n], "\n"), quote, title, nil)
	for _, m := range more {
		maps.Copy(f, m)
	}
	return f
}

// key has the form of an access key that the scanner knows. It opens nothing.
const key = "AKIA" + "QYLPMN5HHHFPZAM2"

var shopBase = files{
	"cart/cart.go": "package cart\n\nfunc Total(items []Item) int {\n\tsum := 0\n\tfor _, i := range items {\n\t\tsum " +
		"+= i.Price\n\t}\n\treturn sum\n}\n",
	"go.sum": "a v1 h1:x\n",
}

var shopHead = files{
	"cart/cart.go": "package cart\n\nfunc Total(items []Item) int {\n\tsum := 0\n\tfor n := 0; n <= len(items); n++ " +
		"{\n\t\tsum += items[n].Price * items[n].Count\n\t}\n" +
		"\tif sum < 0 {\n\t\treturn 0\n\t}\n\treturn sum\n}\n\nfunc Mean(items []Item) int {\n\treturn Total(items) / " +
		"len(items)\n}\n",
	"cart/aws.go": "package cart\n\nconst accessKey = \"" + key + "\" // gitleaks:allow\n",
	"go.sum":      "a v1 h1:x\nb v1 h1:y\n",
}

func byTitle(t *testing.T, r *precedent.Review, title string) precedent.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Title == title {
			return f
		}
	}
	t.Fatalf("no finding %q in %v", title, r.Findings)
	return precedent.Finding{}
}

func finderRun(t *testing.T, r *precedent.Review, name string) precedent.FinderRun {
	t.Helper()
	for _, run := range r.Finders {
		if run.Name == name {
			return run
		}
	}
	t.Fatalf("no finder %q in %v", name, r.Finders)
	return precedent.FinderRun{}
}

// TestPlanted is a model with five remarks: a right quote with a wrong number, a quote that is nowhere, perhaps a
// duplicate of an analyzer's, an unsure one, a good one. It does not answer the judge and the verifier.
func TestPlanted(t *testing.T) {
	in := input(t, shopBase, shopHead)
	in.Engine = answering(
		finding("cart/cart.go", 300, loop+"\n"+body, "The loop runs one past the end", nil),
		finding("cart/cart.go", 5, "\tdefer tx.Rollback()", "The transaction is left open", nil),
		finding("cart/aws.go", 3, "const accessKey = \""+key+"\"", "An AWS access key is committed: "+key,
			object{"category": "secrets", "severity": "critical"}),
		inCart(neg, "A negative sum cannot be", object{"confidence": 40}),
		inCart(mean, "An empty cart divides by zero", object{
			"severity": "medium", "symbol": "Mean",
			"evidence": []object{
				{"path": "cart/cart.go", "line": 1, "quote": "func Mean(items []Item) int {"},
				{"path": "cart/cart.go", "line": 3, "quote": "never there"},
			},
		}),
	)
	r := run(t, in)
	if r.Scope != precedent.FullScope || r.Verdict != precedent.Findings {
		t.Errorf("scope %s, verdict %s", r.Scope, r.Verdict)
	}
	skipped := []precedent.SkippedFile{{Path: "go.sum", Reason: "lock file"}}
	needs.Equal(t, precedent.Coverage{Files: 3, Hunks: 3, HunksRead: 2, Skipped: skipped}, r.Coverage)
	if f := byTitle(t, r, "The loop runs one past the end"); !f.Live() || f.Start != 5 || f.Confidence != 90 {
		t.Errorf("wrong number: %+v", f)
	}
	if f := byTitle(t, r, "The transaction is left open"); f.Dropped != precedent.NoEvidence || f.Start != 0 ||
		f.Placement != precedent.Hidden {
		t.Errorf("quote from nowhere: %+v", f)
	}
	live := r.Live()
	theKey := live[slices.IndexFunc(live, func(f precedent.Finding) bool { return f.Analyzer })]
	if f := byTitle(t, r, "An AWS access key is committed: [REDACTED:aws-access-token]"); !f.Live() || f.ID == theKey.ID ||
		theKey.Votes != 1 {
		t.Errorf("not compared with %s with %d votes: %+v", theKey.ID, theKey.Votes, f)
	}
	if f := byTitle(t, r, "A negative sum cannot be"); f.Dropped != precedent.BelowThreshold {
		t.Errorf("unsure: %+v", f)
	}
	good := byTitle(t, r, "An empty cart divides by zero")
	if !good.Live() || good.Start != 15 || good.Verifier != precedent.Unchecked || good.Votes != 1 {
		t.Errorf("good: %+v", good)
	}
	if diff := cmp.Diff([]precedent.Evidence{{Path: "cart/cart.go", Line: 14, Quote: "func Mean(items []Item) int {"}},
		good.Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
	if !strings.Contains(says(good), "removed 1 of 2") || !strings.Contains(says(good), "90: the finder's 90") {
		t.Errorf("trail: %s", says(good))
	}
	if len(r.Failures) != 2 || r.Failures[0].Step != "judge" || r.Failures[1].Step != "verify" {
		t.Errorf("failures: %+v", r.Failures)
	}
	bugs := finderRun(t, r, "bugs")
	if r.Usage.Requests != 4 || r.Usage.InputTokens != 10 || r.CostUSD != 0.01 || bugs.Model != "m1" || bugs.Found != 5 {
		t.Errorf("run: %+v, usage %+v", bugs, r.Usage)
	}
	ids := map[string]bool{}
	for _, f := range live {
		if f.ID != precedent.FindingID(theRepo, f.Fingerprint) || ids[f.ID] {
			t.Errorf("id %s of %s", f.ID, f.Title)
		}
		ids[f.ID] = true
	}
}

// TestNoSecretGetsOut looks for the key in everything that leaves a review: what
// the engine is asked, and the review with its trails.
func TestNoSecretGetsOut(t *testing.T) {
	in := input(t, shopBase, shopHead)
	in.Intent = "Use the key " + key + " for now"
	in.Guide.Rules = []precedent.Rule{{ID: "12345678", Text: "Never use the key " + key, Source: "AGENTS.md", Line: 1}}
	var asked []string
	in.Engine = scripted(func(task engine.Task) engine.Reply {
		asked = append(asked, task.System+task.Prefix+task.Prompt)
		r := reply1(
			finding("cart/aws.go", 3, "const accessKey = \""+key+"\"", key, object{
				"body": "It says " + key, "suggestion": key, "symbol": key, "severity": "low",
				"evidence": []object{{"path": "cart/aws.go", "line": 3, "quote": "const accessKey = \"" + key + "\""}},
			}),
			finding("cart/aws.go", 3, key, "nowhere "+key, nil),
			finding("cart/cart.go", 5, "for n := 0; n <= len(items); n++ {", "off by one", nil),
		)
		return r
	})
	in.Failures = []precedent.Failure{{Step: "guide", Error: "cannot read " + key}}
	r := run(t, in)
	trails := needs.Each(r.Findings, func(f precedent.Finding) []precedent.Decision { return f.Trail })
	for what, v := range map[string]any{"tasks": asked, "review": r, "trails": trails} {
		b := needs.Value(json.Marshal(v))(t)
		if strings.Contains(string(b), key) {
			t.Errorf("the key is in the %s: %s", what, b)
		}
	}
	needs.Equal(t, "cannot read "+key, in.Failures[0].Error)
	if !strings.Contains(asked[0], "[REDACTED:aws-access-token]") {
		t.Errorf("the prompt does not say that a key was there")
	}
}

func TestNothingToReview(t *testing.T) {
	locked := shopBase.with(files{"go.sum": "a v2 h1:z\n"})
	for name, head := range map[string]files{"no change": shopBase, "lock file alone": locked} {
		in := input(t, shopBase, head)
		in.Engine = scripted(func(engine.Task) engine.Reply {
			t.Error("a request about nothing")
			return reply1()
		})
		r := run(t, in)
		if r.Verdict != precedent.Skipped || r.ExitStatus(precedent.High) != precedent.ExitClean {
			t.Errorf("%s: verdict %s", name, r.Verdict)
		}
	}
}

func TestPolicy(t *testing.T) {
	const below, ignored, unasked = precedent.BelowThreshold, precedent.IgnoredPath, precedent.Dropped("not asked")
	sixty := 60
	floors := []precedent.SeverityFloor{{Paths: "cart/**", Severity: precedent.High}}
	for _, test := range []struct {
		name                string
		policy              precedent.Policy
		medium, crash, leak precedent.Dropped
	}{
		{"none", precedent.Policy{}, below, "", ""},
		{"threshold", precedent.Policy{Threshold: &sixty}, "", "", ""},
		{"focus", precedent.Policy{Focus: []precedent.Category{precedent.Bugs}}, "", "", ""},
		{"ignored path", precedent.Policy{Ignore: []string{"cart/**"}}, unasked, unasked, ignored},
		{"floor spares what is protected", precedent.Policy{Threshold: &sixty, Floors: floors}, below, "", ""},
		{"finder off", precedent.Policy{Finders: map[string]bool{"secrets": false}}, below, "", unasked},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t, shopBase, shopHead)
			in.Policy = test.policy
			in.Engine = answering(
				inCart(loop, "off by one", object{"severity": "medium", "confidence": 70}),
				inCart(mean, "by zero", object{"severity": "low", "category": "crash", "confidence": 76}),
			)
			got := map[string]precedent.Dropped{"off by one": unasked, "by zero": unasked, "secrets": unasked}
			for _, f := range run(t, in).Findings {
				got[map[bool]string{true: f.Finder, false: f.Title}[f.Analyzer]] = f.Dropped
			}
			want := map[string]precedent.Dropped{"off by one": test.medium, "by zero": test.crash, "secrets": test.leak}
			needs.Equal(t, want, got)
		})
	}
}

// TestIdentity: code that moves keeps its findings' ids, equal lines have
// different ones, and an edited line has a new one.
func TestIdentity(t *testing.T) {
	loop := "\tfor n := 0; n <= len(items); n++ {\n\t\tuse(items[n])\n\t}\n"
	body := func(extra string) files {
		return files{"a.go": "package a\n" + extra + "\nfunc A(items []T) {\n" + loop + loop + loop + "}\n"}
	}
	ids := func(head files, lines ...int) (got []string) {
		in := input(t, files{"a.go": "package a\n"}, head)
		fs := needs.Each(lines, func(l int) object { return finding("a.go", l, loop, "off by one", nil) })
		in.Engine = answering(fs...)
		for _, f := range run(t, in).Live() {
			got = append(got, f.ID)
		}
		return got
	}
	first := ids(body(""), 4, 7, 10)
	if len(first) != 3 || first[0] == first[1] || first[1] == first[2] {
		t.Fatalf("ids %v", first)
	}
	needs.Equal(t, first, ids(body("\nimport \"fmt\"\n\nvar X = 1\n"), 8, 11, 14))
	edited := body("")
	edited["a.go"] = strings.ReplaceAll(edited["a.go"], "use(", "take(")
	if again := ids(edited, 4); again[0] == first[0] {
		t.Error("another line behind it, and the same id")
	}
}

// TestAnalyzersAreExact: an analyzer's line is taken at its word, though it be blank or one of many equal ones.
func TestAnalyzersAreExact(t *testing.T) {
	in := input(t, files{"CLAUDE.md": "# Rules\n"}, files{
		"CLAUDE.md": "# Rules\n\n- Be kind.\n\n- Be brief.\n",
		"a.txt":     "x\n<<<<<<< one\na\n=======\nb\n>>>>>>> two\n",
	})
	got := map[string]string{}
	for _, f := range run(t, in).Findings {
		got[f.Finder] = f.String() + " " + string(f.Placement)
	}
	want := map[string]string{"policy-edit": "CLAUDE.md:2 collapsed", "conflict-markers": "a.txt:2 inline"}
	needs.Equal(t, want, got)
}

func TestInlineCap(t *testing.T) {
	in := input(t, shopBase, shopHead.with(files{"cart/aws.go": ""}))
	in.Engine, in.MaxInline = answering(
		inCart(neg, "third", object{"confidence": 80}), inCart(loop, "first", object{"confidence": 85}),
		inCart(mean, "second", object{"confidence": 82}),
	), 2
	got := needs.Each(run(t, in).Live(), func(f precedent.Finding) string { return f.Title + " " + string(f.Placement) })
	needs.Equal(t, []string{"first inline", "second inline", "third summary"}, got)
}

func TestCite(t *testing.T) {
	rules := []precedent.Rule{
		{ID: "aaaaaaaa", Text: "Wrap errors once, with the verb and the object.", Source: "AGENTS.md", Line: 7},
		{ID: "bbbbbbbb", Text: "Close every response body.", Source: "web/AGENTS.md", Line: 2, Dir: "web"},
	}
	fs := []precedent.Finding{
		{Span: precedent.Span{Path: "api/a.go"}, Rule: "aaaaaaaa", Confidence: 70},
		{Span: precedent.Span{Path: "api/a.go"}, Rule: "bbbbbbbb", Confidence: 70},
		{
			Span: precedent.Span{Path: "web/a.go"},
			Body: "The guide says: close every response body. Close  every response body. It is not.", Confidence: 70,
		},
		{Span: precedent.Span{Path: "web/a.go"}, Rule: "made up", Confidence: 70},
	}
	cite(fs, rules, nil)
	score(fs, ShippedOdds(), DefaultThreshold)
	for i, want := range []struct {
		rule       string
		confidence int
	}{{"aaaaaaaa", 80}, {"", 70}, {"bbbbbbbb", 80}, {"", 70}} {
		if fs[i].Rule != want.rule || fs[i].Confidence != want.confidence || (want.rule != "") != (len(fs[i].Cites) == 1) {
			t.Errorf("finding %d: rule %q, confidence %d, cites %v", i, fs[i].Rule, fs[i].Confidence, fs[i].Cites)
		}
	}
}

// TestTooLarge: a file or hunk that a limit left out makes the review partial, with and without an engine.
func TestTooLarge(t *testing.T) {
	for _, e := range []engine.Engine{nil, answering()} {
		in := input(t, shopBase, shopHead)
		in.Engine = e
		in.Change.Files[1].Hunks[0].Cut = "file's diff larger than 4 MiB"
		in.Change.Files = append(in.Change.Files, diff.File{
			Path: "huge.go", OldPath: "huge.go",
			Skip: "diff larger than 16 MiB", TooLarge: true,
		})
		r := run(t, in)
		if r.Verdict != precedent.Partial || len(r.Coverage.Truncated) != 2 || r.Coverage.HunksRead != 1 {
			t.Errorf("verdict %s, coverage %+v", r.Verdict, r.Coverage)
		}
	}
}
