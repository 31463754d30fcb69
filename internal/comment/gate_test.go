package comment_test

import (
	"encoding/base64"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/markdown/markdowntest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// orders are what forges, bots and builders obey.
var orders = []string{
	"/approve", "/lgtm", "/merge", "/label bug", "/assign @dana", "/close", "/hold cancel", "/retest", "/ok-to-test",
	"/cherry-pick main", "/azp run", "/rebase", "/unassign me",
	"/spend 1h", "/estimate 3d", "/promote", "/copilot fix", "!approve", "!merge", ":: merge",
	"@dependabot merge", "@dependabot ignore this dependency", "@renovate rebase", "@mergifyio queue",
	"@mergify backport stable", "@claude fix all of this", "@codex review", "@copilot please",
	"@cursor fix", "@coderabbitai resolve", "@bors r+", "@rustbot label +A-x", "@k8s-ci-robot retest", "@gemini review",
	"@precedent approve",
	"bors r+", "bors merge", "bors try", "homu retry", "jenkins test this", "jenkins, add to whitelist",
	"retest this please", "test this please", "ok to test", "add to whitelist", "recheck",
	"@dana", "@org/team", "mail dana@example.org", "@everyone",
	"fixes #1", "Closes: #12", "resolves team/app#3", "closes GH-4", "fix !5", "closes PROJ-12", "implements PROJ-3",
	"reopens #9", "fixes https://forge.example/team/app/issues/1",
	"[skip ci]", "[ci skip]", "[no ci]", "skip-checks: true", "Signed-off-by: Dana <dana@example.org>",
	"Co-authored-by: Eve <eve@example.org>", "Approved-by: dana", "Change-Id: I1234567",
	"::set-output name=a::b", "##[error]no",
	"![a](https://evil.example/a.png?q=1)", "![a][1]\n\n[1]: https://evil.example/a.png", "[a](//evil.example/x)",
	"[a](javascript:alert(1))", "<https://evil.example/>", "https://evil.example/x", "www.evil.example",
	"[1]: https://evil.example\n\n[1]",
	"<img src=https://evil.example/a.png>", "<script>alert(1)</script>", "<details open><summary>x</summary>",
	"</details></details>", "<a href=https://evil.example>a</a>", "<!-- precedent:1 kind=reply thread=x -->",
	"<svg onload=x>", "<style>*{}</style>", "</sub><h1>x</h1>", "<table><tr><td>",
	"| a | b |\n|---|---|\n| @dana | fixes #1 |", "```suggestion\nrm -rf /\n```", "$`@dana`$",
}

// places put an order where bots find it, and where they ought not to.
var places = map[string]func(string) string{
	"alone":           func(s string) string { return s },
	"in a line":       func(s string) string { return "He said " + s + " there." },
	"indented":        func(s string) string { return "words\n\n  " + s },
	"after CRLF":      func(s string) string { return "words\r\n" + s + "\r\n" },
	"after CR":        func(s string) string { return "words\r" + s },
	"after NEL":       func(s string) string { return "words\u0085" + s },
	"after LS":        func(s string) string { return "words\u2028" + s + "\u2029" + s },
	"after VT and FF": func(s string) string { return "words\v" + s + "\f" + s },
	"in a quote":      func(s string) string { return "> " + s + "\n>\n> > " + s },
	"in a list":       func(s string) string { return "- " + s + "\n  1. " + s },
	"in a table":      func(s string) string { return "| a |\n|---|\n| " + s + " |" },
	"in a fence":      func(s string) string { return "```\n" + s + "\n```" },
	"in an open one":  func(s string) string { return "~~~sh\n" + s },
	"as code":         func(s string) string { return "words\n\n    " + s },
	"as a span":       func(s string) string { return "`" + s + "` and `` " + s + " ``" },
	"after a break":   func(s string) string { return "words\\\n" + s + "  \n" + s },
	"zero width":      func(s string) string { return "\u200b" + s + "\n\ufeff" + s },
	"as entities": func(s string) string {
		return strings.NewReplacer("@", "&#64;", "/", "&#x2f;", "#", "&num;").Replace(s)
	},
	"escaped":    func(s string) string { return `\` + s },
	"emphasised": func(s string) string { return "**" + s + "**\n\n# " + s },
	"in HTML":    func(s string) string { return "<div>\n" + s + "\n</div>" },
}

// obeyed are the rules by which bots read the raw text of a comment.
var obeyed = map[string]*regexp.Regexp{
	"prow":         regexp.MustCompile(`(?mi)^\s*/(?:[a-z-]+)`),
	"quick action": regexp.MustCompile(`(?m)^[>\s]*/[a-z_]+`),
	"bang":         regexp.MustCompile(`(?mi)^\s*![a-z]+`),
	"bors, homu":   regexp.MustCompile(`(?mi)^\s*(?:bors|homu)[ :,]`),
	"jenkins":      regexp.MustCompile(`(?mi)^\s*(?:jenkins|retest|recheck)\b`),
	"builder":      regexp.MustCompile(`(?i)test\W+this\W+please|ok\W+to\W+test\b|add\W+to\W+whitelist`),
	"agent":        regexp.MustCompile(`(?i)@(?:dependabot|renovate|mergify|mergifyio|claude|codex|copilot|cursor|coderabbitai|bors|rustbot|k8s|gemini|precedent)\b`),
	"bot by name":  regexp.MustCompile(`(?mi)^\s*@[a-z]`),
	"trailer":      regexp.MustCompile(`(?mi)^\s*(?:signed-off-by|co-authored-by|approved-by|change-id|skip-checks):`),
	"skipping":     regexp.MustCompile(`(?i)\[(?:skip ci|ci skip|no ci)\]`),
	"runner":       regexp.MustCompile(`(?m)^\s*::|##\[`),
	"marker":       regexp.MustCompile(`(?m)^\s{0,1}<!-- precedent:`),
	"Gitea's closes": regexp.MustCompile(`(?mi)^(?:[^` + "`" +
		`\n]*\s)?(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|reopen(?:s|ed)?):?\s+(?:[\w.-]+/[\w.-]+)?[#!][0-9]+`),
}

// unfenced is a page without its blocks of code, in which no forge looks for closing
// keywords, and which nothing copies into the message of a commit.
func unfenced(page string) string {
	var out []string
	open := ""
	for line := range strings.SplitSeq(page, "\n") {
		fence := strings.TrimLeft(line, " >-0123456789.")
		run := fence[:len(fence)-len(strings.TrimLeft(fence, "`"))]
		switch {
		case open == "" && len(run) >= 3 && !strings.Contains(fence[len(run):], "`"):
			open = run
		case open != "" && fence == open:
			open = ""
		case open == "":
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// TestNobodyObeysWhatWeWrite writes every order, in every place, into every text of
// a comment. A quick run draws some orders for each place.
func TestNobodyObeysWhatWeWrite(t *testing.T) {
	if len(orders) < 40 {
		t.Fatalf("only %d orders", len(orders))
	}
	w, random := writer(t), needs.Random(t)
	for _, where := range slices.Sorted(maps.Keys(places)) {
		t.Run(where, func(t *testing.T) {
			for _, i := range random.Perm(len(orders))[:needs.Rounds(len(orders), 20)] {
				s := places[where](orders[i])
				f := finding()
				f.Title, f.Body, f.Suggestion, f.Path, f.Finder, f.Rule, f.Quote = s, s, s, s, s, s, s
				f.Severity = precedent.Severity(s)
				f.Evidence = []precedent.Evidence{{Path: s, Line: 3, Quote: s}}
				f.Cites = []precedent.Cite{
					{Kind: s, ID: s, Text: s, URL: s},
					{Kind: "learning", ID: s, Text: s, URL: "https://good.example/" + s},
				}
				bodies := []string{w.Finding(f, mark(), true), w.Reply(s, mark())}
				if where == "alone" { // the lines of the old side are never offered
					f.Side = precedent.Left
					bodies = append(bodies, w.Finding(f, mark(), false))
				}
				for _, body := range bodies {
					page := unmarked(t, body)
					got := markdowntest.Inert(t, page)
					for bot, rule := range obeyed {
						in := page
						if bot == "Gitea's closes" || bot == "skipping" {
							in = unfenced(page)
						}
						if m := rule.FindString(in); m != "" {
							t.Fatalf("%q: %s obeys %q in\n%s", s, bot, m, page)
						}
					}
					if got.Count["details"] > 1 || got.Count["summary"] > 1 || got.Count["sub"] != 1 {
						t.Fatalf("%q changes the page:\n%s", s, page)
					}
				}
			}
		})
	}
}

const ownSecret = "tok_Qz7" + "m2KvXpR9dL4bN"

// everyKind is what can be posted about a finding and some words, by what it is.
func everyKind(w comment.Writer, f precedent.Finding, words string) map[string]string {
	return map[string]string{
		"finding": w.Finding(f, mark(), true), "reply": w.Reply(f.Body, mark()),
		"summary": w.Summary(page(1, 10)+"\n"+words+"\n", mark()), "check": w.Safe("# It\n\n" + words),
	}
}

func TestSecretsDoNotLeave(t *testing.T) {
	w := writer(t)
	w.Own = []string{"", ownSecret}
	awsKey := "AKIA" + "IOSFODNN7EXAMPLF"
	for name, s := range map[string]string{
		"own": ownSecret, "part of own": ownSecret[3:12],
		"hex":        hex.EncodeToString([]byte(ownSecret)),
		"base64":     base64.StdEncoding.EncodeToString([]byte("?" + ownSecret)),
		"zero width": strings.Join(strings.Split(ownSecret, ""), "\u200b"),
		"emphasis":   strings.Join(strings.Split(ownSecret, ""), "**"),
		"percent": "%" + strings.ToUpper(hex.EncodeToString([]byte(ownSecret[:1]))) + "%" +
			hex.EncodeToString([]byte(ownSecret[1:2])) + ownSecret[2:],
		"spread over paragraphs": strings.Join(strings.Split(ownSecret, ""), "\n\n"),
		"key of markers":         "a key of tests a key", "by rule": awsKey,
	} {
		f := finding()
		f.Title, f.Suggestion, f.Finder = "It says "+s, "key := \""+s+"\"", s
		f.Body = "A first paragraph.\n\nIt is " + s + " here."
		f.Evidence = []precedent.Evidence{{Path: "a.go", Line: 1, Quote: s}}
		f.Cites = []precedent.Cite{{Kind: "learning", ID: "l1", Text: s, URL: "https://good.example/" + s}}
		for kind, body := range everyKind(w, f, s) {
			flat := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(body, "")
			for i := 0; i+8 <= len(s) && name != "by rule"; i++ {
				if strings.Contains(body, s[i:i+8]) && name != "zero width" && name != "emphasis" &&
					name != "spread over paragraphs" {
					t.Fatalf("%s: %q leaves in a %s:\n%s", name, s[i:i+8], kind, body)
				}
			}
			if strings.Contains(flat, "Qz7m2KvX") || strings.Contains(body, awsKey) {
				t.Errorf("%s: the secret leaves in a %s:\n%s", name, kind, body)
			}
			if !strings.Contains(body, "withheld") && !strings.Contains(body, "REDACTED") {
				t.Errorf("%s: the %s does not say that something is missing:\n%s", name, kind, body)
			}
			if m, ok := w.Read(body); kind != "check" && (!ok || m.Thread != thread || strings.Contains(m.Title, s)) {
				t.Errorf("%s: the %s is read back as %+v, %v", name, kind, m, ok)
			}
		}
	}
}

// TestOurOwnIdsAreNotTakenForSecrets: a secret that looks like the ids of a comment
// does not take its footer and its marker away.
func TestOurOwnIdsAreNotTakenForSecrets(t *testing.T) {
	w := writer(t)
	w.Own = []string{thread, mark().Head, strings.Repeat("0", 32)}
	body := w.Reply("words", mark())
	if m, ok := w.Read(body); !ok || m.Thread != thread || m.Head != mark().Head {
		t.Errorf("%+v, %v of\n%s", m, ok, body)
	}
	if !strings.HasPrefix(body, "words\n") {
		t.Errorf("the words are gone:\n%s", body)
	}
}

// TestTheGateTrustsNoPage: what a summary may not hold is withheld, and the rest stays.
func TestTheGateTrustsNoPage(t *testing.T) {
	w := writer(t)
	for _, s := range []string{
		"![a](https://evil.example/a.png)", "[a](https://evil.example/)", "<img src=x>", "<b>x</b>",
		"words <script>alert(1)</script>", "<!-- hidden -->", "https://evil.example/x",
		"[a][1]\n[1]: https://evil.example", "<details open>", "<summary class=x>a</summary>", "[a](javascript:alert)",
		"[a](/etc/x)", "<a@b.example>", "<?php ?>",
	} {
		for _, body := range []string{
			w.Summary("# It\n\n"+s+"\n\n- the rest", mark()),
			w.Safe("# It\n\n" + s + "\n\n- the rest"),
		} {
			if !strings.HasPrefix(body, "# It\n\n(withheld: ") || !strings.Contains(body, "- the rest") ||
				strings.Contains(body, s) {
				t.Errorf("%q comes out as\n%s", s, body)
			}
		}
	}
	const withheld = "(withheld: this may contain a credential or active content)"
	token := "ghp_" + "Kq7Zt2vRw9Lm4xBn6Jc8Hd3Fg5Ps1Ty0Vu2A"
	table := "| a | b |\n|---|---|\n|\n| one | `x/" + token + "` |\n| two | three |\n\n- Not read: `y/" + token + "` · `z`"
	want := strings.ReplaceAll(strings.ReplaceAll(table, "`x/"+token+"` |", withheld), "Not read: `y/"+token+"`", withheld)
	needs.Equal(t, want, w.Safe(table))
	fine := "# It\n\n<details>\n<summary>a</summary>\n\n[`a`](https://good.example/x) " +
		"`<img>`\n\n```\n<img>\n\n<b>\n```\n\n</details>"
	if got := w.Safe(fine); got != fine {
		t.Errorf("a page that is fine comes out as\n%s", got)
	}
}

// TestReportsPassTheGate: what the reports say, the gate lets through as it is.
func TestReportsPassTheGate(t *testing.T) {
	w := writer(t)
	w.Links = []string{"forge.example"}
	files := needs.Value(filepath.Glob("../report/testdata/*.md"))(t)
	passed := 0
	for _, file := range files {
		data := needs.Value(os.ReadFile(file))(t)
		if report := strings.TrimSpace(string(data)); strings.HasPrefix(report, "## Precedent: ") {
			passed++
			if d := cmp.Diff(report, w.Safe(report)); d != "" {
				t.Errorf("%s (-want +got):\n%s", file, d)
			}
		}
	}
	if passed < 5 {
		t.Errorf("only %d reports", passed)
	}
}

func TestCommentsAreBounded(t *testing.T) {
	w := writer(t)
	const long = 70_000 // more than fits
	for _, part := range []string{"|", "`|*\n\n", "> ", "[", "ü\n", "```\n"} {
		s := strings.Repeat(part, long/utf8.RuneCountInString(part))
		f := finding()
		f.Title, f.Body, f.Suggestion, f.Finder = s, s, s, s
		for range 100 {
			f.Evidence = append(f.Evidence, precedent.Evidence{Path: s[:5000], Line: 1, Quote: s[:5000]})
			f.Cites = append(f.Cites, precedent.Cite{Kind: "guide", ID: "g", Text: s[:5000]},
				precedent.Cite{Kind: "learning", ID: "l", Text: s[:5000]})
		}
		for _, body := range []string{w.Finding(f, mark(), true), w.Finding(f, mark(), false), w.Reply(s, mark())} {
			if n := utf8.RuneCountInString(body); n > 65_536 {
				t.Errorf("%.9q: %d characters", s, n)
			}
			if m, ok := w.Read(body); !ok || m.Thread != thread {
				t.Errorf("%.9q: read back as %+v, %v", s, m, ok)
			}
			markdowntest.Inert(t, unmarked(t, body))
		}
	}
	for _, s := range []string{"> ", "- ", "[", "<!-- ", "`", "1. ", "<a ", "\t", "```\n", "a\n"} {
		wild := strings.Repeat(s, long/len(s)) + "\n\n"
		if m, ok := w.Read(wild + strings.TrimSpace(w.Reply("x", mark())[5:])); ok && m.Thread != thread {
			t.Errorf("behind many %q: %+v", s, m)
		}
	}
}

// TestPostedTextHasNoCredential: what only the name of a file makes a credential is not posted either, whatever file a
// text quotes: "all text leaving the system goes through one outbound choke point" (decision 8 of the threat model).
func TestPostedTextHasNoCredential(t *testing.T) {
	const password = "kq7Zt2-" + "vRw9Lm4x"
	env := precedent.Evidence{Path: ".env", Line: 1, Quote: "GREETING=" + password}
	w := writer(t)
	for name, s := range map[string]string{
		"Terraform": "administrator_login_password = \"" + password + "\"",
		"nuget":     "<add key=\"ClearTextPassword\" value=\"" + password + "\" />",
		"URL":       "postgres://app:" + password + "@db/app",
		"shell":     "mysql -uroot -p" + password + " app",
		"base64":    "echo cG9zdGdyZXM6Ly9hcHA6a3E3WnQyLXZSdzlMbTR4QGRiL2FwcA==",
	} {
		f := finding()
		f.Title, f.Suggestion, f.Body = "It says "+s, s, "A first paragraph.\n\nIt is "+s+" here."
		f.Evidence, f.Breaks = []precedent.Evidence{{Path: "ops/main.tf", Line: 1, Quote: s}, env}, env
		for kind, body := range everyKind(w, f, s) {
			if strings.Contains(body, "vRw9Lm4x") || strings.Contains(body, "cG9zdGdyZXM6Ly9hcHA6a3E3") {
				t.Errorf("%s leaves in a %s:\n%s", name, kind, body)
			}
		}
	}
}
