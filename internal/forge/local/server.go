package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
)

// states maps the results in checks.json. "pending" is for people, who may write what a CI would report.
var states = map[forge.CheckResult]forge.CheckState{
	forge.Success: forge.CheckPassed, forge.Failure: forge.CheckFailed, forge.Neutral: forge.CheckSkipped, forge.Incomplete: forge.CheckFailed,
	"pending": forge.CheckPending,
}

// Checks lists what checks.json has of a commit.
func (f *Forge) Checks(ctx context.Context, repo precedent.Repo, commit string) ([]forge.CommitCheck, error) {
	doing := "list checks in " + repo.String()
	r, err := f.readRepo(ctx, repo)
	if err != nil {
		return nil, fail(doing, err)
	}
	if !objectID().MatchString(commit) {
		return nil, fail(doing, &forge.Error{Kind: forge.KindRefused, Msg: "not a commit id"})
	}
	var stored checks
	if err := f.read("checks.json", &stored); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fail(doing, err)
	}
	var all []forge.Report
	for i, c := range stored.Checks {
		if c.Commit != commit {
			continue
		}
		state, ok := states[c.Result]
		if !ok {
			return nil, fail(doing, invalidFile("checks.json: unknown result %q", c.Result))
		}
		all = append(all, forge.Report{Number: int64(i), CommitCheck: forge.CommitCheck{
			Name: c.Name, State: state, URL: c.URL, Started: c.At.UTC(), Own: c.Name == forge.CheckName && c.By.ID == r.Me.ID,
		}})
	}
	return forge.NewestChecks(all), nil
}

// Repositories returns the repository of the folder, if its owner is asked for and the account may write.
func (f *Forge) Repositories(ctx context.Context, owner string) ([]precedent.Repo, error) {
	const doing = "list repositories"
	if err := ctx.Err(); err != nil {
		return nil, fail(doing, err)
	}
	if owner != "" && !isName(owner) {
		return nil, fail(doing, &forge.Error{Kind: forge.KindRefused, Msg: "not a valid name of an owner"})
	}
	r, err := f.repository()
	if err != nil {
		return nil, fail(doing, err)
	}
	if r.Archived || !r.mayWrite() || owner != "" && !strings.EqualFold(owner, r.Owner) {
		return nil, nil
	}
	return []precedent.Repo{r.id()}, nil
}

// mayWrite tells whether the account that posts may write.
func (r repository) mayWrite() bool {
	return slices.ContainsFunc(r.Members, func(m member) bool { return m.ID == r.Me.ID && m.Permission.MayWrite() })
}

// Pushable tells why nothing is pushed to a branch: also if there is no git repository.
func (f *Forge) Pushable(ctx context.Context, repo precedent.Repo, branch string) (forge.Unsupported, error) {
	doing := fmt.Sprintf("look up the branch %q of %s", branch, repo)
	r, err := f.readRepo(ctx, repo)
	if err != nil {
		return "", fail(doing, err)
	}
	switch {
	case !forge.IsBranch(branch):
		return "", fail(doing, &forge.Error{Kind: forge.KindRefused, Msg: "not a valid name of a branch"})
	case r.Archived:
		return forge.NotPushable(repo, branch, "the repository is archived"), nil
	case !r.mayWrite():
		return forge.NotPushable(repo, branch, "repo.json does not let the account write"), nil
	case r.Git == "":
		return forge.NotPushable(repo, branch, "the folder has no git repository"), nil
	case slices.Contains(r.Protected, branch):
		return forge.NotPushable(repo, branch, "it is protected"), nil
	}
	initial, err := headBranch(r.Git)
	if err != nil {
		return "", fail(doing, err)
	}
	if branch == initial {
		return forge.NotPushable(repo, branch, "it is the default branch"), nil
	}
	h, err := f.history(ctx, r)
	if err != nil {
		return "", fail(doing, err)
	}
	defer h.close()
	if _, err := h.repo.Resolve(ctx, git.Spec{Whole: "refs/heads/" + branch}); err != nil {
		return "", fail(doing, &forge.Error{Kind: forge.KindNotFound, Msg: "the branch does not exist"})
	}
	return "", nil
}

// headBranch returns the branch that HEAD of a repository names; empty for none.
func headBranch(dir string) (string, error) {
	file, err := os.Open(filepath.Join(dir, "HEAD"))
	if errors.Is(err, os.ErrNotExist) {
		file, err = os.Open(filepath.Join(dir, ".git", "HEAD"))
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil {
		return "", err
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/")
	if !ok {
		return "", nil
	}
	return branch, nil
}

// noHooks is why there are no webhooks.
const noHooks forge.Unsupported = "a folder has no webhooks"

// Deliveries is not supported.
func (f *Forge) Deliveries(context.Context, precedent.Repo, string, time.Time) ([]forge.HookDelivery, forge.Unsupported, error) {
	return nil, noHooks, nil
}

// Redeliver is not supported.
func (f *Forge) Redeliver(context.Context, precedent.Repo, forge.HookDelivery) (forge.Unsupported, error) {
	return noHooks, nil
}

// VerifyHook refuses every request: a folder sends none.
func (f *Forge) VerifyHook(http.Header, []byte, []string) (forge.HookHeader, error) {
	return forge.HookHeader{}, forge.ErrUnsigned
}
