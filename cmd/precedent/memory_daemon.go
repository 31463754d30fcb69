package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/background"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// daemonPatience is how long the daemon may take to start or to end: generous, for slow
// machines.
const daemonPatience = 30 * time.Second

// daemonState says whether the daemon of a memory runs.
type daemonState struct {
	Running bool `json:"running"`
	background.Record
}

func newMemoryStart(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Look for patterns and prune in the background, until memory stop",
		Long: `Start starts a process that looks every five minutes whether findings are new, finds
patterns in them as memory consolidate does, and prunes the memory once a day. A
memory has at most one such process. It ends with memory stop, and when the memory
is deleted. What it says is in a log, which memory status names.`,
		Example: "  precedent memory start",
		RunE: a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			return a.startDaemon(cmd.Context(), w, settingFlags(cmd))
		}),
	}
	addSettings(cmd, slices.Concat(memorySettings, judgeSettings)...)
	return cmd
}

func (a *app) startDaemon(ctx context.Context, w *workspace.Workspace, flags map[string]string) error {
	if !w.Memory.DB.Kept() {
		return hinted(errors.New("there is no memory yet"), "the first review creates it: precedent review")
	}
	if a.start == nil {
		return errors.New("no process can be started from here")
	}
	if _, err := a.consolidation(flags); err != nil { // the process could only say it in its log
		return err
	}
	path, err := a.memoryFile(w, "json")
	if err != nil {
		return err
	}
	p := a.page()
	say := func(what string, r background.Record) error {
		p.Sayf("", "%s: process %d, since %s", what, r.PID, r.Since.Format(time.RFC3339))
		return p.Err()
	}
	r, running, err := background.Running(path)
	switch {
	case err != nil:
		return err
	case running:
		return say("running already", r)
	}
	if err := a.startMemory(w, flags, "daemon"); err != nil {
		return err
	}
	const pause = 20 * time.Millisecond
	for waited := time.Duration(0); waited < daemonPatience; waited += pause {
		if r, running, err := background.Running(path); err == nil && running {
			return say("started", r)
		}
		if err := a.pause(ctx, pause); err != nil {
			return err
		}
	}
	log, _ := a.memoryFile(w, "log")
	return hinted(errors.New("the process did not start"), "it may have said why in %s", log)
}

func newMemoryStop(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stop",
		Short:   "End what memory start started",
		Example: "  precedent memory stop",
		RunE: a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			path, err := a.memoryFile(w, "json")
			if err != nil {
				return err
			}
			stopped, err := background.Stop(cmd.Context(), path, daemonPatience, a.pause)
			if err != nil {
				return err
			}
			p := a.page()
			what := "not running"
			if stopped {
				what = "stopped"
			}
			p.Say("", what)
			return p.Err()
		}),
	}
	addSettings(cmd, memorySettings...)
	return cmd
}

// newMemoryDaemon is what memory start starts.
func newMemoryDaemon(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "daemon", Short: "Keep looking for patterns; memory start starts it", Example: "  precedent memory start",
		Hidden: true,
		RunE: a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			return a.daemon(cmd.Context(), w, settingFlags(cmd))
		}),
	}
	addSettings(cmd, slices.Concat(memorySettings, judgeSettings)...)
	return cmd
}

// daemon looks for patterns until the context ends or the memory is gone.
func (a *app) daemon(ctx context.Context, w *workspace.Workspace, flags map[string]string) error {
	c, err := a.consolidation(flags)
	if err != nil {
		return err
	}
	path, err := a.memoryFile(w, "json")
	if err != nil {
		return err
	}
	log, err := a.memoryFile(w, "log")
	if err != nil {
		return err
	}
	release, err := background.Hold(ctx, path, background.Record{
		PID:   os.Getpid(),
		Since: a.now().UTC().Truncate(time.Second),
	}, a.pause)
	if err != nil {
		return err
	}
	defer release()
	open := func(ctx context.Context) (*workspace.Workspace, error) { return a.openWorkspace(ctx, flags) }
	return a.workflow().KeepConsolidating(ctx, open, c, func(done workspace.Consolidated, err error) {
		background.Trim(log)
		if err != nil {
			a.sayMemory("%s %v", a.now().UTC().Format(time.RFC3339), err)
			return
		}
		a.sayMemory("%s", a.now().UTC().Format(time.RFC3339))
		a.sayConsolidated(done)
	})
}

// daemonOf returns whether the daemon of the memory runs, and its log.
func (a *app) daemonOf(w *workspace.Workspace) (daemonState, string, error) {
	path, err := a.memoryFile(w, "json")
	if err != nil {
		return daemonState{}, "", nil //nolint:nilerr // without a data folder there is none
	}
	r, running, err := background.Running(path)
	if err != nil {
		return daemonState{}, "", fmt.Errorf("look for the memory's process: %w", err)
	}
	log, err := a.memoryFile(w, "log")
	return daemonState{running, r}, log, err
}
