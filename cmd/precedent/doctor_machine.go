package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/settings"
)

// checkSandbox tries to break out of the sandbox, and returns whether there is
// one that holds.
func (a *app) checkSandbox(ctx context.Context, d *diagnosis) bool {
	const name = "sandbox"
	box, err := sandbox.Probe(ctx, a.env["PATH"])
	var none *sandbox.NoneError
	switch {
	case errors.As(err, &none):
		d.say(name, warned, none.Hint, "none, so nothing that a repository brings along is run: %s", strings.Join(none.Why, "; "))
		return false
	case err != nil:
		d.wrong(name, warned, err)
		return false
	}
	traps, err := box.SelfTest(ctx)
	if err != nil {
		d.wrong(name, warned, fmt.Errorf("%s could not be tested: %w", box.Kind(), err))
		return false
	}
	var open []string
	for _, t := range traps {
		if !t.Held {
			open = append(open, t.Name+": "+t.Detail)
		}
	}
	if len(open) > 0 {
		d.say(name, missing, "do not review what strangers wrote on this machine", "%s does not hold: %s", box.Kind(), strings.Join(open, "; "))
		return false
	}
	d.say(name, fine, "", "%s; it held against %s", box.Kind(), counted(len(traps), "attack"))
	return true
}

// checkLinters looks for the programs of the linters that operator and policy name.
func (a *app) checkLinters(d *diagnosis, op *settings.Settings, p precedent.Policy, boxed bool) {
	const name = "linters"
	given, failures := a.external(op.Linters, p)
	var there, gone []string
	for _, l := range given.Linters {
		if _, err := findProgram(l.Command[0], a.env["PATH"]); err != nil {
			gone = append(gone, l.Name)
		} else {
			there = append(there, l.Name)
		}
	}
	switch {
	case len(failures) > 0:
		d.say(name, warned, "", "%s", failures[0].Error)
	case len(there)+len(gone) == 0:
		d.say(name, fine, "name some that you have: docs/configuration.md", "none are configured")
	case len(gone) > 0:
		d.say(name, warned, "install them, or name them no more", "not installed: %s", strings.Join(gone, ", "))
	case !boxed:
		d.say(name, warned, "they run in the sandbox only", "%s do not run", strings.Join(there, ", "))
	default:
		d.say(name, fine, "", "%s", strings.Join(there, ", "))
	}
}

// enoughSpace is what the temporary folder should have free, in bytes: the
// largest tree that is exported for engines and analyzers (git.ExportLimits).
const enoughSpace = 1 << 30

func checkSpace(d *diagnosis) {
	const name = "space"
	dir := os.TempDir()
	probe, err := os.MkdirTemp(dir, "precedent-doctor-")
	if err != nil {
		d.say(name, missing, "set TMPDIR to a folder that can be written to", "%v", err)
		return
	}
	defer os.RemoveAll(probe)
	free, err := freeSpace(probe)
	switch {
	case err != nil:
		d.wrong(name, warned, fmt.Errorf("measure free space: %w", err))
	case free < enoughSpace:
		d.say(name, warned, "make room, or set TMPDIR to another folder", "%s has %d MiB free; a large tree takes %d", dir, free>>20, enoughSpace>>20)
	default:
		d.say(name, fine, "", "%s has %d GiB free", dir, free>>30)
	}
}
