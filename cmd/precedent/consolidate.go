package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/background"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// inlineTime is how long a command in CI, where no process outlives the job, may look for
// patterns. Its engine has a part of it.
const (
	inlineTime     = 20 * time.Second
	inlinePatience = 15 * time.Second
)

func newMemoryConsolidate(a *app) *cobra.Command {
	var ifDue bool
	cmd := &cobra.Command{
		Use:   "consolidate",
		Short: "Look for patterns across changes now",
		Long: `Consolidate groups the last findings of all changes by their titles, and stores what
they have in common as insights, which precedent insights lists. With an engine, a
model names the patterns. It sees titles, paths and what people decided, never code.
Then it prunes the memory.

Reviews start this by themselves in the background, and in CI before they end, when
findings are new; the setting consolidation turns that off.`,
		Example: "  precedent memory consolidate\n  precedent memory consolidate --engine none --json",
		RunE: a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			c, err := a.consolidation(settingFlags(cmd))
			if err != nil {
				return err
			}
			if ifDue {
				if due, err := w.ConsolidationDue(cmd.Context()); err != nil || !due {
					return err
				}
			}
			done, err := a.consolidate(cmd.Context(), w, c)
			if err != nil || !a.json {
				return err
			}
			return report.Value(a.out, done)
		}),
	}
	cmd.Flags().BoolVar(&ifDue, "if-due", false, "do nothing unless a review would start it")
	return a.data(cmd, slices.Concat(memorySettings, judgeSettings)...)
}

// consolidation returns what consolidations of this process use.
func (a *app) consolidation(flags map[string]string) (workspace.Consolidation, error) {
	op, err := a.settings(flags)
	if err != nil {
		return workspace.Consolidation{}, err
	}
	job, err := a.job(op, reviewOptions{})
	return workspace.Consolidation{Settings: op, Engine: job.Engine}, err
}

// consolidate looks for patterns, and says so on standard error.
func (a *app) consolidate(ctx context.Context, w *workspace.Workspace,
	c workspace.Consolidation,
) (workspace.Consolidated, error) {
	c.Begun = func() { a.sayMemory("consolidating…") }
	done, err := a.workflow().Consolidate(ctx, w, c)
	if err == nil {
		a.sayConsolidated(done)
	}
	return done, err
}

func (a *app) sayConsolidated(done workspace.Consolidated) {
	if done.Busy {
		a.sayMemory("another process is consolidating")
		return
	}
	for _, why := range done.Refused {
		a.sayMemory("%s", why)
	}
	a.sayMemory("✓ %s from %s", plural(done.Insights, "insight"), plural(done.Findings, "finding"))
}

// sayMemory prints a line about the memory on standard error, unless --quiet is set.
func (a *app) sayMemory(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.err, "[memory] "+text.VisibleLine(fmt.Sprintf(format, args...)))
	}
}

// wake looks for patterns if it is time to: in a process of its own, and in CI before the
// command ends. It neither fails the command nor, outside of CI, delays it.
func (a *app) wake(ctx context.Context, w *workspace.Workspace, c workspace.Consolidation, flags map[string]string) {
	if a.start == nil || !c.Settings.Consolidation.Value || ctx.Err() != nil {
		return
	}
	due, err := w.ConsolidationDue(ctx)
	switch {
	case err == nil && !due:
	case err == nil && a.inCI():
		ctx, cancel := context.WithTimeout(ctx, inlineTime)
		defer cancel()
		c.Patience = inlinePatience
		_, err = a.consolidate(ctx, w, c)
	case err == nil:
		err = a.startMemory(w, flags, "consolidate", "--if-due") // silent: the last line is the command's
	}
	if err != nil && ctx.Err() == nil {
		a.sayMemory("%v", err)
	}
}

// inCI reports whether this process is part of a job of CI. All common systems set the variable.
func (a *app) inCI() bool { return a.env["CI"] != "" && a.env["CI"] != "false" }

// startMemory starts a memory command for the workspace in the background. The command gets
// those settings that it has flags for; what it says goes to a log in the data folder.
func (a *app) startMemory(w *workspace.Workspace, flags map[string]string, command ...string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	dir, err := a.workingDir()
	if err != nil {
		return err
	}
	log, err := a.memoryFile(w, "log")
	if err != nil {
		return err
	}
	args := slices.Concat([]string{"memory"}, command, []string{"--memory-db=" + w.File.Value})
	if !w.IDs[0].IsLocal() {
		args = append(args, "--repo="+w.IDs[0].String())
	}
	for _, name := range []string{"engine", "model", "context", "max-cost", "max-tokens", "timeout"} {
		if v, ok := flags[name]; ok {
			args = append(args, "--"+name+"="+v)
		}
	}
	var env []string
	for name, value := range a.env {
		env = append(env, name+"="+value)
	}
	return a.start(background.Program{Path: self, Args: args, Dir: dir, Env: env, Log: log})
}

// memoryFile returns the path of a file of the data folder that belongs to the memory of the
// workspace.
func (a *app) memoryFile(w *workspace.Workspace, ext string) (string, error) {
	dir := a.folder("XDG_DATA_HOME", filepath.Join(".local", "share"))
	if dir == "" {
		return "", hinted(errors.New("there is no data folder"), "set HOME")
	}
	sum := sha256.Sum256([]byte(w.File.Value + "\x00" + w.IDs[0].String()))
	return filepath.Join(dir, "background", hex.EncodeToString(sum[:8])+"."+ext), nil
}
