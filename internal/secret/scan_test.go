package secret

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/report"

	"github.com/precedent-dev/precedent/internal/needs"
)

// gitleaks is the detector whose rules are applied here.
func gitleaks(t testing.TB) *detect.Detector {
	t.Helper()
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	d.IgnoreGitleaksAllow = true
	return d
}

func rules(t testing.TB) *ruleSet {
	t.Helper()
	set, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// scan fails the test on errors.
func scan(t testing.TB, path string, lines ...string) []Match {
	t.Helper()
	var s Scanner
	found, err := s.Scan(path, lines)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// aws makes an access key that is none of AWS's.
func aws(seed int64) string {
	return sample(rand.New(rand.NewSource(seed)), `AKIA[A-Z2-7]{16}`)
}

// TestConfigurationIsUnderstood keeps the reading here equal to gitleaks' own,
// so that an upgrade which adds a kind of rule cannot pass unseen.
func TestConfigurationIsUnderstood(t *testing.T) {
	if defaultRules != config.DefaultConfig {
		t.Error("gitleaks.toml is not the one of the version in go.mod: copy it and its licence from there")
	}
	set := rules(t)
	want := gitleaks(t).Config
	theirs := slices.DeleteFunc(slices.Clone(set.rules), func(r rule) bool { return r.own || r.leaves != nil })
	if len(theirs) != len(want.Rules) || len(theirs) < 200 {
		t.Fatalf("%d rules, gitleaks reads %d", len(theirs), len(want.Rules))
	}
	anchored := 0
	for _, r := range theirs {
		w, ok := want.Rules[r.id]
		if !ok {
			t.Errorf("gitleaks has no rule %q", r.id)
			continue
		}
		if w.SkipReport || len(w.RequiredRules) > 0 {
			t.Errorf("%s: depends on other rules, which is not supported", r.id)
		}
		if (w.Regex == nil) != (r.pattern == nil) || (w.Path == nil) != (r.path == nil) ||
			w.SecretGroup != r.group || w.Entropy != r.entropy || w.Description != r.description {
			t.Errorf("%s: read differently", r.id)
		}
		if w.Regex != nil {
			p := r.pattern()
			want := strings.ReplaceAll(w.Regex.String(), leadIn, "")
			if p.anchored {
				anchored++
				want = "^(?:" + want + ")"
			}
			if p.String() != want {
				t.Errorf("%s: other expression", r.id)
			}
		}
		if w.Regex != nil && len(r.keywords) == 0 {
			t.Errorf("%s: has no keyword, so it would never be tried", r.id)
		}
		sameAllow(t, r.id, w.Allowlists, r.allow())
	}
	sameAllow(t, "all rules", want.Allowlists, set.allow())
	if anchored < 130 {
		t.Errorf("only %d of %d rules are matched at their keywords", anchored, len(theirs))
	}
}

func sameAllow(t *testing.T, id string, want []*config.Allowlist, got []allowlist) {
	t.Helper()
	var wanted, have []string
	for _, l := range want {
		words := slices.Sorted(slices.Values(l.StopWords))
		wanted = append(wanted, fmt.Sprint(l.MatchCondition == config.AllowlistMatchAnd, l.Paths, l.RegexTarget, l.Regexes, words, len(l.Commits)))
	}
	for _, l := range got {
		words := slices.Compact(slices.Sorted(slices.Values(l.StopWords)))
		have = append(have, fmt.Sprint(l.needsAll(), l.Paths, l.RegexTarget, l.Regexes, words, 0))
	}
	if diff := cmp.Diff(wanted, have); diff != "" {
		t.Errorf("%s: what is allowed differs (-gitleaks +here):\n%s", id, diff)
	}
}

// TestAgreesWithGitleaks plants samples of every rule in ordinary text and
// compares with what gitleaks finds in the same lines.
func TestAgreesWithGitleaks(t *testing.T) {
	const seed = 1
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewSource(seed))
	d := gitleaks(t)
	agreed, planted := 0, 0
	for _, id := range d.Config.OrderedRules {
		rule := d.Config.Rules[id]
		if rule.Regex == nil {
			continue
		}
		for range 12 {
			secret := sample(r, rule.Regex.String())
			path := pathFor(id)
			lines := strings.Split("package x\n\n// A comment.\n"+secret+"\nfunc f() { return }\n", "\n")
			want := coverage(lines, d.Detect(detect.Fragment{Raw: strings.Join(lines, "\n"), FilePath: path}))
			got := scan(t, path, lines...)
			planted++
			if missing := lacking(want, got); len(missing) > 0 {
				t.Errorf("%s: gitleaks finds %q in %q; found here: %+v", id, missing, secret, got)
			} else if got = slices.DeleteFunc(got, func(m Match) bool { return isOwn(m.Rule) }); len(got) > 0 && len(want) == 0 {
				t.Errorf("%s: gitleaks finds nothing in %q; found here: %+v", id, secret, got)
			} else if len(want) > 0 {
				agreed++
			}
		}
	}
	t.Logf("%d samples, %d of them secrets for gitleaks, all found", planted, agreed)
	if agreed < planted/2 {
		t.Errorf("only %d of %d samples are secrets for gitleaks: the test shows little", agreed, planted)
	}
}

// pathFor is a file that the rule is about.
func pathFor(rule string) string {
	for prefix, path := range map[string]string{
		"kubernetes": "deploy/secret.yaml", "nuget": "nuget.config", "freemius": "a.php", "hashicorp-tf-pass": "main.tf",
	} {
		if strings.HasPrefix(rule, prefix) {
			return path
		}
	}
	return "main.go"
}

func coverage(lines []string, found []report.Finding) (secrets []string) {
	for _, f := range found {
		secrets = append(secrets, strings.Trim(f.Secret, "\n"))
	}
	return secrets
}

// lacking returns the secrets that no match overlaps by value.
func lacking(want []string, got []Match) (missing []string) {
	for _, w := range want {
		if !slices.ContainsFunc(got, func(m Match) bool {
			return strings.Contains(m.Secret, w) || strings.Contains(w, m.Secret)
		}) {
			missing = append(missing, w)
		}
	}
	return missing
}

func TestScan(t *testing.T) {
	key := aws(1)
	pem := []string{"-----BEGIN RSA PRIVATE " + "KEY-----"}
	r := rand.New(rand.NewSource(2))
	for range 50 {
		pem = append(pem, sample(r, `[A-Za-z0-9+/]{64}`))
	}
	pem = append(pem, "-----END RSA PRIVATE "+"KEY-----")
	token := sample(r, `ghp_[0-9a-zA-Z]{36}`)
	random := sample(r, `[a-f0-9]{16}[a-z]{12}[0-9A-F]{8}`)

	for _, test := range []struct {
		name  string
		path  string
		lines []string
		want  []Match // without Description
	}{
		{"none", "a.go", []string{"package a", "", "var token string"}, nil},
		{"no lines", "a.go", nil, nil},
		{
			"key in the second line", "a.go",
			[]string{"x := 1", `key := "` + key + `"`},
			[]Match{{Rule: "aws-access-token", Line: 1, Start: 8, EndLine: 1, End: 28, Secret: key}},
		},
		{
			"excuses do not count", "a.go",
			[]string{`k := "` + key + `" // gitleaks:allow nolint #nosec`},
			[]Match{{Rule: "aws-access-token", Start: 6, End: 26, Secret: key}},
		},
		{
			"carriage return", "a.env",
			[]string{"A=1\r", "K=" + key + "\r", "B=2\r"},
			[]Match{{Rule: "aws-access-token", Line: 1, Start: 2, EndLine: 1, End: 22, Secret: key}},
		},
		{
			"key block", "id_rsa", append([]string{"# mine"}, pem...),
			[]Match{{Rule: "private-key", Line: 1, EndLine: 52, End: len(pem[51]), Secret: strings.Join(pem, "\n")}},
		},
		{
			"specific rule beats the catch-all", "a.py",
			[]string{`github_token = "` + token + `"`},
			[]Match{{Rule: "github-pat", Start: 16, End: 56, Secret: token}},
		},
		{
			"catch-all", "a.py",
			[]string{`db_password = "` + random + `"`},
			[]Match{{Rule: "generic-api-key", Start: 15, End: 51, Secret: random}},
		},
		{
			"value on the next line", "a.py",
			[]string{`api_token =`, `"` + random + `"`},
			[]Match{{Rule: "generic-api-key", Line: 1, Start: 1, EndLine: 1, End: 37, Secret: random}},
		},
		{"two in a line", "a", []string{key + " " + aws(3)}, []Match{
			{Rule: "aws-access-token", End: 20, Secret: key},
			{Rule: "aws-access-token", Start: 21, End: 41, Secret: aws(3)},
		}},
		{
			"deep in a long line", "a.min.js",
			[]string{strings.Repeat("x=1;", 5000) + `k="` + key + `"`},
			[]Match{{Rule: "aws-access-token", Start: 20003, End: 20023, Secret: key}},
		},
		{
			"rule about one kind of file", "a.tf",
			[]string{`administrator_login_password = "` + random[:16] + `"`},
			[]Match{{Rule: "hashicorp-tf-password", Start: 31, End: 49, Secret: `"` + random[:16] + `"`}},
		},
		{"example key", "a.go", []string{`k := "AKIAIOSFODNN7` + `EXAMPLE"`}, nil},
		{"placeholder", "a.go", []string{`password = "${DB_PASSWORD}"`, `api_key: "YOUR_API_KEY_HERE"`}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := scan(t, test.path, test.lines...)
			for i := range got {
				if got[i].Description == "" {
					t.Error("no description")
				}
				got[i].Description = ""
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPath(t *testing.T) {
	var s Scanner
	for path, want := range map[string]bool{"deploy/server.p12": true, "a.PFX": true, "p12": false, "a.p12.txt": false, "": false} {
		if _, got := s.Path(path); got != want {
			t.Errorf("Path(%q) = %v", path, got)
		}
	}
}

// TestBounded gives the scanner what would keep a careless one busy for hours: it
// ends within its budget of work, or says that it did not get through.
func TestBounded(t *testing.T) {
	var keywords strings.Builder
	set := rules(t)
	for _, r := range set.rules {
		for _, k := range r.keywords {
			fmt.Fprintf(&keywords, "%s = %s", k, strings.Repeat("a0", 9))
		}
	}
	dense := keywords.String()
	for _, test := range []struct {
		name  string
		lines []string
		whole bool // whether all of it is scanned
		long  bool // whether it takes seconds
	}{
		{"one line of 50 MB", []string{strings.Repeat("x", 50<<20)}, true, false},
		{"one line of 50 MB without a break, all keywords", []string{strings.Repeat(strings.ReplaceAll(dense, " ", ""), 50<<20/len(dense))}, false, false},
		{"2 million empty lines", make([]string, 2<<20), true, false},
		{"all keywords in every line", slices.Repeat([]string{dense}, 500), false, false},
		{"key block that never ends", slices.Concat([]string{"-----BEGIN PRIVATE " + "KEY-----"}, slices.Repeat([]string{strings.Repeat("-----BEGIN ", 9)}, 100000)), false, false},
		{"key blocks that never end", slices.Repeat([]string{"-----BEGIN PRIVATE " + "KEY-----" + strings.Repeat("x", 99)}, 100000), false, false},
		{"half a million keys", []string{strings.Repeat(aws(1)+" ", 1<<19)}, false, false},
		{"nested repetition, affordable", slices.Repeat([]string{"curl " + strings.Repeat("curl -u ", 100)}, budget/farCost/800/3), true, true},
		{"the catch-all's keywords, affordable", []string{strings.Repeat("api-key:token=secret ", budget/21/16)}, true, true},
		{"all keywords, affordable", slices.Repeat([]string{dense}, budget/len(set.rules)/len(dense)/8), true, false},
		{"nested repetition", slices.Repeat([]string{"curl " + strings.Repeat("curl -u ", 400)}, 8000), false, false},
		{"one line of 20 MB, the catch-all's keywords", []string{strings.Repeat("api-key:token=secret ", 1<<20)}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.long {
				needs.Long(t, "spends the whole budget of work")
			}
			var s Scanner
			_, err := s.Scan("deploy/a.yaml", test.lines)
			if test.whole != (err == nil) || err != nil && !errors.Is(err, ErrTooMuch) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// code is n lines of real code.
func code(t testing.TB, n int) []string {
	t.Helper()
	var lines []string
	files, err := filepath.Glob(filepath.Join(runtime.GOROOT(), "src/net/http/*.go"))
	if err != nil || len(files) == 0 {
		t.Skip("no source of the standard library")
	}
	for i := 0; len(lines) < n; i++ {
		b, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(b), "\n")...)
	}
	return lines[:n]
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := parseRules(defaultRules); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScan scans 20,000 lines of Go as 400 hunks; the budget is 150 ms.
func BenchmarkScan(b *testing.B) {
	lines := code(b, 20000)
	b.ReportAllocs()
	for b.Loop() {
		var s Scanner
		for hunk := range slices.Chunk(lines, 50) {
			if _, err := s.Scan("a.go", hunk); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// hostileTexts are made to cost as much as they can for their length.
var hostileTexts = map[string]string{
	"one word":            strings.Repeat("password=", 80_000),
	"one word, more":      strings.Repeat("secret_key_token_password_auth=", 26_000),
	"words":               strings.Repeat("token: ", 110_000),
	"quotes":              strings.Repeat(`password="abc`, 60_000),
	"addresses":           strings.Repeat("://a:b", 120_000),
	"lines":               strings.Repeat("password=\n", 80_000),
	"keys without an end": strings.Repeat("-----BEGIN PRIVATE "+"KEY-----\n", 28_000),
}

// TestWorkIsLinear: the work for a text is limited by its length, whatever it says.
func TestWorkIsLinear(t *testing.T) {
	for name, text := range hostileTexts {
		var s Scanner
		_, err := s.Outgoing("", strings.Split(text, "\n"))
		if most := firstBudget + perByte*len(text) + farCost*len(text); s.spent > most {
			t.Errorf("%s: work of %d for %d bytes, want at most %d", name, s.spent, len(text), most)
		}
		if err != nil && !errors.Is(err, ErrTooMuch) {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := Redact("", text); err != nil && got != marker("unscanned") {
			t.Errorf("%s: %d bytes that were not scanned are shown", name, len(got))
		}
	}
}

// BenchmarkHostile redacts texts that are made to cost as much as they can.
func BenchmarkHostile(b *testing.B) {
	for name, text := range hostileTexts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Redact("", text)
			}
		})
	}
}
