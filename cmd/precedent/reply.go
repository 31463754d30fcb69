package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/converse"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newReply(a *app) *cobra.Command {
	o := reviewOptions{format: "text"}
	var review bool
	cmd := &cobra.Command{
		Use:   "reply URL",
		Short: "Answer a comment on a pull request, without a review",
		Long: `Reply obeys the commands in a comment that addresses the reviewer, or answers it,
and posts one answer (docs/comments.md). URL is the page of the comment; that of a
finding's comment answers everything in its conversation, and that of the pull
request everything on it. What was answered before is not answered again.

precedent pr --post does the same for all comments before it reviews.

Exit status: 0 answered, or nothing to answer, 2 usage or configuration error, 3 not
everything was posted.`,
		Example: `  precedent reply https://github.com/owner/name/pull/7#discussion_r1234567
  precedent reply https://github.com/owner/name/pull/7 --review`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.flags = settingFlags(cmd)
			conn, err := a.connectWith(o.flags)
			if err != nil {
				return err
			}
			return a.reply(cmd.Context(), conn, args[0], review, o)
		},
	}
	cmd.Flags().BoolVar(&review, "review", false, "review the pull request if the comment asks for it")
	addAllSettings(cmd, "trusted_branch") // the base of the pull request is
	return cmd
}

// reply answers a comment, and reviews its pull request if both the comment and the caller ask
// for it.
func (a *app) reply(ctx context.Context, conn workspace.Connection, page string, review bool, o reviewOptions) error {
	pr, job, end, err := a.openPull(ctx, conn, page, o)
	if err != nil {
		return err
	}
	defer end()
	publisher, err := pr.Publisher(ctx)
	if err != nil {
		return err
	}
	did, err := converse.Answer(ctx, publisher, job, page)
	if err != nil {
		return err
	}
	if err := a.noticeConversation(did); err != nil {
		return err
	}
	switch {
	case did.Handled == 0:
		a.notice("there is nothing to answer")
	case did.Review && review && !did.Paused:
		job.Again = job.Again || did.Again
		posted, err := publisher.Review(ctx, job, a.postHooks(job, o))
		if err != nil {
			return err
		}
		return statusOf(posted.Status)
	case did.Review:
		a.notice("a review was asked for: precedent pr %d --post", pr.Number)
	}
	return nil
}

// noticeConversation says what was answered. If something was not posted, it is an error.
func (a *app) noticeConversation(did converse.Result) error {
	if did.Handled > 0 {
		a.notice("%s handled, %s posted", plural(did.Handled, "comment"), plural(did.Posted.Replies, "answer"))
	}
	if did.Posted.Left > 0 {
		return hinted(&workspace.Error{
			Err:    fmt.Errorf("answer comments: %s left", plural(did.Posted.Left, "answer")),
			Status: 3,
		}, "run it again: it posts what is left, and nothing twice")
	}
	return nil
}
