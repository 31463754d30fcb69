package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
)

const (
	// maxPushed is how many refs of one push are reviewed: a mirror has thousands.
	maxPushed = 20
	// maxPushLines is how much git may say about a push, in bytes.
	maxPushLines = 8 << 20
)

// newHookPrePush is what the hook starts.
func newHookPrePush(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "hook-pre-push REMOTE URL",
		Short:   "Review what a push would send, as the hook of install-hook does",
		Example: "  precedent hook-pre-push origin https://example.com/app.git < refs.txt",
		Hidden:  true,
		Args:    between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			pushed, err := readPushed(a.in)
			if err != nil {
				a.notice("%v; nothing was reviewed", err)
				return nil
			}
			return a.reviewPush(cmd.Context(), args[0], pushed)
		},
	}
}

// pushed is one ref of a push, as git tells its hook; see githooks(5).
type pushed struct{ localRef, local, remote string }

var objectID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// readPushed reads what git tells. What a push deletes is left out.
func readPushed(in io.Reader) ([]pushed, error) {
	var all []pushed
	lines := bufio.NewScanner(io.LimitReader(in, maxPushLines))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 4 || !objectID.MatchString(f[1]) || !objectID.MatchString(f[3]) {
			return nil, fmt.Errorf("read push: %q is not what git tells a hook", lines.Text())
		}
		if isNone(f[1]) {
			continue
		}
		all = append(all, pushed{localRef: f[0], local: f[1], remote: f[3]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read push: %w", err)
	}
	return all, nil
}

func isNone(id string) bool { return strings.Trim(id, "0") == "" }

// reviewPush reviews every ref of a push. Only findings stop it: whatever goes
// wrong is said.
func (a *app) reviewPush(ctx context.Context, remote string, all []pushed) error {
	here := *a
	here.out = a.err // git may be read by a program
	blocked := false
	seen := map[git.Spec]bool{}
	for i, ref := range all {
		if i == maxPushed {
			a.notice("%d more refs were not reviewed", len(all)-maxPushed)
			break
		}
		spec, err := a.pushRange(ctx, remote, ref)
		if err == nil && (spec == git.Spec{} || seen[spec]) {
			continue
		}
		seen[spec] = true
		if err == nil {
			a.notice("review of %s, which would be pushed to %s", ref.localRef, remote)
			err = here.review(ctx, reviewOptions{spec: spec, format: "text", flags: map[string]string{}})
		}
		var status exitStatus
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return err
		case errors.As(err, &status) && int(status) == precedent.ExitFindings:
			blocked = true
		case errors.As(err, &status):
			a.notice("the review of %s is incomplete; the push goes on", ref.localRef)
		default:
			a.complain(err)
			a.notice("%s was not reviewed; the push goes on", ref.localRef)
		}
	}
	if !blocked {
		return nil
	}
	return &fault{
		err:  errors.New("the push is stopped by what the review found"),
		hint: "fix it, or: precedent dismiss ID; git push --no-verify pushes without a review", status: precedent.ExitFindings,
	}
}

// pushRange is what of a ref the remote does not have yet; the zero Spec if
// that is nothing. Of a new ref, it is what the ref adds to the remote's default
// branch, as it was last fetched; with nothing known of any remote, everything.
func (a *app) pushRange(ctx context.Context, remote string, ref pushed) (git.Spec, error) {
	if ref.local == ref.remote {
		return git.Spec{}, nil
	}
	repo, err := a.openRepo(ctx)
	if err != nil {
		return git.Spec{}, err
	}
	defer repo.Close()
	bases := []string{}
	if !isNone(ref.remote) {
		bases = append(bases, ref.remote)
	}
	for _, name := range []string{remote, "origin", "upstream"} {
		base, err := repo.DefaultBranch(ctx, name)
		if err != nil {
			return git.Spec{}, err
		}
		if base != "" {
			bases = append(bases, base)
		}
	}
	var failed error
	for _, base := range bases {
		spec := git.Spec{Range: base + "..." + ref.local}
		rg, err := repo.Resolve(ctx, spec)
		switch {
		case ctx.Err() != nil:
			return git.Spec{}, err
		case err != nil: // not fetched, or without a common ancestor
			failed = err
		case rg.Base == rg.Head:
			return git.Spec{}, nil
		default:
			return spec, nil
		}
	}
	if len(bases) == 0 {
		return git.Spec{Whole: ref.local}, nil
	}
	return git.Spec{}, failed
}
