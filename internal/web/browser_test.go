package web

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
)

var update = flag.Bool("update", false, "write the pictures of docs")

// chrome is a tab of Chromium that notes what its policy blocked and what scripts asked.
type chrome struct {
	t   *testing.T
	w   *world
	ctx context.Context
}

const watcher = `window.problems = [];
document.addEventListener("securitypolicyviolation", e => window.problems.push(e.violatedDirective + " " + e.blockedURI));
window.alert = window.confirm = window.prompt = m => window.problems.push("dialog " + m);
window.addEventListener("error", e => window.problems.push("error " + e.message));`

func newChrome(t *testing.T, w *world) *chrome {
	t.Helper()
	path := needs.Command(t, "PRECEDENT_TEST_CHROMIUM", "chromium")
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.ExecPath(path))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	c := &chrome{t, w, ctx}
	c.do(chromedp.EmulateViewport(1000, 800))
	c.must(chromedp.Call(c.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: watcher}))
	return c
}

func (c *chrome) must(_ any, err error) {
	c.t.Helper()
	needs.NoError(c.t, err)
}

func (c *chrome) do(steps ...chromedp.Action[chromedp.Void]) {
	c.t.Helper()
	c.must(nil, chromedp.Do(c.ctx, steps...))
}

func (c *chrome) open(path string) {
	c.t.Helper()
	c.w.pass(pageRate.every)
	c.do(chromedp.Navigate(c.w.http.URL + path))
}

// eval returns what a script says.
func eval[T any](c *chrome, script string) T {
	c.t.Helper()
	got, err := chromedp.Run(c.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		c.t.Fatalf("%s: %v", script, err)
	}
	return got
}

// click clicks the link or button with the text, that with the shortest if there are several, and waits for
// the page that follows.
func (c *chrome) click(text string) {
	c.t.Helper()
	c.w.pass(pageRate.every)
	quoted, _ := json.Marshal(text)
	is := c.leaving()
	if !eval[bool](c, fmt.Sprintf(`(() => {
		const all = [...document.querySelectorAll("a, button, summary")].filter(e => e.innerText.trim().includes(%s));
		all.sort((a, b) => a.innerText.length - b.innerText.length);
		if (all.length) all[0].click();
		return all.length > 0;
	})()`, quoted)) {
		c.t.Fatalf("nothing to click says %q: %s", text, c.text())
	}
	c.wait(is)
}

// leaving is a script that tells whether another page than this one is there.
func (c *chrome) leaving() string {
	c.t.Helper()
	return fmt.Sprintf(`String(performance.timeOrigin) !== %q && document.readyState === "complete"`,
		eval[string](c, `String(performance.timeOrigin)`))
}

// wait waits until something is so, also while another page is loaded.
func (c *chrome) wait(script string) {
	c.t.Helper()
	needs.WaitUntil(c.t, script, func() bool {
		is, err := chromedp.Run(c.ctx, chromedp.Evaluate[bool](script))
		return err == nil && is
	})
}

func (c *chrome) text() string {
	c.t.Helper()
	return eval[string](c, `document.body.innerText`)
}

// quiet fails if the page did what its policy forbids, or a script of somebody else ran.
func (c *chrome) quiet(where string) {
	c.t.Helper()
	if problems := eval[[]string](c, `window.problems`); len(problems) > 0 {
		c.t.Errorf("%s: %v", where, problems)
	}
}

// signIn signs in by clicking.
func (c *chrome) signIn(login string) {
	c.t.Helper()
	c.w.pass(signInRate.every)
	c.w.forge.mu.Lock()
	c.w.forge.who = login
	c.w.forge.mu.Unlock()
	c.open("/")
	c.click("Sign in with 127.0.0.1")
	if text := c.text(); !strings.Contains(text, "Sign out") || !strings.Contains(text, login) {
		c.t.Fatalf("after signing in as %s: %s", login, text)
	}
}

// given are the directives that a review of a file would be given now.
func (w *world) given(file string) string {
	w.t.Helper()
	space, _ := w.remember(open)
	found, _, err := space.Memory.RecallLearnings(w.t.Context(),
		memory.LearningQuery{Change: &diff.Change{Files: []diff.File{{Path: file, OldPath: file}}}})
	needs.NoError(w.t, err)
	var b strings.Builder
	for _, l := range found {
		b.WriteString(l.Directive + "\n")
	}
	return b.String()
}

// TestBrowser does in Chromium what a person does: sign in, approve and forget a learning, search, move the slider,
// retry a job, and find out why a finding was hidden.
func TestBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.fill(open, "zebra")
	id := w.fail(open, "the engine is gone")
	c := newChrome(t, w)
	c.signIn("wanda")

	// Three clicks from the first page to the reason: the repository, the pull request, and nothing more, because
	// the page of the pull request lists what was hidden with the reason.
	c.open("/")
	c.click("git.example.org/team/open")
	c.click("#7 zebra")
	if text := c.text(); !strings.Contains(text, "Hidden: a learning says so: zebra") {
		t.Errorf("after two clicks: %s", text)
	}

	if strings.Contains(w.given("a.go"), "Name the caller") {
		t.Error("a pending learning is given to reviews")
	}
	c.open("/")
	c.click("1 learning")
	c.click("Approve")
	if !strings.Contains(w.given("a.go"), "Name the caller zebra") {
		t.Errorf("after the approval, reviews are given %s", w.given("a.go"))
	}
	c.click("Forget for good")
	if strings.Contains(w.given("a.go"), "Name the caller") {
		t.Error("reviews are given a learning that was forgotten")
	}

	c.open(repoPath(open) + "/precedents")
	c.do(chromedp.SendKeys("#q", "wrap the error with its operation"))
	c.wait(`document.querySelector("#results").innerText.includes("tell them apart")`)
	if at := eval[string](c, `location.search`); !strings.HasPrefix(at, "?q=wrap") {
		t.Errorf("the address of a search is %q", at)
	}
	c.quiet("search")

	c.open(repoPath(open) + "/trends")
	eval[bool](c, `(() => { const s = document.querySelector("#threshold"); s.value = 82; s.dispatchEvent(new Event("input", {bubbles: true}));
		s.dispatchEvent(new Event("change", {bubbles: true})); return true })()`)
	c.wait(`document.querySelector("#replay")?.innerText.includes("At 82:")`)
	needs.Equal(t, "82", eval[string](c, `document.querySelector("output").value`))
	c.quiet("slider")

	c.click("Sign out")
	c.w.pass(pageRate.every)
	eval[bool](c, `history.back(); true`)
	c.wait(`location.pathname === "/signin"`)
	c.signIn("oskar")
	c.open("/")
	if !strings.Contains(c.text(), "the engine is gone") {
		t.Errorf("a dead letter is not on the first page: %s", c.text())
	}
	c.click("Run now")
	job, err := w.site.o.Jobs.Show(t.Context(), id)
	if err != nil || job.State != queue.Ready {
		t.Errorf("the job is %s after it was retried: %v", job.State, err)
	}
	c.quiet("jobs")
}

// looks are the ways in which pages are checked, and the rules of axe-core that can differ from those of the first.
var looks = []struct {
	name  string
	width int64
	dark  bool
	rules string
}{{"light", 1000, false, "{}"}, {"dark", 1000, true, `{runOnly: ["color-contrast"]}`}, {"narrow", 360, false, "{}"}}

// look shows the page in other colors or on a screen of another width.
func (c *chrome) look(width int64, dark bool) {
	c.t.Helper()
	c.do(chromedp.EmulateViewport(width, 800))
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	c.must(chromedp.Call(c.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}))
}

// TestBrowserForEverybody checks every page, with texts of people who want a script to run, with axe-core, in light and
// dark colors and on a narrow screen, where nothing may be wider than the screen. The policy of the pages blocks nothing,
// because nothing tries. With -update it writes the pictures of docs.
func TestBrowserForEverybody(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(needs.File(t, "PRECEDENT_TEST_AXE", "axe/node_modules/axe-core/axe.min.js", "axe-core"))
	needs.NoError(t, err)
	w := newWorld(t, "")
	mark := strings.Join(hostile[:5], " ") // a name has at most 200 characters
	is := w.fill(open, mark)
	w.fail(open, mark)
	billing := precedent.Repo{Host: open.Host, Owner: open.Owner, Name: "billing"}
	w.forge.set("oskar", billing, "write")
	story := w.tell(billing)
	c := newChrome(t, w)
	c.signIn("oskar")
	w.forge.set("oskar", open, "write")
	for _, path := range append(is.paths(open), append(serverPaths, story, "/signin", "/nothing")...) {
		if strings.HasSuffix(path, "format=json") {
			continue
		}
		c.open(path)
		c.quiet(path)
		eval[bool](c, string(axe)+"; true")
		for _, look := range looks {
			c.look(look.width, look.dark)
			if wide := eval[int64](c, `document.documentElement.scrollWidth`); wide > look.width {
				t.Errorf("%s, %s: %d pixels wide", look.name, path, wide)
			}
			found, err := chromedp.Run(c.ctx, chromedp.Evaluate[string](`axe.run(`+look.rules+`).then(r => r.violations.map(
				v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 200)).join(" ")).join("\n"))`, chromedp.EvalAwaitPromise))
			if err != nil || found != "" {
				t.Errorf("%s, %s: %s %v", look.name, path, found, err)
			}
			if *update && path == story {
				c.picture("dashboard-" + look.name)
			}
		}
	}
}

// picture writes a picture of the page into docs.
func (c *chrome) picture(name string) {
	c.t.Helper()
	picture := needs.Value(chromedp.Run(c.ctx, chromedp.FullScreenshot(100)))(c.t)
	needs.NoError(c.t, os.WriteFile(filepath.Join("..", "..", "docs", name+".png"), picture, 0o644))
}

// TestBrowserByKeyboard: the first key leads past the navigation, and each control can be reached and is visible
// when it has the focus.
func TestBrowserByKeyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	is := w.fill(open, "zebra")
	c := newChrome(t, w)
	c.signIn("wanda")
	path := repoPath(open) + "/learnings/" + is.pending
	c.open(path)
	c.do(chromedp.KeyEvent("\t"))
	needs.Equal(t, "Skip to the content", eval[string](c, `document.activeElement.innerText`))
	controls := eval[int](c,
		`document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, [tabindex='0']").length`)
	seen := map[string]bool{}
	for range controls + 2 {
		c.do(chromedp.KeyEvent("\t"))
		if at := eval[string](c, `(() => { const e = document.activeElement; return e === document.body ? "" :
			getComputedStyle(e).outlineStyle === "none" && e.className !== "skip" ? "invisible " + e.outerHTML : e.outerHTML.slice(0, 300) })()`); at != "" {
			seen[at] = true
			if strings.HasPrefix(at, "invisible") {
				t.Errorf("the focus cannot be seen at %s", at)
			}
		}
	}
	if len(seen) < controls-4 { // some look the same
		t.Errorf("%d of %d controls were reached by the keyboard", len(seen), controls)
	}
}
