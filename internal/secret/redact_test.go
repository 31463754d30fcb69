package secret

import (
	"encoding/base64"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

func TestRedact(t *testing.T) {
	key := aws(1)
	pem := "-----BEGIN PRIVATE " + "KEY-----\n" + sample(rand.New(rand.NewSource(3)), `[A-Za-z0-9+/]{64}\n[A-Za-z0-9+/]{64}`) + "\n-----END PRIVATE " + "KEY-----"
	long := sample(rand.New(rand.NewSource(4)), `ey[a-zA-Z0-9]{20}\.ey[a-zA-Z0-9]{900}`)
	long += strings.Repeat(long[30:], 4) + "." + long[30:90]
	for _, test := range []struct {
		name, in, want string
		n              int
	}{
		{"in a sentence", "it is the default, password=hunter" + "2blue, as in the pass phrase", "it is the default, password=[REDACTED:assigned-value], as in the pass phrase", 1},
		{"prose", "password=newSecret, password=s.pass2 and password=secret stay", "password=newSecret, password=s.pass2 and password=secret stay", 0},
		{"of any length", "t = '" + long + "'", "t = '[REDACTED:jwt]'", 1},
		{"nothing", "func main() {}\n", "func main() {}\n", 0},
		{"one", "a = " + key + "\nb\n", "a = [REDACTED:aws-access-token]\nb\n", 1},
		{"two in a line", key + " " + aws(2) + "!", "[REDACTED:aws-access-token] [REDACTED:aws-access-token]!", 2},
		{"split by what is not seen", "k = " + key[:9] + "\u200b" + key[9:12] + "\u2060\ufe0f\u00ad" + key[12:] + ".", "k = [REDACTED:aws-access-token].", 1},
		{"block keeps its lines", "x\n" + pem + " y\nz", "x\n[REDACTED:private-key]\n\n\n y\nz", 1},
		{"diff", "@@ -1 +1 @@\n-old\n+k := \"" + key + "\" // gitleaks:allow\n", "@@ -1 +1 @@\n-old\n+k := \"[REDACTED:aws-access-token]\" // gitleaks:allow\n", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, n := Redact("", test.in)
			if got != test.want || n != test.n {
				t.Errorf("got %q, %d; want %q, %d", got, n, test.want, test.n)
			}
		})
	}
}

// TestRedactFailsClosed: what cannot be scanned is not let through.
func TestRedactFailsClosed(t *testing.T) {
	var dense strings.Builder
	for _, r := range rules(t).rules {
		for _, k := range r.keywords {
			dense.WriteString(k)
		}
	}
	got, n := Redact("", strings.Repeat(dense.String(), 4000)+aws(1))
	if got != "[REDACTED:unscanned]" || n != 1 {
		t.Errorf("got %d bytes, %d", len(got), n)
	}
}

// TestRedactIsBounded: no text keeps redaction busy, least of all one of encodings and literals. The work is limited by the
// length of the text, and what is not scanned is not shown.
func TestRedactIsBounded(t *testing.T) {
	size := needs.Rounds(2<<20, 64<<10)
	most := time.Duration(size) * 10 * time.Microsecond // hundredths of it are expected
	nested := "password = 'Sommer!dragon" + "12'"
	for range 12 {
		nested = base64.StdEncoding.EncodeToString([]byte(nested))
	}
	for name, part := range map[string]string{
		"encoded":            "cG9zdGdyZXM6Ly9hcHA6 ",
		"encoded lines":      strings.Repeat("YWJj", 16) + "\n",
		"encoded encodings":  nested + "\n",
		"escapes":            `\x41%41\u0041`,
		"hidden":             "a\u200b",
		"literals":           `"a"+`,
		"lists":              `["a","b"].join("")`,
		"codes":              "[65,66,67,68,69,70,71,72,",
		"brackets":           "[[{{((",
		"manifests":          "kind: Secret\ndata:\n  a: YWJjMTIz\n",
		"names":              "password=token:secret,",
		"commands":           "mysql -u curl -u login -p ",
		"URLs":               "://a:b://c:d",
		"beginnings of keys": "-----BEGIN PRIVATE " + "KEY-----\n",
		"one word, more":     "secret_key_token_password_auth=",
		"members":            `": "bedrock-apthstring="passw'%41`,
		"exceptions":         `mapbox_bearerapi-tr_stg_eaaa="_bearerapi-sk-lf-flicktr_stg_eaaa="_bear7z  -u `,
		"options":            "curl -ucurl  -ucurl -u  j -u ",
		"backslashes":        `\`,
		"connections":        "jdbc:a",
		"mixed escapes":      `'-passw1,key-stringaccess-production-\n%41,`,
	} {
		text, clean := strings.Repeat(part, size/len(part)), ""
		took := needs.Busy(func() { clean, _ = Redact("", text) })
		if took > most || took > most/10 && (part == `\` || part == "jdbc:a") { // no attempt at these is counted as work
			t.Errorf("%s take %v", name, took)
		}
		var s Scanner
		if _, err := s.Outgoing("", strings.Split(text, "\n")); err != nil && clean != marker("unscanned") {
			t.Errorf("%s: %d bytes that were not scanned are shown", name, len(clean))
		}
		if limit := firstBudget + (perByte+farCost)*len(text); s.spent > limit {
			t.Errorf("%s: work of %d for %d bytes, want at most %d", name, s.spent, len(text), limit)
		}
		t.Logf("%s: %v", name, took)
	}
}

func FuzzRedact(f *testing.F) {
	r := rand.New(rand.NewSource(4))
	set := needs.Value(loadRules())(f)
	for _, rule := range set.rules {
		if rule.pattern != nil {
			f.Add("x := \"" + sample(r, rule.pattern().String()) + "\"\n" + sample(r, rule.pattern().String()))
		}
	}
	f.Add(strings.Repeat("x", segmentLen) + aws(1) + strings.Repeat("y", segmentLen))
	f.Add("password=[REDACTED:generic-api-key]=" + aws(5) + "=[REDACTED:")
	f.Fuzz(func(t *testing.T, s string) {
		out, n := Redact("", s)
		if n == 0 && out != s {
			t.Errorf("changed without a replacement: %q became %q", s, out)
		}
		if strings.Count(out, "\n") != strings.Count(s, "\n") && out != marker("unscanned") {
			t.Errorf("%q has other lines than %q", out, s)
		}
		for _, m := range scan(t, "", strings.Split(out, "\n")...) {
			t.Errorf("%q still holds %+v", out, m)
		}
		if again, n := Redact("", out); again != out || n != 0 {
			t.Errorf("redacted again, %q became %q", out, again)
		}
	})
}

func FuzzScan(f *testing.F) {
	r := rand.New(rand.NewSource(5))
	set := needs.Value(loadRules())(f)
	for _, rule := range set.rules {
		if rule.pattern != nil {
			f.Add("deploy/a.yaml", "a\r\n"+sample(r, rule.pattern().String())+"\nb")
		}
	}
	f.Fuzz(func(t *testing.T, path, s string) {
		lines := strings.Split(s, "\n")
		if both, _, err := new(Scanner).Both("a/"+path, lines); err == nil && !slices.Equal(both, scan(t, "a/"+path, lines...)) {
			t.Fatalf("both at once: %+v", both)
		}
		line, end := 0, 0
		for _, m := range scan(t, path, lines...) {
			if m.Line < line || m.Line == line && m.Start < end || m.EndLine < m.Line || m.EndLine >= len(lines) {
				t.Fatalf("out of order or range: %+v", m)
			}
			line, end = m.EndLine, m.End
			got := strings.Join(lines[m.Line:m.EndLine+1], "\n")
			if got = got[m.Start : len(got)-len(lines[m.EndLine])+m.End]; got != m.Secret {
				t.Fatalf("the place of %+v holds %q", m, got)
			}
		}
	})
}
