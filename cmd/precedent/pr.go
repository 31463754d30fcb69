package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func newPR(a *app) *cobra.Command {
	o := reviewOptions{format: "text"}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pr [NUMBER|URL]",
		Short: "Review a pull request, and post the review",
		Long: `Pr reads a pull request on GitHub, Gitea or Forgejo, reviews it like a local
change, prints what it found, and remembers it. With --post it writes the review
to the forge: one summary that later reviews update, and a comment on the line of
each new finding. It never approves.

A NUMBER is one of the repository whose clone this is, or of --repo. Without one,
in a workflow of GitHub or Gitea, it is the pull request of the event. The commits
are fetched with git: in a clone they rest on what it has, elsewhere they are kept
in the cache folder. No checkout is made, and the clone is not changed. Guide and
policy are those of the base, and people's comments are read.

After a push --post reviews what the push touched, says nothing twice, answers
its open threads, and closes those that are fixed. A review that stands at the
head already is not made again; --again makes it.

The token is GITHUB_TOKEN or GH_TOKEN, GITEA_TOKEN for Gitea and Forgejo; public
repositories can be read without one. PRECEDENT_GITHUB_APP_ID with
PRECEDENT_GITHUB_APP_KEY posts as a GitHub App.

Exit status: 0 clean, 1 findings at or above --fail-on, 2 usage or configuration
error, or no such pull request, 3 not everything was read or posted.`,
		Example: `  precedent pr 7
  precedent pr 7 --post
  precedent pr https://github.com/owner/name/pull/7 --format markdown
  precedent pr 7 --repo github.com/owner/name --json
  precedent pr 7 --forge gitea:https://git.example.org --post`,
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := chooseFormat(cmd, &o.format, asJSON); err != nil {
				return err
			}
			if o.post && o.dry {
				return misuse(cmd, errors.New("--estimate sends nothing, and --post posts"))
			}
			if o.again && !o.post {
				return misuse(cmd, errors.New("--again is for --post; without it every review is made anew"))
			}
			o.flags = settingFlags(cmd)
			st, err := a.stationOf(o.flags)
			if err != nil {
				return err
			}
			which := ""
			if len(args) == 1 {
				which = args[0]
			}
			return a.pr(cmd.Context(), st, which, o)
		},
	}
	f := cmd.Flags()
	addFormat(cmd, &o.format)
	f.BoolVar(&o.post, "post", false, "post the review to the pull request")
	f.BoolVar(&o.again, "again", false, "with --post: read everything again, also if a review stands at this head")
	f.BoolVar(&o.resume, "resume", false, "go on from the answers that an unfinished review of this change has paid for")
	f.BoolVar(&o.dry, "estimate", false, "print what would be sent, the tokens and the cost, and send nothing")
	f.BoolVar(&asJSON, "json", false, "print as JSON: --format json")
	addAllSettings(cmd)
	return cmd
}

// pr reviews a pull request, and posts the review if that is asked for.
func (a *app) pr(ctx context.Context, st *station, which string, o reviewOptions) error {
	d, number, err := a.pullDesk(ctx, st, which, o.flags)
	if err != nil {
		return err
	}
	defer d.close()
	reader, err := a.reader(d.op)
	if err != nil {
		return err
	}
	if err := d.rememberIfPossible(ctx, a); err != nil {
		return err
	}
	writer, err := a.writer(st, d.named, number)
	if err != nil {
		return err
	}
	if o.post {
		o.publish = &publication{app: a, station: st, desk: d, number: number, writer: writer}
		if done, err := o.publish.finish(ctx, o, reader.reads()); done || err != nil {
			return err
		}
	}
	s, err := a.fetchPull(ctx, st, d, number, errand{writer: writer, posts: o.post, engine: reader.reads()})
	if err != nil {
		return err
	}
	defer s.pull.history.close()
	if o.again {
		s.pull.history.since = nil
	}
	g, err := a.gatherFrom(ctx, d.workspace, s)
	if err != nil {
		return err
	}
	defer g.close()
	s.pull.history.recheck(g.input.Guide.Rules)
	if o.publish != nil {
		o.publish.pull = s.pull
	}
	return a.conclude(ctx, d.workspace, g, reader, o)
}

// pullDesk finds out which pull request is meant, and opens the workspace for it.
func (a *app) pullDesk(ctx context.Context, st *station, which string, flags map[string]string) (*desk, int, error) {
	named, number, err := a.whichPull(ctx, st, which)
	if err != nil {
		return nil, 0, err
	}
	d, err := a.desk(ctx, flags, named)
	if err != nil {
		return nil, 0, err
	}
	if d.named.Host != st.Host() {
		d.close()
		return nil, 0, hinted(fmt.Errorf("%s is not on %s, where pull requests are read", d.named, st.Host()), "%s", elsewhere)
	}
	return d, number, nil
}

// elsewhere is what helps when a pull request is on another forge.
const elsewhere = "name the forge: --forge github:https://HOST/api/v3 for GitHub Enterprise, --forge gitea:https://HOST for Gitea and Forgejo"
