package local

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// maxChecks bounds the checks that are kept; the oldest are dropped.
const maxChecks = 1000

// checks is checks.json: one check for each name and commit, oldest first.
type checks struct {
	Checks []check `json:"checks"`
}

type check struct {
	Name   string            `json:"name"`
	Commit string            `json:"commit"`
	Review string            `json:"review"`
	Result forge.CheckResult `json:"result"`
	Title  string            `json:"title"`
	Body   string            `json:"body,omitempty"`
	URL    string            `json:"url,omitempty"`
	By     person            `json:"by"`
	At     time.Time         `json:"at"`
}

// Check writes the result of a review to checks.json.
func (f *Forge) Check(ctx context.Context, repo precedent.Repo, c forge.Check) (forge.Unsupported, error) {
	doing := "set check in " + repo.String()
	r, err := f.readRepo(ctx, repo)
	if err != nil {
		return "", fail(doing, err)
	}
	me, err := f.me()
	switch {
	case err != nil:
	case r.Archived:
		err = &forge.Error{Kind: forge.KindClosed, Msg: "the repository is archived"}
	case c.Name == "" || c.Title == "" || strings.ContainsAny(c.Name+c.Title, "\r\n"):
		err = invalid("a check needs a name and a title of one line each")
	case !objectID().MatchString(c.Commit):
		err = invalid("not a commit id")
	case !slices.Contains([]forge.CheckResult{forge.Success, forge.Failure, forge.Neutral, forge.Incomplete}, c.Result):
		err = invalid("unknown result %q", c.Result)
	case utf8.RuneCountInString(c.Body) > forge.MaxPost:
		err = invalid("the text has more than %d characters", forge.MaxPost)
	}
	if err != nil {
		return "", fail(doing, err)
	}
	return "", fail(doing, updateFile(ctx, f, "checks.json", func(all *checks) error {
		all.Checks = slices.DeleteFunc(all.Checks, func(o check) bool { return o.Name == c.Name && o.Commit == c.Commit })
		all.Checks = append(all.Checks, check{
			Name: c.Name, Commit: c.Commit, Review: c.Review, Result: c.Result, Title: c.Title, Body: c.Body, URL: c.URL,
			By: fileAccount(me), At: f.now().UTC(),
		})
		all.Checks = all.Checks[max(0, len(all.Checks)-maxChecks):]
		return nil
	}))
}
