package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// Git looks for git.
func (d *Diagnosis) Git(ctx context.Context, o git.Options) {
	version, good, err := git.Version(ctx, o)
	switch {
	case err != nil:
		d.AddError("git", Missing, err)
	case !good:
		d.Add("git", Missing, "install git "+git.Oldest+" or newer", "%s is too old", version)
	default:
		d.Add("git", OK, "", "%s", version)
	}
}

// Sandbox tries to break out of the sandbox, and reports whether there is one that stops all attacks.
func (d *Diagnosis) Sandbox(ctx context.Context, path string) bool {
	const name = "sandbox"
	box, err := sandbox.Probe(ctx, path)
	var none *sandbox.NoneError
	switch {
	case errors.As(err, &none):
		d.Add(name, Warning, none.Hint, "none, so nothing from a repository is run: %s", strings.Join(none.Why, "; "))
		return false
	case err != nil:
		d.AddError(name, Warning, err)
		return false
	}
	traps, err := box.SelfTest(ctx)
	if err != nil {
		d.AddError(name, Warning, fmt.Errorf("%s could not be tested: %w", box.Kind(), err))
		return false
	}
	var open []string
	for _, t := range traps {
		if !t.Held {
			open = append(open, t.Name+": "+t.Detail)
		}
	}
	if len(open) > 0 {
		d.Add(name, Missing, "do not review code from strangers on this machine", "%s does not stop all attacks: %s",
			box.Kind(), strings.Join(open, "; "))
		return false
	}
	d.Add(name, OK, "", "%s; it stopped %s", box.Kind(), report.Plural(len(traps), "attack"))
	return true
}

// Linters looks on the PATH for the programs of linters, which run in a sandbox
// only. Failures are names that nobody knows.
func (d *Diagnosis) Linters(linters []lint.Linter, failures []precedent.Failure, path string, sandboxed bool) {
	const name = "linters"
	var there, gone []string
	for _, l := range linters {
		if _, err := lint.FindProgram(l.Command[0], path); err != nil {
			gone = append(gone, l.Name)
		} else {
			there = append(there, l.Name)
		}
	}
	switch {
	case len(failures) > 0:
		d.Add(name, Warning, "", "%s", failures[0].Error)
	case len(there)+len(gone) == 0:
		d.Add(name, OK, "configure linters that are installed: docs/configuration.md", "none configured")
	case len(gone) > 0:
		d.Add(name, Warning, "install them, or remove them from the configuration", "not installed: %s",
			strings.Join(gone, ", "))
	case !sandboxed:
		d.Add(name, Warning, "linters run only in the sandbox", "%s do not run", strings.Join(there, ", "))
	default:
		d.Add(name, OK, "", "%s", strings.Join(there, ", "))
	}
}
