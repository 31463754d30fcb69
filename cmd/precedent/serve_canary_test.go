//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
)

// TestCanaryInServer looks for every secret of a server where it does not belong: in logs, also
// with --debug, in the jobs and dead letters of its database, in its other files, in the
// environment of git and in what it posts; over a good round, and while the forge fails and repeats
// what it was sent (T14, T32).
func TestCanaryInServer(t *testing.T) {
	c := newCanary(t, false)
	for _, name := range []string{webhookSecret, webhookSecretOld, serverToken} {
		c.secrets[name] = newSecret()
		c.know(name, c.secrets[name])
		c.app.env[name] = c.secrets[name]
	}
	c.app.env["PRECEDENT_GATES"] = "false"
	c.door.stage.World.Change(func() { c.pull.Labels = []string{"bot-review-needed"} })
	serve := []string{"serve", "--once", "--debug", "--repositories", c.repoName(), "--fail-on", "medium"}
	if status := c.run(serve...); status != 0 {
		t.Fatalf("status %d\n%s", status, c.err.String())
	}
	if len(c.prStage.shown(forge.OnLine)) == 0 {
		t.Fatalf("nothing was posted\n%s", c.err.String())
	}
	c.everywhere()
	c.door.echo = func() string { return strings.Join(c.credentials(), " ") }
	for i, fault := range []forgetest.Fault{
		{Status: 500, Body: echoed},
		{Status: 200, Body: echoed},
	} {
		c.push(fmt.Sprint("again ", i), map[string]string{"src/till.js": fmt.Sprintf("// %d\n", i) + tillFile})
		fault.Times, fault.Skip = 200, 4
		c.door.stage.World.Change(func() { c.pull.Labels = []string{"bot-review-needed"} })
		c.door.stage.Script.Plan(fault)
		c.run(serve...)
		c.door.stage.Script.Forget()
	}
	c.everywhere()
	jobs := 0
	q, end := openServer(t, c.home, "")
	defer end()
	all := needs.Value(q.List(t.Context(), queue.Filter{Limit: 1000}))(t)
	for _, j := range all {
		c.clean("job", fmt.Sprintf("%+v", j))
		if j.Problem != "" {
			jobs++
		}
	}
	if jobs == 0 {
		t.Errorf("no job failed: %+v", all)
	}
}
