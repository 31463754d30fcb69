package chat

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// example is a case of testdata/comments.txt.
type example struct {
	line    int
	comment string
	options Options
	want    []string
}

// TestComments: "every trigger of the seed with its own examples, second sentences, quotes, code fences,
// replies quoting the bot, other languages, near misses; ≥ 99 % right and no false store".
func TestComments(t *testing.T) {
	all := examples(t)
	if len(all) < 300 {
		t.Errorf("%d comments, want at least 300", len(all))
	}
	right, falseStores := 0, 0
	for _, e := range all {
		got, stored := describe(Parse(precedent.Untrusted(e.comment), e.options))
		want := strings.Join(e.want, "\n")
		for i, g := range got {
			if i < len(e.want) && !strings.Contains(e.want[i], " | ") {
				got[i], _, _ = strings.Cut(g, " | ") // the content is not part of the case
			}
		}
		if strings.Join(got, "\n") == want {
			right++
			continue
		}
		for _, kind := range stored {
			if !strings.Contains("\n"+want+" ", "\n"+string(kind)+" ") {
				falseStores++
			}
		}
		t.Logf("line %d: %q\n got %s\nwant %s", e.line, e.comment, strings.Join(got, "\n     "),
			strings.Join(e.want, "\n     "))
	}
	t.Logf("%d of %d comments right (%.1f %%), %d false stores", right, len(all), 100*float64(right)/float64(len(all)),
		falseStores)
	if 100*right < 99*len(all) || falseStores > 0 {
		t.Errorf("%d of %d comments right, %d false stores; want 99 %% and none", right, len(all), falseStores)
	}
}

// describe writes commands and refusals as the cases do. Stored are the kinds that change what
// later reviews do.
func describe(commands []Command, refusals []Refusal) (lines []string, stored []Kind) {
	for _, c := range commands {
		l := string(c.Kind)
		if c.Scope != "" {
			l += " " + string(c.Scope)
		}
		if c.Glob != "" {
			l += " glob=" + c.Glob
		}
		if c.Place != "" {
			l += " place=" + string(c.Place)
		}
		if c.Content != "" {
			l += " | " + strings.ReplaceAll(c.Content, "\n", "⏎")
		}
		lines = append(lines, l)
		if c.Kind.stores() && c.Kind != FreeText {
			stored = append(stored, c.Kind)
		}
	}
	for _, r := range refusals {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("refused %s %s", r.Kind, r.Reason)), " "))
	}
	return lines, stored
}

var escaped = regexp.MustCompile(`\\u\{([0-9a-f]+)\}`)

// examples reads testdata/comments.txt.
func examples(t testing.TB) []example {
	t.Helper()
	data, err := os.ReadFile("testdata/comments.txt")
	needs.NoError(t, err)
	var all []example
	var comment []string
	open := false
	for i, l := range strings.Split(string(data), "\n") {
		header, isHeader := strings.CutPrefix(l, "==")
		want, isWant := strings.CutPrefix(l, "=> ")
		own, isOwn := strings.CutPrefix(l, "own: ")
		switch {
		case isHeader:
			e := example{line: i + 1}
			for _, word := range strings.Fields(header) {
				if names, ok := strings.CutPrefix(word, "names="); ok {
					e.options.Names = strings.Split(names, ",")
				} else if word == "thread" {
					e.options.InThread = true
				} else {
					t.Fatalf("line %d: unknown word %q", i+1, word)
				}
			}
			all = append(all, e)
			comment, open = nil, true
		case isOwn && open:
			e := &all[len(all)-1]
			e.options.Own = append(e.options.Own, precedent.Untrusted(unescape(own)))
		case isWant && len(all) > 0:
			e := &all[len(all)-1]
			e.comment = unescape(strings.Join(comment, "\n"))
			if open = false; want != "none" {
				e.want = append(e.want, want)
			}
		case open:
			comment = append(comment, l)
		}
	}
	return all
}

func unescape(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(e string) string {
		n, _ := strconv.ParseInt(escaped.FindStringSubmatch(e)[1], 16, 32)
		return string(rune(n))
	})
}

// TestDeclines: testdata/declines.txt has a message in each line, and whether it declines.
func TestDeclines(t *testing.T) {
	decline := func(message, want string) {
		t.Helper()
		if quote, ok := Dismissal(precedent.Untrusted(message)); quote != want || ok != (want != "") {
			t.Errorf("%.80q: %q, %v, want %q", message, quote, ok, want)
		}
	}
	data, err := os.ReadFile("testdata/declines.txt")
	needs.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		line = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(strings.TrimSuffix(line, "\n"))
		if message, yes := strings.CutPrefix(line, "+ "); yes {
			decline(message, message)
		} else if message, no := strings.CutPrefix(line, "- "); no {
			decline(message, "")
		}
	}
	for message, want := range map[string]string{
		"The rule does not apply to tests.":                        "",
		"Good question. This is by design.":                        "This is by design.",
		"> you should check the error\n\nNo, this is intentional.": "No, this is intentional.",
		"Won't fix 👍": "Won't fix",
		"Looked into it.\n- the caller holds the lock\n- not a bug": "not a bug",
		strings.Repeat("a", 1<<20) + " wontfix":                     "",
		strings.Repeat("(", 50_000):                                 "",
		"\xff\xfe wont\x00fix":                                      "",
	} {
		decline(message, want)
	}
}

var docRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|[^|]+\\|([a-z ]*)\\|$")

// TestDocs: docs/comments.md has every kind, its examples are commands, and its scopes are
// right.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/comments.md")
	needs.NoError(t, err)
	shown := map[Kind]bool{}
	for _, m := range docRow.FindAllStringSubmatch(string(doc), -1) {
		commands, refusals := Parse(precedent.Untrusted(m[1]), Options{InThread: true})
		if len(commands) != 1 || len(refusals) > 0 || commands[0].Kind == FreeText {
			t.Errorf("%q: %+v, %+v", m[1], commands, refusals)
			continue
		}
		shown[commands[0].Kind] = true
		if scope := strings.ReplaceAll(string(commands[0].Scope), "_", " "); scope != strings.TrimSpace(m[2]) {
			t.Errorf("%q: the scope is %q, not%q", m[1], scope, m[2])
		}
	}
	for i := range triggers {
		if !shown[triggers[i].kind] {
			t.Errorf("%s is missing", triggers[i].kind)
		}
	}
}
