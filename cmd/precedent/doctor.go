package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/settings"
)

// doctorSchema names the version of a diagnosis as JSON.
const doctorSchema = "precedent.doctor/1"

// state is how one thing that was looked at is.
type state string

const (
	fine    state = "ok"
	warned  state = "warn"    // a review works without it, and says less
	missing state = "missing" // no review works until it is there
)

// checked is one thing that was looked at.
type checked struct {
	Name  string `json:"name"`
	State state  `json:"state"`
	Says  string `json:"says"`
	Hint  string `json:"hint"` // what helps, or what more there is; may be empty
}

// diagnosis is what doctor prints as JSON.
type diagnosis struct {
	Schema string    `json:"schema"`
	Works  bool      `json:"works"` // a review would work
	Checks []checked `json:"checks"`
}

// say adds what was found out about one thing.
func (d *diagnosis) say(name string, s state, hint, format string, args ...any) {
	d.Checks = append(d.Checks, checked{Name: name, State: s, Says: fmt.Sprintf(format, args...), Hint: hint})
	d.Works = d.Works && s != missing
}

// wrong adds an error, with its own hint if it has one.
func (d *diagnosis) wrong(name string, s state, err error) {
	d.say(name, s, hintOf(err), "%v", err)
}

func newDoctor(a *app) *cobra.Command {
	var asJSON, try bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what a review needs, and say what is missing",
		Long: `Doctor looks at git, the repository, the engine, the sandbox, the forge, the
memory, the policy, the linters, the guide, the hook and the temporary folder,
and says of each whether it is ok, whether a review works without it (warn), or
not (missing), and what helps.

If there is a token of a forge, the forge is asked whose it is. Nothing else is
sent anywhere unless --try is given, which asks the model for one token and says
what that cost. Keys are never printed.

Exit status: 0 if a review would work, 2 if something that it needs is missing.`,
		Example: `  precedent doctor
  precedent doctor --try
  precedent doctor --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.diagnose(cmd.Context(), settingFlags(cmd), try)
			if err != nil {
				return err
			}
			if asJSON {
				err = report.Value(a.out, d)
			} else {
				p := a.page()
				printDiagnosis(p, d)
				err = p.Err()
			}
			if err == nil && !d.Works {
				err = exitStatus(precedent.ExitUsage)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&try, "try", false, "ask the model for one token, which costs as much as that")
	addSettings(cmd, "engine", "model", "memory_db", "repo", "forge")
	return cmd
}

// diagnose looks at everything. It ends early only if it is interrupted.
func (a *app) diagnose(ctx context.Context, flags map[string]string, try bool) (diagnosis, error) {
	d := diagnosis{Schema: doctorSchema, Works: true}
	op, err := a.settings(flags)
	if err != nil {
		d.wrong("settings", missing, err)
		op, _ = settings.Read(settings.Sources{}) // the defaults
	}
	if version, good, err := git.Version(ctx, a.gitOptions()); err != nil {
		d.wrong("git", missing, err)
	} else if !good {
		d.say("git", missing, "install git "+git.Oldest+" or newer", "%s is too old", version)
	} else {
		d.say("git", fine, "", "%s", version)
	}
	repo, err := a.openRepo(ctx)
	if err != nil {
		d.wrong("repository", missing, err)
	} else {
		defer repo.Close()
		checkClone(ctx, &d, repo)
	}
	a.checkEngine(ctx, &d, op, try)
	boxed := a.checkSandbox(ctx, &d)
	a.checkStation(ctx, &d, op, repo)
	if repo != nil {
		a.checkMemory(ctx, &d, flags)
		policy := checkPolicy(ctx, &d, repo)
		a.checkLinters(&d, op, policy, boxed)
		checkGuide(ctx, &d, repo)
		checkHook(&d, repo)
	}
	checkSpace(&d)
	return d, ctx.Err()
}

func printDiagnosis(p *report.Page, d diagnosis) {
	inks := map[state]report.Ink{fine: report.Green, warned: report.Yellow, missing: report.Red}
	var rows [][]string
	for _, c := range d.Checks {
		rows = append(rows, []string{p.Ink(inks[c.State], string(c.State)), p.Ink(report.Bold, c.Name), p.Ink(report.Plain, c.Says)})
		if c.Hint != "" {
			rows = append(rows, []string{"", "", p.Ink(report.Faint, "→ "+c.Hint)})
		}
	}
	p.Table(rows)
	p.Line()
	if d.Works {
		p.Para("", p.Ink(report.Plain, "A review works here."))
	} else {
		p.Para("", p.Ink(report.Plain, "No review works here until what is missing is there."))
	}
}
