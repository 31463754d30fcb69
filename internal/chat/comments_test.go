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

func TestDeclines(t *testing.T) {
	decline := func(message, want string) {
		t.Helper()
		if quote, ok := Dismissal(precedent.Untrusted(message)); quote != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", message, quote, ok, want)
		}
	}
	for _, message := range []string{
		"Won't fix.", "wontfix", "WONTFIX", "won’t fix, this is test code", "Will not fix",
		"Thanks, but we won't fix this.", "Closing as wontfix.", "Marking this as a false positive.",
		"Dismissed as not applicable", "Not applicable here.", "This is not applicable.", "N/A", "Intentional.",
		"intentional", "This is intentional.", "It's intentional: see the comment above.", "That's totally intentional",
		"I think this is intended.", "By design.", "This is by design (we cache it).", "Works as intended.",
		"False positive.", "false positive: the lock is held by the caller",
		"That's a false positive, the value is checked above.", "Looks like a false positive.",
		"This is clearly a false alarm", "@precedent this is a false positive!", "FP", "Not a bug.", "This is not a bug.",
		"Not a bug: the file is closed later in the function.", "**Won't fix** – legacy.",
	} {
		decline(message, message)
	}
	for message, want := range map[string]string{
		"The rule does not apply to tests.":                        "",
		"Good question. This is by design.":                        "This is by design.",
		"> you should check the error\n\nNo, this is intentional.": "No, this is intentional.",
		"Won't fix 👍": "Won't fix",
		"Looked into it.\n- the caller holds the lock\n- not a bug": "not a bug",
	} {
		decline(message, want)
	}
}

func TestWhatDoesNotDecline(t *testing.T) {
	for _, message := range []string{
		"", "   \n\t", "?!", "Why?", "Is this a false positive?", "Isn't this intentional?", "This is intentional?",
		"False positive??", "Should we mark this as wontfix", "why is this not a bug",
		"Hm, is it by design or did we forget the check?", "This is not a false positive.",
		"This isn't a false positive, it crashed in production.", "It's definitely not intentional.", "not intentional",
		"Not by design.", "This was not intended.", "That's not, in my view, a false positive.",
		"I don't think this is a false positive.", "I do not believe it is intentional.",
		"Nobody said this is intentional.", "I can't say that this is by design.", "I don't disagree.",
		"I can't disagree with that, it is broken", "I couldn't agree more.", "We can't ignore this.",
		"Callers can ignore this error.", "Please don't close this as wontfix.",
		"If this is intentional, say so in a comment.", "Unless it's a false positive we have to wait.",
		"Not sure whether this is by design.", "Maybe this is intentional.", "This might be a false positive.",
		"Probably a false positive.", "I guess it's intended.", "Kim said this is intentional.",
		"I thought this was by design.", "We assumed it's not a bug.", "> This is a false positive.", "> wontfix\nreally",
		"```\nwontfix\n```", "~~~\nThis is intentional.\n~~~\nwhat does that mean", "    this is intentional\n",
		"`wontfix`", `The label "won't fix" exists.`, "<!-- won't fix -->Looking.", "Good catch, this is not intentional.",
		"False positive in theory, but I'll fix it anyway.", "By design. Fixed now though.",
		"I disagree with the severity, the bug is real.", "The suggestion is wrong.",
		"I don't agree with the proposed fix.", "We won't fix this in this PR.", "Won't fix here. Filed as an issue.",
		"Won't fix for now.", "Not a bug for the current release", "I won't change this until the next release.",
		"Won't fix, but it is a valid point.", "This is intentional. Scratch that, I misread it.",
		"It was closed as false positive by mistake.", "Users report this is not a bug.", "This is intentional sabotage.",
		"I'd expect this is intentional but the docs say otherwise", "Unless somebody objects, wontfix.",
		"You're right, I deliberately skipped it and should not have.", "This is no longer a problem.",
		"It's not an issue anymore.", "This is not a bug now.", "Done.", "fixed in 0a1b2c3", "Will do",
		"Agreed, that's a bug.", "Not a problem, will do.", "No problem!", "This is intended to be closed by the caller.",
		"The function is expected to return an error.", "This is wrong, the index is off by one.", "This is not correct.",
		"Intentional misuse is what worries me.", "The attackers intentionally send such input.", "Does not apply cleanly.",
		"This is a bug.", "It's an issue for sure.", "Out of scope for this pull request.", "I'll do it in a follow-up.",
		"Later.", "No.", "won't fix itself", "It won't fix the leak.", "The retry won't fix this case",
		"I won't be fixing typos today", "We only ignore this in tests?",
		"Instead of calling it a false positive, look at the trace.", "Rather than wontfix, let's document it.",
		"The bot claims it's a false positive.", "This is not only by design.", "Ce n'est pas un bug.", "don't not fix",
		// These say no to who reads them; whether they do is left to an engine.
		"I won't change this here.", "We're not going to fix this.", "Not going to change that, sorry.",
		"This won't be fixed.", "No plans to change the format.", "There's no need to fix this.", "Leaving this as is.",
		"I'd rather keep it as-is, the callers rely on it.", "This doesn't apply here, the input is ours.",
		"The rule does not apply here.", "The double close is intentional.", "We did this on purpose.",
		"It was left out on purpose.", "We deliberately skip the check in debug builds.",
		"Deliberately not closed, the pool owns it.", "This is a conscious trade-off.", "It works as designed.",
		"This is expected behavior.", "It isn't an issue, because `n` is never 0.", "That's not a security issue here",
		"This is a non-issue.", "I don't think this is a problem.", "I don't see the problem here.",
		"There is no race here.", "I disagree.", "Disagree, the spec says otherwise.",
		"I respectfully disagree with this one", "I don't agree with the premise.", "You are wrong here.",
		"The finding is incorrect.", "That's not true.", "Please ignore this.", "We accept this risk.",
		"Don't flag this in generated code.", "I don't think so, this is intentional.",
		"I did not add a check because it's intentional.", "I disagree with this finding.",
		strings.Repeat("a", 1<<20) + " wontfix", strings.Repeat("(", 50_000), strings.Repeat("no, ", 20_000),
		"\xff\xfe wont\x00fix",
	} {
		if quote, ok := Dismissal(precedent.Untrusted(message)); ok || quote != "" {
			t.Errorf("%.80q: %q, %v", message, quote, ok)
		}
	}
}

// FuzzDeclines: whatever is written, the sentence that declines is one of the message's.
func FuzzDeclines(f *testing.F) {
	for _, seed := range []string{
		"won't fix", "> no\n\nThis is by design!?", "```\nx", "I disagree. `a` \"b\"", "<!--",
		"a\r\n    b\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		quote, ok := Dismissal(precedent.Untrusted(message))
		if ok != (quote != "") {
			t.Errorf("%q, %v", quote, ok)
		}
		if head := strings.TrimSuffix(quote, "…"); !strings.Contains(strings.ReplaceAll(message, "\r\n", "\n"), head) &&
			!strings.Contains(message, "<!--") {
			t.Errorf("%q is not in %q", quote, message)
		}
		if quoted, ok := Dismissal(precedent.Untrusted("> " + strings.ReplaceAll(strings.ReplaceAll(message, "\r", " "), "\n",
			"\n> "))); ok {
			t.Errorf("a quotation declines: %q", quoted)
		}
	})
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
