package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/text"
)

// The demo's only file before and after the change.
var (
	//go:embed demo/before.py
	demoBefore []byte
	//go:embed demo/after.py
	demoAfter []byte
)

const (
	demoFile   = "shop/refunds.py"
	demoReason = "the gateway's client waits between attempts"
	demoWho    = "dana"
)

func newDemo(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show the whole cycle: review, dismiss a finding, review again",
		Long: `Demo creates a small repository in a temporary folder and reviews it with a scripted
engine. It dismisses one finding and reviews again. Nothing leaves this machine,
none of your files change, and the folder is removed afterwards.`,
		Example: "  precedent demo",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context()) },
	}
}

// demo runs every command of the demo for real.
func (a *app) demo(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "precedent-demo-")
	if err != nil {
		return fmt.Errorf("make the demo's folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p := a.page()
	if err := makeDemo(ctx, dir); err != nil {
		return err
	}
	d, err := a.demoApp(dir)
	if err != nil {
		return err
	}
	tell := func(format string, args ...any) {
		p.Line()
		p.Para("", p.Inkf(report.Bold, format, args...))
		p.Line()
	}
	review := []string{"review", "main...retry-refunds"}
	tell("A branch retries refunds. Review it before it is pushed. A verifier tries to refute what the finders report:")
	if err := d.runCommand(ctx, p, precedent.ExitFindings, review...); err != nil {
		return err
	}
	declined, err := d.findID(ctx, "without a pause")
	if err != nil {
		return err
	}
	tell("One finding is not a problem here. %s dismisses it, with a reason:", demoWho)
	if err := d.runCommand(ctx, p, precedent.ExitClean, "dismiss", declined, "--reason", demoReason); err != nil {
		return err
	}
	tell("Review the same change again. Known findings are recognized, and the dismissed one is listed as hidden:")
	if err := d.runCommand(ctx, p, precedent.ExitFindings, review...); err != nil {
		return err
	}
	tell("Why was it hidden? Every decision is stored:")
	if err := d.runCommand(ctx, p, precedent.ExitClean, "explain", declined); err != nil {
		return err
	}
	p.Line()
	p.Para("", p.Ink(report.Green, "That is all: it reviews, you dismiss, it remembers.")+
		p.Ink(report.Plain, " Try precedent review in one of your repositories."))
	return p.Err()
}

// demoApp returns the program of the demo's user: the home folder is the demo's
// folder, and the engine plays the script.
func (a *app) demoApp(dir string) (*app, error) {
	e := &script{}
	if err := json.Unmarshal(demoScript, e); err != nil {
		return nil, fmt.Errorf("read the demo's script: %w", err)
	}
	env := map[string]string{"HOME": dir, "USER": demoWho}
	for _, name := range []string{"PATH", "NO_COLOR", "TERM", "TMPDIR"} {
		if v, ok := a.env[name]; ok {
			env[name] = v
		}
	}
	return &app{
		in: a.in, out: a.out, err: a.err, env: env, dir: filepath.Join(dir, "shop"), now: a.now, fixedEngine: e,
		quiet: true,
	}, nil
}

// runCommand prints a command as a shell would show it, and runs it.
func (a *app) runCommand(ctx context.Context, p *report.Page, want int, args ...string) error {
	line := "$ precedent"
	for _, arg := range args {
		line += " " + text.ShellWord(arg)
	}
	p.Line(p.Ink(report.Green, line))
	if got := a.run(ctx, append(args, "--quiet")); got != want {
		return fmt.Errorf("the demo's command ended with %d instead of %d", got, want)
	}
	return ctx.Err()
}

func (a *app) findID(ctx context.Context, words string) (string, error) {
	w, err := a.openWorkspace(ctx, nil)
	if err != nil {
		return "", err
	}
	defer w.Close()
	const most = 50 // the script has a few
	found, err := w.Memory.Rows.FindingsByID(ctx, "", most)
	if err != nil {
		return "", err
	}
	for _, k := range found {
		if strings.Contains(k.Title, words) {
			return k.ID, nil
		}
	}
	return "", errors.New("the review did not find what the script of the demo says")
}

// makeDemo creates the demo's repository in dir, with a branch main and a branch that
// changes the file. It runs git itself, which is safe only in a repository that it
// has just created; everything else uses internal/git.
func makeDemo(ctx context.Context, dir string) error {
	top := filepath.Join(dir, "shop")
	file := filepath.Join(top, filepath.FromSlash(demoFile))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("make the demo's repository: %w", err)
	}
	for _, step := range []struct {
		content []byte
		args    []string
	}{
		{demoBefore, []string{"init", "--quiet", "--template=", "--initial-branch=main"}},
		{nil, []string{"add", "."}},
		{nil, []string{"commit", "--quiet", "--message", "Refund orders"}},
		{nil, []string{"switch", "--quiet", "--create", "retry-refunds"}},
		{demoAfter, []string{"commit", "--quiet", "--all", "--message", "Retry refunds that time out"}},
	} {
		if step.content != nil {
			if err := os.WriteFile(file, step.content, 0o600); err != nil {
				return fmt.Errorf("make the demo's repository: %w", err)
			}
		}
		if err := demoGit(ctx, dir, top, step.args); err != nil {
			return err
		}
	}
	return nil
}

func demoGit(ctx context.Context, home, top string, args []string) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return hinted(errors.New("git is not on PATH"), "install git, 2.38 or newer")
	}
	cmd := exec.CommandContext(ctx, git, args...)
	cmd.Dir = top
	cmd.WaitDelay = time.Second
	cmd.Env = []string{
		"PATH=" + filepath.Dir(git), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=" + demoWho, "GIT_AUTHOR_EMAIL=dana@example.org", "GIT_AUTHOR_DATE=2026-01-05T09:00:00Z",
		"GIT_COMMITTER_NAME=" + demoWho, "GIT_COMMITTER_EMAIL=dana@example.org", "GIT_COMMITTER_DATE=2026-01-05T09:00:00Z",
	}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make the demo's repository: git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}
