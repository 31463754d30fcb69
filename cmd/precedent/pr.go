package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/github"
)

func newPR(a *app) *cobra.Command {
	o := reviewOptions{format: "text"}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pr NUMBER|URL",
		Short: "Review a pull request",
		Long: `Pr reads a pull request on GitHub, reviews it like a local change, prints what it
found, and remembers it. It writes nothing to GitHub.

A NUMBER is one of the repository whose clone this is, or of --repo. The commits
are fetched with git: in a clone they rest on what it has, elsewhere they are kept
in the cache folder. No checkout is made, and the clone is not changed. Guide and
policy are those of the base, and people's comments are read.

The token is GITHUB_TOKEN or GH_TOKEN; public repositories need none. For GitHub
Enterprise, GITHUB_API_URL says where it is: https://HOST/api/v3.

Exit status: 0 clean, 1 findings at or above --fail-on, 2 usage or configuration
error, or no such pull request, 3 not everything was read.`,
		Example: `  precedent pr 7
  precedent pr https://github.com/owner/name/pull/7 --format markdown
  precedent pr 7 --repo github.com/owner/name --json`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := chooseFormat(cmd, &o.format, asJSON); err != nil {
				return err
			}
			o.flags = knobFlags(cmd)
			f, token, err := a.github()
			if err != nil {
				return err
			}
			return a.pr(cmd.Context(), f, token, args[0], o)
		},
	}
	f := cmd.Flags()
	addFormat(cmd, &o.format)
	f.BoolVar(&o.resume, "resume", false, "go on from the answers that an unfinished review of this change has paid for")
	f.BoolVar(&o.dry, "estimate", false, "print what would be sent, the tokens and the cost, and send nothing")
	f.BoolVar(&asJSON, "json", false, "print as JSON: --format json")
	addKnobs(cmd, knobs...)
	return cmd
}

// github is the forge that the environment names, and the token for it.
func (a *app) github() (forge.Forge, string, error) {
	const variable = "GITHUB_API_URL"
	secret := strings.TrimSpace(or(a.env["GITHUB_TOKEN"], a.env["GH_TOKEN"]))
	token, err := github.NewToken(secret)
	if err != nil {
		return nil, "", hinted(fmt.Errorf("GITHUB_TOKEN or GH_TOKEN: %w", err), "make a new one in GitHub's settings")
	}
	f, err := github.New(github.Options{BaseURL: a.env[variable], Token: token, Now: a.now})
	if err != nil {
		return nil, "", hinted(err, "set %s to https://HOST/api/v3, or leave it unset for github.com", variable)
	}
	return f, secret, nil
}

// pr reviews a pull request. The token is for git.
func (a *app) pr(ctx context.Context, f forge.Forge, token, which string, o reviewOptions) error {
	named, number, err := parsePull(which, f.Host())
	if err != nil {
		return err
	}
	d, err := a.desk(ctx, o.flags, named)
	if err != nil {
		return err
	}
	defer d.close()
	if d.named.Host != f.Host() {
		return hinted(fmt.Errorf("%s is not on %s, where pull requests are read", d.named, f.Host()), "for GitHub Enterprise set GITHUB_API_URL to https://HOST/api/v3; else name the pull request by its URL")
	}
	reader, err := a.reader(d.op)
	if err != nil {
		return err
	}
	s, err := a.fetchPull(ctx, f, token, d, number)
	if err != nil {
		return err
	}
	g, err := a.gatherFrom(ctx, d.workspace, s)
	if err != nil {
		return err
	}
	defer g.close()
	return a.conclude(ctx, d.workspace, g, reader, o)
}

// parsePull reads a number, or the address of a page of a pull request.
func parsePull(which, host string) (precedent.Repo, int, error) {
	wrong := func() (precedent.Repo, int, error) {
		return precedent.Repo{}, 0, hinted(fmt.Errorf("%q is no pull request", which), "give its number, or its URL: https://%s/owner/name/pull/7", host)
	}
	number := which
	var repo precedent.Repo
	if strings.Contains(which, "/") {
		u, err := url.Parse(which)
		if err != nil || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
			return wrong()
		}
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		if len(parts) < 4 || parts[2] != "pull" {
			return wrong()
		}
		if repo, err = precedent.ParseRepo(u.Scheme + "://" + u.Host + "/" + parts[0] + "/" + parts[1]); err != nil {
			return wrong()
		}
		if repo.Host != host {
			return repo, 0, hinted(fmt.Errorf("%s is not on %s, where pull requests are read", which, host), "for GitHub Enterprise set GITHUB_API_URL to https://HOST/api/v3")
		}
		number = parts[3]
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(number, "#"), 10, 32)
	if err != nil || n <= 0 {
		return wrong()
	}
	return repo, int(n), nil
}
