package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/eval"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/forge/github"
	"github.com/precedent-dev/precedent/internal/forge/local"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// replay are the options of replay.
type replay struct {
	since, program string
	limit          int
	maxCost        float64
	yes, dryRun    bool
	flags          []string // of precedent review
}

func newReplay(p *program) *cobra.Command {
	var o replay
	cmd := p.measurement(&cobra.Command{
		Use:   "replay [-- FLAG...]",
		Short: "Review merged pull requests again, and compare with what people did",
		Long: `Replay finds the pull requests that were merged into the branch of the working folder,
a clone, and reviews each as it was merged: it runs precedent review with the given
flags, and a memory of its own. First it prints how many requests to the engine that
takes and what they cost, and ends there unless --yes is given. All reviews together
cost at most --max-cost. Nothing is posted or learned.

It counts the findings near which a reviewer commented, within 5 lines, and those
whose lines are different in the merged tree. The comments of the author, of
programs and of the account of the token do not count, and the finders see none.
What people fixed before the last push is not there to be found. Agreement with
comments is not precision: reviewers do not comment on everything, and a comment
nearby may be about something else.

It reads pull requests of GitHub, or of --forge, with GITHUB_TOKEN or GITEA_TOKEN.`,
		Example: `  precedent-eval replay --since 90d
  precedent-eval replay --limit 10 --max-cost 5 --yes -- --engine anthropic`,
		Args: cobra.ArbitraryArgs,
	}, func(cmd *cobra.Command, args []string, _ uint64) (measurement, error) {
		o.flags = args
		r, err := p.replay(cmd.Context(), given(cmd), o)
		return measurement{r, r.Show, o.dryRun || r.Reviewed == len(r.Pulls)}, err
	})
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "90 days ago", "merges since `TIME`, as git log --since takes it")
	f.IntVar(&o.limit, "limit", 20, "at most `N` pull requests, the newest first")
	f.Float64Var(&o.maxCost, "max-cost", 5, "spend at most so many `DOLLARS` in all; 0 for no limit")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the estimate, and send nothing to the engine")
	f.BoolVar(&o.yes, "yes", false, "review even if the engine is asked")
	f.StringVar(&o.program, "program", "precedent", "the `program` that reviews")
	addSettings(cmd, "repo", "forge")
	return cmd
}

// replay reviews merged pull requests again.
func (p *program) replay(ctx context.Context, flags map[string]string, o replay) (*eval.MergedReplay, error) {
	r := &eval.MergedReplay{Pulls: []eval.Merged{}}
	f, repo, err := p.forge(ctx, flags)
	if err != nil {
		return r, err
	}
	pulls, err := p.merged(ctx, f, repo, o)
	if err != nil {
		return r, err
	}
	for i := range pulls {
		r.Pulls = append(r.Pulls, pulls[i].Merged)
	}
	dir, err := os.MkdirTemp("", "precedent-replay-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	run := o.run(append(o.flags, "--memory-db", filepath.Join(dir, "memory.db"), "--json"))
	if err := r.Plan(ctx, run); err != nil {
		return r, err
	}
	cost := "at unknown prices"
	if r.Estimate != nil {
		cost = fmt.Sprintf("about $%.2f", *r.Estimate)
	}
	p.notice("%d merged pull requests, %d requests, %s, without verification", len(r.Pulls), r.Requests, cost)
	switch {
	case o.dryRun:
		return r, nil
	case r.Requests > 0 && !o.yes:
		return r, errors.New("nothing was reviewed: --yes accepts the cost, --dry-run prints only the estimate")
	}
	me, err := f.Me(ctx)
	if err != nil {
		p.notice("comments of the account of the token count as those of a reviewer: %v", err)
	}
	for i := range r.Pulls {
		m := &r.Pulls[i]
		if left := o.maxCost - r.CostUSD; m.Why == "" && o.maxCost > 0 && left <= 0 {
			m.Why = "the limit of the cost is reached"
		} else if m.Why == "" {
			p.notice("#%d, %d of %d", m.Number, i+1, len(r.Pulls))
			err = review(ctx, run, m, max(left, 0), pulls[i], me.ID)
		}
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err != nil {
			m.Why, err = err.Error(), nil
		}
		r.Add(m)
	}
	return r, nil
}

// review reviews a pull request and compares the findings with what people did.
func review(ctx context.Context, run eval.MergedRun, m *eval.Merged, left float64, p merged, me precedent.ForgeID) error {
	r, err := run.Review(ctx, m.Base, m.Head, left)
	if err != nil {
		return err
	}
	m.CostUSD = r.CostUSD
	m.Compare(r, p.comments, p.author, me, func(commit, path string) ([]byte, error) {
		file, err := runGit(ctx, "show", commit+":"+path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return []byte(file), nil
	})
	return nil
}

// merged is a merged pull request with what people said on it.
type merged struct {
	eval.Merged
	author   precedent.ForgeID
	comments []forge.Comment
}

// mergeSubject matches the subjects that forges give to the commits of merges and of squashed pull requests.
var mergeSubject = regexp.MustCompile(`^Merge pull request .*#([0-9]+)|\(#([0-9]+)\)$`)

// merged finds the merged pull requests in the history, and reads them from the forge.
func (p *program) merged(ctx context.Context, f forge.Forge, repo precedent.Repo, o replay) ([]merged, error) {
	log, err := runGit(ctx, "log", "--first-parent", "--since", o.since, "--format=%H %s")
	if err != nil {
		return nil, err
	}
	var all []merged
	for line := range strings.Lines(log) {
		commit, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		match := mergeSubject.FindStringSubmatch(subject)
		if match == nil || len(all) == o.limit {
			continue
		}
		number, err := strconv.Atoi(cmp.Or(match[1], match[2]))
		if err != nil {
			continue
		}
		m := merged{Merged: eval.Merged{Number: number, Commit: commit, Findings: []eval.MergedFinding{}}}
		if err := m.read(ctx, f, repo); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			m.Why = err.Error()
		}
		all = append(all, m)
	}
	return all, nil
}

// read reads the pull request from the forge, and fetches its head.
func (m *merged) read(ctx context.Context, f forge.Forge, repo precedent.Repo) error {
	pull, err := f.PullRequest(ctx, repo, m.Number)
	if err != nil {
		return err
	}
	m.Title, m.author, m.Head = string(pull.Title), pull.Author.ID, pull.Head.SHA
	if m.comments, err = f.Comments(ctx, repo, m.Number); err != nil {
		return err
	}
	if _, err := runGit(ctx, "fetch", "-q", "origin", pull.Ref); err != nil {
		return err
	}
	base, err := runGit(ctx, "merge-base", m.Commit+"^1", m.Head)
	m.Base = strings.TrimSpace(base)
	return err
}

// run runs the program with the flags.
func (o replay) run(flags []string) eval.MergedRun {
	start := func(ctx context.Context, base, head string, into any, more ...string) error {
		args := append([]string{"review", base + ".." + head}, append(more, flags...)...)
		cmd := exec.CommandContext(ctx, o.program, args...)
		var complaint bytes.Buffer
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		if json.Unmarshal(out, into) != nil { // findings end it with status 1
			return fmt.Errorf("%s review: %w: %s", o.program, cmp.Or(err, errors.New("it printed no JSON")), bytes.TrimSpace(complaint.Bytes()))
		}
		return nil
	}
	return eval.MergedRun{
		Estimate: func(ctx context.Context, base, head string) (int, *float64, error) {
			var e struct {
				Requests int
				CostUSD  *float64 `json:"cost_usd"`
			}
			err := start(ctx, base, head, &e, "--estimate")
			return e.Requests, e.CostUSD, err
		},
		Review: func(ctx context.Context, base, head string, usd float64) (*precedent.Review, error) {
			r := &precedent.Review{}
			if usd == 0 {
				return r, start(ctx, base, head, r)
			}
			return r, start(ctx, base, head, r, "--max-cost", strconv.FormatFloat(usd, 'f', 2, 64))
		},
	}
}

// forge connects to the forge of the settings, and returns the repository there.
func (p *program) forge(ctx context.Context, flags map[string]string) (forge.Forge, precedent.Repo, error) {
	s, err := p.settings(flags)
	if err != nil {
		return nil, precedent.Repo{}, err
	}
	repo := s.Repo.Value
	if repo.IsZero() {
		remote, err := runGit(ctx, "remote", "get-url", "origin")
		if err != nil {
			return nil, repo, err
		}
		if repo, err = s.Forge.Value.Remote(strings.TrimSpace(remote)); err != nil {
			return nil, repo, err
		}
	}
	at := s.Forge.Value.At
	network := wire.Network{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}
	switch s.Forge.Value.Kind {
	case forge.Local:
		f, err := local.New(local.Options{Dir: at, Git: p.gitOptions()})
		return f, repo, err
	case forge.Gitea:
		token, err := wire.NewToken(p.env["GITEA_TOKEN"])
		if err != nil {
			return nil, repo, err
		}
		f, err := gitea.New(gitea.Options{BaseURL: at, Token: token, Network: network})
		return f, repo, err
	}
	token, err := wire.NewToken(cmp.Or(p.env["GITHUB_TOKEN"], p.env["GH_TOKEN"]))
	if err != nil {
		return nil, repo, err
	}
	f, err := github.New(github.Options{BaseURL: cmp.Or(at, p.env["GITHUB_API_URL"]), Token: token, Network: network})
	return f, repo, err
}

// runGit runs git in the working folder and returns its output.
func runGit(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return string(out), err
}
