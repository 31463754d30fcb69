package markdown_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/markdown/markdowntest"
)

var hosts = []string{"good.example"}

// page writes a text in every way that there is.
func page(s string) string {
	return "# " + markdown.Phrase(s, hosts, false) + "\n\n" + markdown.Phrase(s, hosts, true) + "\n\n" +
		strings.Join(markdown.Body(s, hosts), "\n") + "\n\nAt " + markdown.Code(s) + "\n\nAt " +
		markdown.Link(markdown.Code(s), "https://good.example/"+s, hosts) + "\n\n" +
		strings.Join(markdown.Fenced("diff", func(int) string { return "+" }, strings.Split(s, "\n")), "\n")
}

func TestTextIsInert(t *testing.T) {
	for _, s := range markdowntest.Infamous(t) {
		for _, s := range []string{s, "> " + s, "- a\n- " + s, "words\r\n" + s, "```\n" + s, "`" + s + "`", "**" + s + "**"} {
			markdowntest.Inert(t, strings.Replace(page(s), "# ", "## ", 1))
		}
	}
}

func TestTextIsInertProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := page(markdowntest.Wild().Draw(t, "text"))
		markdowntest.Inert(t, strings.Replace(s, "# ", "## ", 1))
		if bad := markdown.Active(s, hosts); bad != "" {
			t.Fatalf("%s is active in\n%s", bad, s)
		}
		if c, ok := markdown.LastComment(s); ok {
			t.Fatalf("it ends with the comment %q:\n%s", c, s)
		}
	})
}

func TestTextIsBounded(t *testing.T) {
	long := strings.Repeat("word ", 1<<20)
	if n := len(strings.Join(markdown.Body(long, nil), "\n")); n > 2100 {
		t.Errorf("a body of %d bytes", n)
	}
	if n := max(len(markdown.Phrase(long, nil, true)), len(markdown.Code(long))); n > 450 {
		t.Errorf("a phrase of %d bytes", n)
	}
}

func TestWordsStayAsTheyWere(t *testing.T) {
	for in, want := range map[string]string{
		"A word, and another.":                   "A word, and another.",
		"use `x == y` and *mind* _it_":           "use `x == y` and mind it",
		"ask @dana, see #12":                     "ask `@`dana, see `#`12",
		"[the docs](https://good.example/x)":     "the docs <https://good.example/x>",
		"[the docs](https://evil.example/x)":     "the docs `https://evil.example/x`",
		"<b>bold</b> ![i](https://evil.example)": "`<b>`bold`</b>` i `https://evil.example`",
		"1. first":                               `1\. first`,
		"retest this please":                     "`r`e`t`est this please",
		"code&#64;www.evil.example":              "code`@`www`.`evil.example",
		"add to the list, and look to it":        "add to the list, and look to it",
	} {
		if got := markdown.Phrase(in, hosts, true); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	body := "Words.\n\n- one\n  more\n- two\n\n> said\n\n```go\nx := 1\n```"
	want := []string{"Words.", "", "- one more", "- two", "", "> said", "", "  ```", "  x := 1", "  ```"}
	if d := cmp.Diff(want, markdown.Body(body, nil)); d != "" {
		t.Errorf("Body (-want +got):\n%s", d)
	}
}

func TestActive(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "words": "", "<details>\n<summary>a</summary>\n\nb\n\n</details>": "", "<sub>x</sub>": "", "`<img>` \\<img\\>": "", "[a](https://good.example/x)": "", "<http://good.example>": "",
		"![a](https://good.example/x)": `an image from "https://good.example/x"`, "a <img src=x>": `HTML, "<img src=x>"`, "<b>": `HTML, "<b>"`, "<details open>": `HTML, "<details open>"`,
		"<!-- a -->": `HTML, "<!-- a -->"`, "<!--\na\n-->": "HTML, \"<!--\\na\\n\"", "[a](https://evil.example)": `a link to "https://evil.example"`, "[a](//good.example)": `a link to "//good.example"`,
		"[a](https://u@good.example)": `a link to "https://u@good.example"`, "[a][1]\n\n[1]: javascript:x": `a link to "javascript:x"`, "www.evil.example": `a link to "http://www.evil.example"`,
		"> - <a>": `HTML, "<a>"`,
	} {
		if got := markdown.Active(in, hosts); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestLink(t *testing.T) {
	for _, to := range []string{"https://good.example/x#y", "http://good.example/team/app/pull/7#discussion_r1"} {
		if got := markdown.Link("`a`", to, hosts); got != "[`a`]("+to+")" {
			t.Errorf("%s: %s", to, got)
		}
	}
	for _, to := range []string{"", "https://evil.example", "//good.example", "https://good.example/)", "https://good.example/ x", "https://u@good.example/", "javascript:good.example", "https://good.example/@claude", "https://good.example.evil/"} {
		if got := markdown.Link("`a`", to, hosts); got != "`a`" {
			t.Errorf("%q: %s", to, got)
		}
	}
}

func TestSuggestion(t *testing.T) {
	for _, lines := range [][]string{{"x := 1"}, {"\ta // b", "", "c || d"}, {"`````", "~~~"}, {"<!-- a -->", "# b"}, {"// fixes #1"}, {"a\r", "b\r"}} {
		block, ok := markdown.Suggestion(lines)
		longest := len(regexp.MustCompile("`+").FindString(strings.Join(lines, "\n")))
		fence := strings.Repeat("`", max(3, longest+1))
		want := append(append([]string{fence + "suggestion"}, lines...), fence)
		for i := range want {
			want[i] = strings.TrimSuffix(want[i], "\r")
		}
		if d := cmp.Diff(want, block); d != "" || !ok {
			t.Errorf("%q, %v (-want +got):\n%s", lines, ok, d)
		}
	}
	for _, line := range []string{"/approve", "  /merge", "> /approve", "@Override", "mail a@b", "bors r+", "Signed-off-by: x", "[skip ci]", "##[error]", "a\u202eb", "a\x00b", "a\rb", "::error::x", "\xff", "retest this please"} {
		if block, ok := markdown.Suggestion([]string{"fine", line}); ok {
			t.Errorf("%q is offered:\n%q", line, block)
		}
	}
	lines := []string{"a\r"}
	if markdown.Suggestion(lines); lines[0] != "a\r" {
		t.Error("the caller's lines are changed")
	}
}

func TestBlocks(t *testing.T) {
	text := "a\nb\n\n\n```diff\n+\n\n+c\n```\nd\n\n- ```\n  │ e\n\n  │ f\n  ```\n\n````suggestion\n```\n\n```\n````\n\n> g\n\nh\n"
	want := []string{
		"a\nb", "```diff\n+\n\n+c\n```\nd", "- ```\n  │ e\n\n  │ f\n  ```",
		"````suggestion\n```\n\n```\n````", "> g", "h",
	}
	got := markdown.Blocks(text)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if again := markdown.Blocks(strings.Join(got, "\n\n")); !slices.Equal(again, got) {
		t.Errorf("cut again it is %q", again)
	}
}

// TestCodeAtTheStart: what cannot be in a code span begins no block where an item of a list begins with it.
func TestCodeAtTheStart(t *testing.T) {
	for _, s := range []string{"# ##[", "- ##[", "1. ##[", "> ##["} {
		if got := markdown.Code(s); strings.HasPrefix(got, s[:2]) {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

func FuzzLastComment(f *testing.F) {
	f.Add("<!-- a -->")
	f.Add("```\n<!-- a -->")
	f.Add("<!--\n\n<!-- a -->\n\n")
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := markdown.LastComment(s)
		if ok &&
			(!strings.HasPrefix(c, "<!--") || !strings.HasSuffix(c, "-->") || !strings.HasSuffix(strings.TrimRight(s, " \t\r\n"), c[strings.LastIndex(c, "\n")+1:])) {
			t.Fatalf("%q ends with the comment %q", s, c)
		}
	})
}
