package main

import (
	"flag"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/precedent-dev/precedent/internal/needs"
)

var update = flag.Bool("update", false, "write the picture of the demo in docs")

// inks are the styles of what a terminal shows, by the number of its escape sequence.
var inks = map[string]string{
	"1": "font-weight:bold;color:#fff", "2": "color:#9aa4af", "31": "color:#ff6b6b", "32": "color:#3fcf8e", "33": "color:#e3c558", "35": "color:#d78fff", "36": "color:#56b6e9",
}

var ink = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// terminalPage is a page that shows what a terminal shows.
func terminalPage(said string) string {
	var b strings.Builder
	b.WriteString(`<body style="margin:0;background:#14171a;color:#d6d9dc"><pre style="font:15px/1.25 'DejaVu Sans Mono',monospace;margin:18px;width:max-content">`)
	at := 0
	for _, m := range ink.FindAllStringSubmatchIndex(said, -1) {
		b.WriteString(html.EscapeString(said[at:m[0]]))
		if style := inks[strings.TrimPrefix(said[m[2]:m[3]], "0;")]; style != "" {
			b.WriteString(`<span style="` + style + `">`)
		} else {
			b.WriteString("</span>")
		}
		at = m[1]
	}
	return b.String() + html.EscapeString(said[at:]) + "</pre>"
}

func TestTerminalPage(t *testing.T) {
	if got := terminalPage("a<b \x1b[31mred\x1b[0m"); !strings.HasSuffix(got, `>a&lt;b <span style="color:#ff6b6b">red</span></pre>`) {
		t.Error(got)
	}
}

// TestDemoPicture runs the demo in a terminal, and with -update makes the picture in docs of it.
func TestDemoPicture(t *testing.T) {
	if !*update {
		t.Skip("makes a picture with -update only")
	}
	script, chromium := needs.Command(t, "PRECEDENT_TEST_SCRIPT", "script"), needs.Command(t, "PRECEDENT_TEST_CHROMIUM", "chromium")
	dir := t.TempDir()
	program := filepath.Join(dir, "precedent")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/precedent").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(script, "--quiet", "--return", "--command", "stty cols 96 rows 50; exec "+program+" demo 2>/dev/null", os.DevNull)
	cmd.Env = append(os.Environ(), "TERM=xterm", "HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// How it is explained is left out, and so is the machine's folder.
	said, _, _ := strings.Cut(strings.ReplaceAll(string(out), "\r", ""), "\x1b[1mWhy was it hidden")
	page := filepath.Join(dir, "page.html")
	needs.NoError(t, os.WriteFile(page, []byte(`<meta charset="utf-8">`+terminalPage(strings.TrimSpace(said)+"\n")), 0o600))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.ExecPath(chromium))
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	needs.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(920, 600), chromedp.Navigate("file://"+filepath.ToSlash(page))))
	picture := needs.Value(chromedp.Run(ctx, chromedp.FullScreenshot(100)))(t)
	needs.NoError(t, os.WriteFile(filepath.Join("..", "..", "docs", "demo.png"), picture, 0o600))
}
