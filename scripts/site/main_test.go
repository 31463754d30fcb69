package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/precedent-dev/precedent/internal/needs"
)

func built(t *testing.T) *site {
	t.Helper()
	s := needs.Value(build(os.DirFS(filepath.Join("..", ".."))))(t)
	return s
}

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	named     = regexp.MustCompile(`\bid="([^"]*)"`)
)

// TestLinks: every link of the site leads to a file of it, and to a heading that is there.
func TestLinks(t *testing.T) {
	s := built(t)
	for name, data := range s.data {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, m := range reference.FindAllStringSubmatch(string(data), -1) {
			file, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, ":") {
				continue // elsewhere
			}
			to := path.Join(path.Dir(name), file)
			if file == "" {
				to = name
			}
			target, ok := s.data[to]
			if !ok {
				t.Errorf("%s links to %s", name, m[1])
				continue
			}
			ids := named.FindAllStringSubmatch(string(target), -1)
			if fragment != "" && !slices.ContainsFunc(ids, func(id []string) bool { return id[1] == fragment }) {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
}

// TestMap: the map lists every document, and links to sources are links to files that exist.
func TestMap(t *testing.T) {
	s := built(t)
	groups, err := s.groups("", "")
	if err != nil || len(groups) < 5 {
		t.Fatal(groups, err)
	}
	listed := map[string]bool{"index.html": true, "docs/index.html": true, "CHANGELOG.html": true}
	for _, g := range groups {
		for _, l := range g.Links {
			listed[l.URL] = true
		}
	}
	for _, name := range s.pages {
		if path.Dir(name) != "docs/decisions" && !listed[address(name)] {
			t.Errorf("%s does not list %s", mapFile, name)
		}
		for _, m := range reference.FindAllStringSubmatch(string(s.data[address(name)]), -1) {
			if file, ok := strings.CutPrefix(m[1], source); ok {
				if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(file))); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// TestSiteInChromium opens every page from the disk, those of decisions under make soak: none is wider than a small screen,
// nothing fails by the rules of axe-core, in light and dark, and the search finds.
func TestSiteInChromium(t *testing.T) {
	chromium := needs.Command(t, "PRECEDENT_TEST_CHROMIUM", "chromium")
	axe := needs.Value(os.ReadFile(needs.File(t, "PRECEDENT_TEST_AXE", "axe/node_modules/axe-core/axe.min.js", "axe-core")))(t)
	s, dir := built(t), t.TempDir()
	needs.NoError(t, s.write(dir))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.ExecPath(chromium))
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	open := func(name string) {
		t.Helper()
		needs.NoError(t, chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.ToSlash(filepath.Join(dir, name)))))
	}
	ask := func(script string) string {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		return got
	}
	look := func(width int64, scheme string) {
		t.Helper()
		needs.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 800)))
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	const violations = `axe.run().then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 200)).join(" ")).join("\n"))`
	look(360, "light")
	for name := range s.data {
		if !strings.HasSuffix(name, ".html") || strings.HasPrefix(name, "docs/decisions/") && !needs.Soaking() {
			continue
		}
		open(name)
		if wide := ask(`String(document.documentElement.scrollWidth)`); wide != "360" {
			t.Errorf("%s is %s pixels wide", name, wide)
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1100} {
			look(width, scheme)
			for _, name := range []string{"index.html", "docs/getting-started.html", "docs/configuration.html", "docs/decisions/index.html"} {
				open(name)
				ask(string(axe) + `; ""`)
				if found := ask(violations); found != "" {
					t.Errorf("%s, %s, %d: %s", name, scheme, width, found)
				}
			}
		}
	}
	const typed = `input.value = %q; input.dispatchEvent(new Event("input")); results.innerText`
	open("docs/memory.html")
	needs.Equal(t, "Nothing was found.", ask(fmt.Sprintf(typed, "nowhere-in-the-documents")))
	if found := ask(fmt.Sprintf(typed, "way back upgrading")); !strings.HasPrefix(found, "Upgrading: The way back\n") {
		t.Errorf("found %q", found)
	}
	ask(`results.querySelector("a").click(); ""`)
	needs.WaitUntil(t, "the page that was found is open", func() bool {
		at, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href`)) // which fails while another page is loaded
		return err == nil && strings.HasSuffix(at, "/docs/upgrading.html#the-way-back")
	})
}
