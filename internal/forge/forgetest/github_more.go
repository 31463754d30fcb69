package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
)

// knows reports whether a commit is in the repository, as far as its pull requests tell.
func (r *Repo) knows(commit string) bool {
	for _, p := range r.Pulls {
		if _, ok := p.diffAt(commit); ok || p.Base.SHA == commit {
			return true
		}
	}
	return false
}

// checkIn is a check run as it is sent; nil means absent.
type checkIn struct {
	Name        *string
	HeadSHA     string  `json:"head_sha"`
	ExternalID  *string `json:"external_id"`
	DetailsURL  *string `json:"details_url"`
	Status      *string
	Conclusion  *string
	CompletedAt *time.Time `json:"completed_at"`
	Output      *struct{ Title, Summary, Text string }
}

// put updates a check run.
func (in *checkIn) put(k *Check, now time.Time) *reply {
	for _, f := range []struct {
		from *string
		to   *string
	}{
		{in.Name, &k.Name},
		{in.ExternalID, &k.External},
		{in.DetailsURL, &k.URL},
		{in.Status, &k.Status},
		{in.Conclusion, &k.Conclusion},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if in.Conclusion != nil {
		k.Status, k.Completed = "completed", now
	}
	if in.Output != nil {
		k.Title, k.Summary, k.Text = in.Output.Title, in.Output.Summary, in.Output.Text
	}
	if len(k.Summary) > 65_535 {
		out := invalid("Validation Failed", field("CheckRun", "summary", "summary exceeds a maximum bytesize of 65535"))
		return &out
	}
	if k.Status == "completed" && k.Conclusion == "" {
		out := invalid("Invalid request.\n\n\"conclusion\" wasn't supplied.")
		return &out
	}
	return nil
}

func (g *GitHub) createCheck(c *call) reply {
	var in checkIn
	switch bad := c.read(&in); {
	case bad != nil:
		return *bad
	case !c.app: // only apps have checks
		return g.denied(c)
	case !c.repo.knows(in.HeadSHA):
		return invalid("No commit found for SHA: " + in.HeadSHA)
	}
	now := g.stage.Clock.Now().Truncate(time.Second)
	k := Check{Commit: in.HeadSHA, Status: "queued", By: c.who, Started: now, written: g.stage.Clock.Now()}
	if bad := in.put(&k, now); bad != nil {
		return *bad
	}
	k.ID = g.stage.World.next()
	c.repo.Checks = append(c.repo.Checks, k)
	return reply{status: http.StatusCreated, body: g.checkJSON(c, k)}
}

func (g *GitHub) check(c *call, do func(*Check) reply) reply {
	i := slices.IndexFunc(c.repo.Checks, func(k Check) bool { return k.ID == c.number("id") })
	if i < 0 {
		return problem(http.StatusNotFound, "Not Found")
	}
	return do(&c.repo.Checks[i])
}

func (g *GitHub) updateCheck(c *call) reply {
	var in checkIn
	if bad := c.read(&in); bad != nil {
		return *bad
	}
	return g.check(c, func(k *Check) reply {
		switch {
		case !c.app:
			return g.denied(c)
		case k.By.ID != c.who.ID:
			return problem(http.StatusForbidden,
				"Invalid app_id `1` - check run can only be modified by the GitHub App that created it.")
		case k.Job:
			return problem(http.StatusForbidden, "Check run status and conclusions can only be updated internally by GitHub Actions")
		}
		changed := *k
		if bad := in.put(&changed, g.stage.Clock.Now().Truncate(time.Second)); bad != nil {
			return *bad
		}
		*k = changed
		return reply{status: http.StatusOK, body: g.checkJSON(c, changed)}
	})
}

// checks lists the check runs of a commit: the last of each name and suite, or all.
func (g *GitHub) checks(c *call) reply {
	if no := c.lacks("checks"); no != nil {
		return *no
	}
	q := c.URL.Query()
	var found []Check
	for _, k := range c.repo.Checks {
		if k.Commit != c.PathValue("ref") || q.Get("check_name") != "" && q.Get("check_name") != k.Name ||
			!g.stage.World.shows(k.written, fault(c.Request).LagFor) {
			continue
		}
		if q.Get("filter") != "all" {
			found = slices.DeleteFunc(found, func(old Check) bool {
				return old.Name == k.Name && old.Suite == k.Suite && old.By.ID == k.By.ID
			})
		}
		found = append(found, k)
	}
	all := []any{}
	for _, k := range slices.Backward(found) { // the newest first
		all = append(all, g.checkJSON(c, k))
	}
	return g.pageOf(c.Request, all, func(part []any, whole int) any {
		return object{"total_count": whole, "check_runs": part}
	})
}

func (g *GitHub) checkJSON(c *call, k Check) object {
	out := object{
		"id": k.ID, "head_sha": k.Commit, "name": k.Name, "status": k.Status, "conclusion": nil,
		"started_at": k.Started.Format(time.RFC3339), "check_suite": object{"id": k.Suite},
		"html_url": fmt.Sprintf("%s/%s/%s/runs/%d", g.URL, c.repo.Owner, c.repo.Name, k.ID),
		"app":      object{"id": k.By.ID.Number(), "slug": strings.TrimSuffix(k.By.Login, "[bot]")},
	}
	if k.Conclusion != "" {
		out["conclusion"] = k.Conclusion
	}
	if k.Job {
		out["html_url"] = fmt.Sprintf("%s/%s/%s/actions/runs/1/job/%d", g.URL, c.repo.Owner, c.repo.Name, k.ID)
	}
	return out
}

func (g *GitHub) inlineReactions(c *call) reply  { return g.reactions(c, forge.OnLine) }
func (g *GitHub) commentReactions(c *call) reply { return g.reactions(c, forge.OnThread) }

func (g *GitHub) reactions(c *call, kind forge.CommentKind) reply {
	return g.one(c, kind, func(p *Pull, m *forge.Comment) reply {
		all := []any{}
		for _, r := range p.Reactions[forge.CommentRef{Kind: kind, ID: m.ID}] {
			all = append(all, object{"user": user(r.Who), "content": r.Content, "created_at": Epoch.Format(time.RFC3339)})
		}
		return g.page(c.Request, all)
	})
}

// What GitHub gives of files, by docs.github.com/repositories/creating-and-managing-repositories/repository-limits
// and the description of the endpoint.
const (
	mostFiles      = 3000
	mostPatchBytes = 500_000
	mostPatchLines = 20_000
)

// files lists the changed files. Those that are binary or too large have no patch.
func (g *GitHub) files(c *call) reply {
	change := parse(c.pull.Diff)
	texts := sections(c.pull.Diff)
	all := []any{}
	for i, f := range change.Files {
		if i == mostFiles {
			break
		}
		status := map[diff.Status]string{
			diff.Added: "added", diff.Deleted: "removed", diff.Renamed: "renamed", diff.Copied: "copied",
		}[f.Status]
		if status == "" {
			status = "modified"
		}
		added, removed := 0, 0
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				switch l.Op {
				case diff.Add:
					added++
				case diff.Delete:
					removed++
				}
			}
		}
		out := object{
			"sha": f.NewBlob, "filename": f.Path, "status": status, "additions": added, "deletions": removed,
			"changes": added + removed, "blob_url": "", "raw_url": "", "contents_url": "",
		}
		if f.OldPath != "" && f.OldPath != f.Path {
			out["previous_filename"] = f.OldPath
		}
		if i < len(texts) {
			if _, hunks, ok := strings.Cut(texts[i], "\n@@ "); ok && len(hunks) <= mostPatchBytes &&
				strings.Count(hunks, "\n") <= mostPatchLines {
				out["patch"] = "@@ " + strings.TrimSuffix(hunks, "\n")
			}
		}
		all = append(all, out)
	}
	return g.page(c.Request, all)
}

// sections splits a diff into files.
func sections(patch string) []string {
	const header = "diff --git "
	parts := strings.Split("\n"+patch, "\n"+header)
	return parts[1:]
}

func (g *GitHub) oneInline(c *call) reply  { return g.shown(c, forge.OnLine) }
func (g *GitHub) oneComment(c *call) reply { return g.shown(c, forge.OnThread) }

// shown returns the comment that the path names.
func (g *GitHub) shown(c *call, kind forge.CommentKind) reply {
	return g.one(c, kind, func(p *Pull, m *forge.Comment) reply {
		return reply{status: http.StatusOK, body: g.commentJSON(c, p, *m)}
	})
}
