package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/round"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newPR(a *app) *cobra.Command {
	o := reviewOptions{format: "text"}
	cmd := &cobra.Command{
		Use:   "pr [NUMBER|URL]",
		Short: "Review a pull request, and optionally post the review",
		Long: `Pr reads a pull request on GitHub, Gitea or Forgejo, reviews it like a local
change, prints the findings, and stores them in the memory. With --post it writes
the review to the forge: one summary that later reviews update, and a comment on
the lines of each new finding. It never approves.

A NUMBER belongs to the repository of this clone, or to --repo. Without an argument,
in a workflow on GitHub or Gitea, pr uses the pull request of the event. It fetches
the commits with git. In a clone it uses the objects that are there; elsewhere it
keeps the commits in the cache folder. It checks nothing out and does not change the
clone. It uses guide and policy of the base, and reads people's comments. With --post
it first obeys the commands in them and answers (docs/comments.md); on the event of a
comment that is all, unless the comment asks for a review.

After a push, --post reviews what the push changed, answers open threads, resolves
those that are fixed, and repeats nothing. If the head was reviewed already, nothing
is done; --again reviews it again.

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
			if err := a.chooseFormat(cmd, &o.format); err != nil {
				return err
			}
			if o.post && o.estimate {
				return misuse(cmd, errors.New("--estimate and --post cannot be used together"))
			}
			if o.again && !o.post {
				return misuse(cmd, errors.New("--again requires --post; without it every review reads everything"))
			}
			o.flags = settingFlags(cmd)
			conn, err := a.connectWith(o.flags)
			if err != nil {
				return err
			}
			return a.pr(cmd.Context(), conn, strings.Join(args, ""), o)
		},
	}
	f := cmd.Flags()
	addFormat(cmd, &o.format)
	f.BoolVar(&o.post, "post", false, "post the review to the pull request")
	f.BoolVar(&o.again, "again", false, "with --post: read everything again, even if this head was reviewed already")
	f.BoolVar(&o.resume, "resume", false, "continue an unfinished review of this change with the answers that it paid for")
	f.BoolVar(&o.estimate, "estimate", false, "print what would be sent, the tokens and the cost, and send nothing")
	f.BoolVar(&a.json, "json", false, "print as JSON: --format json")
	addAllSettings(cmd, "trusted_branch", "memory_ref") // the base of the pull request is
	return cmd
}

// pr reviews a pull request, and posts the review if o.post is set.
func (a *app) pr(ctx context.Context, conn workspace.Connection, which string, o reviewOptions) error {
	pr, job, end, err := a.openPull(ctx, conn, which, o)
	if err != nil {
		return err
	}
	defer end()
	if o.post {
		return a.postReview(ctx, pr, job, o, which == "" && a.isCommentEvent())
	}
	p, err := pr.Prepare(ctx, job)
	if err != nil {
		return err
	}
	defer p.Close()
	if o.estimate {
		return a.printEstimate(ctx, p.Prepared, o.format == "json")
	}
	made, err := a.runReview(ctx, p.Prepared, o.format)
	if err != nil {
		return err
	}
	a.wakeAfter(ctx, p.Prepared, made, job, o.flags)
	return statusOf(made.Status)
}

// openPull reads a pull request, and returns what its review needs; end closes it.
func (a *app) openPull(ctx context.Context, conn workspace.Connection, which string,
	o reviewOptions,
) (pr *pull.Pull, job run.Job, end func(), err error) {
	op, err := a.settings(o.flags)
	if err != nil {
		return nil, job, nil, err
	}
	repo, number, event, err := a.pullRepository(ctx, conn, which, op)
	if err != nil {
		return nil, job, nil, err
	}
	if job, err = a.job(op, o); err == nil {
		pr, err = pull.Read(ctx, a.workflow(), conn, repo, number)
	}
	if err != nil {
		repo.Close()
		return nil, job, nil, err
	}
	pr.ApplyEvent(ctx, event)
	return pr, job, func() { pr.Close(); repo.Close() }, nil
}

// postReview answers the comments on a pull request, reviews it, and posts the review. One that
// is paused is not reviewed, nor is one whose comments alone are asked about, unless they ask for
// it.
func (a *app) postReview(ctx context.Context, pr *pull.Pull, job run.Job, o reviewOptions, onlyComments bool) error {
	publisher, err := pr.Publisher(ctx)
	if err != nil {
		return err
	}
	did, err := round.Post(ctx, publisher, job, onlyComments, a.noticeConversation, a.postHooks(job, o))
	if err != nil {
		return err
	}
	return statusOf(did.Status)
}

func (a *app) postHooks(job run.Job, o reviewOptions) pull.Hooks {
	return pull.Hooks{
		Existing: func(r run.Result) error { return a.print(o.format, r.Review, r.Style) },
		Run: func(ctx context.Context, p *run.Prepared) (run.Result, error) {
			return a.runReview(ctx, p, o.format)
		},
		Posted: func(ctx context.Context, p *run.Prepared, made run.Result) {
			a.wakeAfter(ctx, p, made, job, o.flags)
		},
	}
}

// pullRepository opens the repository of a pull request, and returns its number.
func (a *app) pullRepository(ctx context.Context, conn workspace.Connection, which string,
	op *settings.Settings,
) (*pull.Repository, int, forge.Event, error) {
	named, number, event, err := a.whichPull(ctx, conn, which)
	if err != nil {
		return nil, 0, event, err
	}
	repo, err := a.openPullRepository(ctx, conn, named, op)
	return repo, number, event, err
}

// openPullRepository opens the named repository, which is on the forge; the zero Repo stands for
// that of the clone.
func (a *app) openPullRepository(ctx context.Context, conn workspace.Connection, named precedent.Repo,
	op *settings.Settings,
) (*pull.Repository, error) {
	at, err := a.location(op)
	if err != nil {
		return nil, err
	}
	repo, err := pull.OpenRepository(ctx, a.workflow(), at, named)
	if err != nil {
		return nil, err
	}
	if repo.Repo.Host != conn.Host() {
		repo.Close()
		return nil, hinted(fmt.Errorf("%s is not on %s", repo.Repo, conn.Host()), "%s", otherForgeHint)
	}
	return repo, nil
}

// otherForgeHint is the hint for a pull request on another forge.
const otherForgeHint = "set the forge: --forge github:https://HOST/api/v3 for GitHub Enterprise, --forge gitea:https://HOST for Gitea and Forgejo"
