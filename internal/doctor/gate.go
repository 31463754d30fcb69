package doctor

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/git"
)

// Gate says which commands a server would run before it reviews a pull request, as of the last
// commit. Sandboxed says whether there is a sandbox.
func (d *Diagnosis) Gate(ctx context.Context, repo *git.Repo, policy precedent.Gate, sandboxed bool) {
	const name = "gate"
	read := d.lastCommit(ctx, repo, name, "no commands")
	if read == nil {
		return
	}
	commands := gate.Discover(policy, gate.ReadDocuments(read))
	switch {
	case policy.Off:
		d.Add(name, OK, "", "the policy turns it off")
	case len(commands) == 0:
		d.Add(name, OK, "a server builds and tests what the policy's gate or AGENTS.md names: docs/gate.md", "no commands")
	case !sandboxed:
		d.Add(name, Warning, "a server runs them only in the sandbox", "skipped without a sandbox: %s", gateLines(commands))
	default:
		d.Add(name, OK, "", "a server would run %s", gateLines(commands))
	}
}

// gateLines lists commands with their sources.
func gateLines(commands []gate.Command) string {
	said, last := "", ""
	for _, c := range commands {
		if said != "" {
			said += "; "
		}
		if c.Source != last {
			said += c.Source + ": "
		}
		last = c.Source
		said += c.Line
	}
	return said
}
