package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestExamples: the example of a refusal works.
func TestExamples(t *testing.T) {
	for i := range triggers {
		e := "@precedent " + triggers[i].example
		commands, refusals := Parse(precedent.Untrusted(e), Options{InThread: true})
		if len(commands) != 1 || len(refusals) != 0 || commands[0].Kind != triggers[i].kind ||
			commands[0].Sentence != e {
			t.Errorf("%q: %+v, %+v", e, commands, refusals)
		}
	}
}

// TestCarriers puts each command where it is not one: nothing is stored, and nothing done.
func TestCarriers(t *testing.T) {
	for i := range triggers {
		command := "@precedent " + triggers[i].example
		lines := strings.ReplaceAll(command, "`", "")
		for _, carrier := range []string{
			"> %s", "> a\n%s", "- > %s", "```\n%s\n```", "~~~\na\n\n%s", "a\n\n    %s", "    %s", "<!-- %s -->",
			"<!--\n\n%s\n", "<details>\n\n%s\n\n</details>", "<blockquote>%s</blockquote>", "<pre>\n%s\n</pre>",
			"<code>%s</code>", "[%s](x)", "![%s](x)", "~~%s~~", "\"%s\"", "“A. %s.”", "It says \"a. %s. b\".", "I asked %s",
			"don't tell %s", "if I say %s, what then?", "You can write, e.g. %s", "For example:\n%s", "For example:\n\n- %s",
			"See %s", "(%s)", "@alice %s", "He said: %s", "`%s`", "``%s``", "`a\n%s\nb`", "On Monday, Mona wrote:\n\n%s",
			"\u200b%s", "\u202e%s", "&#8203;%s",
		} {
			comment := fmt.Sprintf(carrier, lines)
			for _, inThread := range []bool{false, true} {
				commands, refusals := Parse(precedent.Untrusted(comment), Options{InThread: inThread})
				if len(refusals) > 0 || len(commands) > 0 && commands[0].Kind != FreeText {
					t.Errorf("%q: %+v, %+v", comment, commands, refusals)
				}
			}
		}
		for _, change := range []func(string) string{
			func(s string) string { return s[:13] + "\u200b" + s[13:] },
			func(s string) string { return s[:13] + "\u202e" + s[13:] },
			func(s string) string { return strings.NewReplacer("e", "е").Replace(s) }, // Cyrillic
			func(s string) string { return strings.NewReplacer("d", "ⅾ").Replace(s) }, // a numeral
			func(s string) string { return strings.Replace(s, "@precedent ", "@precedent never ", 1) },
			func(s string) string { return strings.Replace(s, "@precedent ", "@precedent if I say ", 1) },
			func(s string) string { return strings.Replace(s, "@precedent ", "@precedent users write ", 1) },
		} {
			comment := change(lines)
			if commands, _ := Parse(precedent.Untrusted(comment), Options{}); comment != lines && len(commands) > 0 &&
				commands[0].Kind != FreeText {
				t.Errorf("%q: %+v", comment, commands)
			}
		}
	}
}

// TestLimits: "empty content, content too long, too many commands > 10", and 64 KiB
// of a comment.
func TestLimits(t *testing.T) {
	fits := strings.Repeat("ü", maxLength)
	for _, test := range []struct {
		comment  string
		commands int
		refused  Reason
	}{
		{"@precedent remember this: " + fits, 1, ""},
		{"@precedent remember this: " + fits + "ü", 0, TooLong},
		{strings.Repeat("@precedent don't flag x\n", maxActs), maxActs, ""},
		{strings.Repeat("@precedent don't flag x\n", maxActs+1), 0, TooMany},
		{strings.Repeat("@precedent don't flag x\n", maxActs) + strings.Repeat("@precedent x\n", maxActs), maxActs, ""},
		{strings.Repeat("word ", maxBody/5) + "\n@precedent remember this: x", 0, ""},
	} {
		commands, refusals := Parse(precedent.Untrusted(test.comment), Options{})
		switch {
		case len(commands) != test.commands, len(refusals) > 1, len(refusals) == 1 && refusals[0].Reason != test.refused,
			len(refusals) == 0 && test.refused != "":
			t.Errorf("%.60q: %d commands, refusals %+v", test.comment, len(commands), refusals)
		case len(refusals) == 1 && (refusals[0].Why == "" || refusals[0].Example == "" ||
			utf8.RuneCountInString(refusals[0].Sentence) > maxShown):
			t.Errorf("%.60q: incomplete: %+v", test.comment, refusals[0])
		}
	}
}

func TestProse(t *testing.T) {
	const body = "> quoted\nlazily\n\nMine.  \r\n```go\nx()\n```\n<!-- hidden -->and " +
		"this\n<details>\nlog\n</details>\n-- \nBob"
	if got, want := Prose(body), "Mine.\nand this"; got != want {
		t.Errorf("Prose: %q, want %q", got, want)
	}
	if got, want := Words(body), "Mine.\n```go\nx()\n```\nand this"; got != want {
		t.Errorf("Words: %q, want %q", got, want)
	}
}

// hostile are comments of 64 KiB that would be slow to read in more than linear time.
func hostile() map[string]string {
	all := map[string]string{}
	for _, part := range []string{
		"@precedent ", "@precedent a. ", "@precedent remember this:\n", "- a\n", "a. ", "`", "``a`", "[", "](", "[a](",
		"[[a](b)", "<!--", "<!-- -->", "<pre>", "<pre></pre>", "<code>", "~~", "~~~", "\"", "“a. ",
		"please ", "thanks. ", "> ", ">\n", "\n\n", "On a\n", "On a wrote:\n> ", "in `a/b` and ",
		"@precedent don't flag x in `a/b` and `c/d`, ", "this is fine because ", "*", "_", "\u200d", "\xff", "😀",
		"forget the \"", "e.g. ",
		"this line is longer than sixty characters and goes on in the next one\nb ", "@precedent ignore a b c d e f g h i j ",
	} {
		all[part] = strings.Repeat(part, maxBody/len(part)+1)
		all["mentioned "+part] = "@precedent don't flag " + all[part]
	}
	var runs strings.Builder
	for n := 1; runs.Len() < maxBody; n++ {
		runs.WriteString(strings.Repeat("`", n) + "a")
	}
	all["runs of backticks"] = runs.String()
	return all
}

// TestLinear: reading a comment takes linear time. The smaller of two runs counts, and quadratic time
// would be four times as long for twice the text.
func TestLinear(t *testing.T) {
	half, whole := maxBody/8, maxBody/4
	if needs.Soaking() {
		half, whole = maxBody/2, maxBody
	}
	for name, s := range hostile() {
		took := func(n int) time.Duration {
			read := func() { Parse(precedent.Untrusted(s[:n]), Options{InThread: true}) }
			return min(needs.Busy(read), needs.Busy(read))
		}
		if short, long := took(half), took(whole); long > 3*short+20*time.Millisecond {
			t.Errorf("%.30q: %v for %d bytes, %v for half of it", name, long, whole, short)
		}
	}
}

// FuzzParse: no comment makes it panic, a quotation of it holds no command, and what is returned is bounded.
func FuzzParse(f *testing.F) {
	for _, e := range examples(f) {
		f.Add(e.comment, e.options.InThread)
	}
	f.Fuzz(func(t *testing.T, comment string, inThread bool) {
		o := Options{InThread: inThread}
		commands, refusals := Parse(precedent.Untrusted(comment), o)
		if len(commands)+len(refusals) > maxActs {
			t.Errorf("%d commands, %d refusals", len(commands), len(refusals))
		}
		for _, c := range commands {
			if n := utf8.RuneCountInString(c.Content); n > maxLength && c.Kind != FreeText || n > maxFreeText || c.Kind == "" ||
				!utf8.ValidString(c.Content+c.Sentence+c.Glob) {
				t.Errorf("%+v", c)
			}
			if strings.ContainsAny(c.Content+c.Sentence, "\x00\r\u200b\u202e") {
				t.Errorf("not clean: %+v", c)
			}
		}
		quoted := "> " + strings.ReplaceAll(strings.ReplaceAll(comment, "\r", " "), "\n", "\n> ")
		if commands, refusals := Parse(precedent.Untrusted(quoted), o); len(commands)+len(refusals) > 0 {
			t.Errorf("a quotation holds %+v, %+v", commands, refusals)
		}
		own := Options{InThread: inThread, Own: []precedent.Untrusted{precedent.Untrusted(comment)}}
		if commands, refusals := Parse(precedent.Untrusted(comment), own); len(commands)+len(refusals) > 0 {
			t.Errorf("our own words hold %+v, %+v", commands, refusals)
		}
	})
}
