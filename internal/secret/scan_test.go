package secret

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

func rules(t testing.TB) *ruleSet {
	t.Helper()
	return needs.Value(loadRules())(t)
}

// scan fails the test on errors.
func scan(t testing.TB, path string, lines ...string) []Match {
	t.Helper()
	var s Scanner
	return needs.Value(s.Scan(path, lines))(t)
}

// aws makes an access key that is none of AWS's.
func aws(seed int64) string {
	return sample(rand.New(rand.NewSource(seed)), `AKIA[A-Z2-7]{16}`)
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
		want  string // rules and places, as line:column, counted from 0
	}{
		{"none", "a.go", []string{"package a", "", "var token string"}, ""},
		{"key in the second line", "a.go", []string{"x := 1", `key := "` + key + `"`}, "aws-access-token 1:8-1:28"},
		{"excuses", "a.go", []string{`k := "` + key + `" // gitleaks:allow nolint #nosec`}, "aws-access-token 0:6-0:26"},
		{"carriage return", "a.env", []string{"A=1\r", "K=" + key + "\r", "B=2\r"}, "aws-access-token 1:2-1:22"},
		{"key block", "id_rsa", append([]string{"# mine"}, pem...), fmt.Sprint("private-key 1:0-52:", len(pem[51]))},
		{"specific rule beats the catch-all", "a.py", []string{`github_token = "` + token + `"`}, "github-pat 0:16-0:56"},
		{"value on the next line", "a.py", []string{`api_token =`, `"` + random + `"`}, "generic-api-key 1:1-1:37"},
		{"within a word", "a", []string{"x" + key, "_" + key}, ""},
		{"two in a line", "a", []string{key + " " + aws(3)}, "aws-access-token 0:0-0:20, aws-access-token 0:21-0:41"},
		{
			"deep in a long line", "a.min.js",
			[]string{strings.Repeat("x=1;", 5000) + `k="` + key + `"`},
			"aws-access-token 0:20003-0:20023",
		},
		{
			"rule about one kind of file", "a.tf",
			[]string{`administrator_login_password = "` + random[:16] + `"`},
			"hashicorp-tf-password 0:31-0:49",
		},
		{"example key", "a.go", []string{`k := "AKIAIOSFODNN7` + `EXAMPLE"`}, ""},
		{"placeholder", "a.go", []string{`password = "${DB_PASSWORD}"`, `api_key: "YOUR_API_KEY_HERE"`}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, m := range scan(t, test.path, test.lines...) {
				got = append(got, fmt.Sprintf("%s %d:%d-%d:%d", m.Rule, m.Line, m.Start, m.EndLine, m.End))
				there := strings.Join(test.lines[m.Line:m.EndLine+1], "\n")
				needs.Equal(t, there[m.Start:len(there)-len(test.lines[m.EndLine])+m.End], m.Secret)
			}
			needs.Equal(t, test.want, strings.Join(got, ", "))
		})
	}
}

func TestPath(t *testing.T) {
	var s Scanner
	for path, want := range map[string]bool{
		"deploy/server.p12": true, "a.PFX": true, "p12": false, "a.p12.txt": false, "": false,
		"app/release.jks": true, "app/upload.keystore": true, "app/debug.keystore": false, "lib/cacerts.jks": false, "src/test/resources/a.jks": false,
		"conf/truststore.jks": false,
	} {
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
		{"all keywords in every line", slices.Repeat([]string{dense}, 500), false, false},
		{"key block that never ends", slices.Concat([]string{"-----BEGIN PRIVATE " + "KEY-----"}, slices.Repeat([]string{strings.Repeat("-----BEGIN ", 9)}, 100000)), false, false},
		{"key blocks that never end", slices.Repeat([]string{"-----BEGIN PRIVATE " + "KEY-----" + strings.Repeat("x", 99)}, 100000), false, false},
		{"a manual of commands", slices.Repeat(append(make([]string, 9), strings.Repeat("word ", 60), "curl example.org"), 200), true, false},
		{"nested repetition, affordable", slices.Repeat([]string{strings.Repeat("curl -u somebody "+strings.Repeat("word ", 30), 5)}, budget/farCost/850/3), true, true},
		{"the catch-all's keywords, affordable", []string{strings.Repeat("api-key:token=secret, "+strings.Repeat("word ", 30), budget/172/16)}, true, true},
		{"all keywords, affordable", slices.Repeat([]string{dense}, budget/len(set.rules)/len(dense)/8), true, false},
		{"nested repetition", slices.Repeat([]string{"curl " + strings.Repeat("curl -u ", 400)}, 8000), false, false},
		{"one line of 20 MB, the catch-all's keywords", []string{strings.Repeat("api-key:token=secret ", 1<<20)}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.long {
				needs.Soak(t, "spends the whole budget of work")
			}
			var s Scanner
			_, err := s.Scan("deploy/a.yaml", test.lines)
			if test.whole != (err == nil) || err != nil && !errors.Is(err, ErrTooMuch) {
				t.Errorf("error %v after %d of %d", err, s.spent, s.limit)
			}
		})
	}
}
