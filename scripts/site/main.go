// Command site makes the documentation site from the Markdown of this repository: pages with the map of docs/README.md beside
// them, and a search that needs no server.
//
//	go run ./scripts/site dist/site
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// source is where files are that are not on the site.
const source = "https://github.com/precedent-dev/precedent/blob/main/"

// mapFile lists the pages by what a reader wants to do.
const mapFile = "docs/README.md"

//go:embed page.html
var pageText string

//go:embed site.css
var style []byte

//go:embed search.js
var script []byte

var pageTemplate = template.Must(template.New("").Parse(pageText))

// markdown reads what GitHub reads. Headings have the names that links use there.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe())) // the documents are ours

// site is what is made.
type site struct {
	root  fs.FS
	pages []string          // the files of pages, with slashes
	data  map[string][]byte // what is written, by name
	index []section
}

// section is what the search finds: a heading and the text below it.
type section struct {
	Page  string `json:"p"` // its title
	Title string `json:"t"`
	URL   string `json:"u"` // from the top of the site
	Text  string `json:"x"`
}

// group is a part of the map.
type group struct {
	Title string
	Links []link
}

type link struct {
	Title, URL string
	Here       bool
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/site FOLDER")
		os.Exit(2)
	}
	s, err := build(os.DirFS("."))
	if err == nil {
		err = s.write(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// build makes the site of the repository in a folder.
func build(root fs.FS) (*site, error) {
	s := &site{root: root, data: map[string][]byte{"site.css": style, "search.js": script}}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		found, err := fs.Glob(root, pattern)
		if err != nil {
			return nil, err
		}
		s.pages = append(s.pages, found...)
	}
	images, err := fs.Glob(root, "docs/*.png")
	if err != nil {
		return nil, err
	}
	for _, name := range images {
		if s.data[name], err = fs.ReadFile(root, name); err != nil {
			return nil, err
		}
	}
	decisions := "# Decisions\n\nWhy the code is as it is: context, choice and what was rejected.\n\n"
	for _, name := range s.pages {
		if path.Dir(name) != "docs/decisions" {
			continue
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		heading, _, _ := strings.Cut(strings.TrimPrefix(string(data), "# "), "\n")
		decisions += "- [" + heading + "](" + path.Base(name) + ")\n"
	}
	for _, name := range s.pages {
		data, err := fs.ReadFile(root, name)
		if err == nil {
			err = s.page(name, data)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := s.page("docs/decisions/README.md", []byte(decisions)); err != nil {
		return nil, err
	}
	index, err := json.Marshal(s.index)
	if err != nil {
		return nil, err
	}
	// A script and not JSON: pages that are opened from a disk may not fetch.
	s.data["search-index.js"] = slices.Concat([]byte("searchIndex = "), index, []byte(";\n"))
	return s, nil
}

// address is where a page is on the site.
func address(name string) string {
	return strings.TrimSuffix(strings.ReplaceAll("/"+name, "/README.md", "/index.md"), ".md")[1:] + ".html"
}

// page makes the page of a document.
func (s *site) page(name string, data []byte) error {
	doc := markdown.Parser().Parse(text.NewReader(data))
	here := address(name)
	top := strings.Repeat("../", strings.Count(here, "/"))
	s.relink(doc, name)
	heading := sections(doc, data, here, func(found section) { s.index = append(s.index, found) })
	var body, b bytes.Buffer
	if err := markdown.Renderer().Render(&body, data, doc); err != nil {
		return err
	}
	groups, err := s.groups(here, top)
	if err != nil {
		return err
	}
	// A wide table scrolls in itself.
	wide := strings.NewReplacer("<table>", `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`)
	err = pageTemplate.Execute(&b, map[string]any{
		"Title": heading, "Body": template.HTML(wide.Replace(body.String())), "Top": top, "Groups": groups, //nolint:gosec // our documents
		"Source": source + name,
	})
	s.data[here] = b.Bytes()
	return err
}

// relink makes links to documents links to their pages, and those to other files links to the sources.
func (s *site) relink(doc ast.Node, name string) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		to, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		file, fragment, _ := strings.Cut(string(to.Destination), "#")
		target := path.Join(path.Dir(name), file)
		switch {
		case file == "" || strings.Contains(file, ":"):
			return ast.WalkContinue, nil
		case slices.Contains(s.pages, target):
			rel, err := filepath.Rel(filepath.FromSlash(path.Dir(name)), filepath.FromSlash(address(target)))
			if err != nil {
				return ast.WalkStop, err
			}
			file = filepath.ToSlash(rel)
		case target == "docs/decisions":
			file = strings.Repeat("../", strings.Count(name, "/")) + "docs/decisions/index.html"
		default:
			file = source + target
		}
		if fragment != "" {
			file += "#" + fragment
		}
		to.Destination = []byte(file)
		return ast.WalkContinue, nil
	})
}

// sections passes on each heading with the text below it, and returns the first heading.
func sections(doc ast.Node, data []byte, here string, found func(section)) (first string) {
	now := section{}
	var words strings.Builder
	end := func() {
		if now.URL != "" {
			now.Text = strings.Join(strings.Fields(words.String()), " ")
			found(now)
		}
		words.Reset()
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, is := n.(*ast.Heading)
		if !is {
			words.WriteString(" " + plain(n, data))
			continue
		}
		end()
		title := plain(h, data)
		if first == "" {
			first = title
		}
		id, _ := h.AttributeString("id")
		fragment, _ := id.([]byte)
		now = section{Page: first, Title: title, URL: here + "#" + string(fragment)}
	}
	end()
	return first
}

// plain is the text of a node.
func plain(n ast.Node, data []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(data))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				for i := range n.Lines().Len() {
					line := n.Lines().At(i)
					b.Write(line.Value(data))
				}
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// groups reads the map.
func (s *site) groups(here, top string) (all []group, err error) {
	data, err := fs.ReadFile(s.root, mapFile)
	if err != nil {
		return nil, err
	}
	doc := markdown.Parser().Parse(text.NewReader(data))
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				all = append(all, group{Title: plain(n, data)})
			}
		case *ast.Link:
			if len(all) == 0 {
				return ast.WalkStop, errors.New(mapFile + " has a link above its first heading")
			}
			to := address(path.Join("docs", string(n.Destination)))
			g := &all[len(all)-1]
			title := plain(n, data)
			g.Links = append(g.Links, link{Title: strings.ToUpper(title[:1]) + title[1:], URL: top + to, Here: to == here})
		}
		return ast.WalkContinue, nil
	})
	return all, err
}

// write writes the site to a folder, which it makes.
func (s *site) write(dir string) error {
	for name, data := range s.data {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // it is published
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil { //nolint:gosec // it is published
			return err
		}
	}
	return nil
}
