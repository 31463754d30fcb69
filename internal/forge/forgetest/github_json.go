package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// object is a JSON object.
type object = map[string]any

// find is the pull request that a request is about; nil if there is none.
func (r *Repo) find(req *http.Request) *Pull {
	n, err := strconv.Atoi(req.PathValue("number"))
	if err != nil {
		return nil
	}
	return r.Pulls[n]
}

func (g *GitHub) pull(repo *Repo, r *http.Request) reply {
	p := repo.find(r)
	switch {
	case p == nil:
		return problem(http.StatusNotFound, "Not Found")
	case !strings.Contains(r.Header.Get("Accept"), "diff"):
		out := g.pullJSON(repo, p)
		out["merged"] = p.State == forge.Merged
		out["changed_files"] = p.Files
		return reply{status: http.StatusOK, body: out}
	case p.Huge:
		return problem(http.StatusNotAcceptable, "Sorry, the diff exceeded the maximum number of files (300).")
	}
	return reply{status: http.StatusOK, body: p.Diff}
}

func (g *GitHub) pulls(repo *Repo, r *http.Request) reply {
	var open []*Pull
	for _, p := range repo.Pulls {
		if state := r.URL.Query().Get("state"); state == "all" || p.State == forge.Open {
			open = append(open, p)
		}
	}
	slices.SortFunc(open, func(a, b *Pull) int { return b.Updated.Compare(a.Updated) })
	all := []any{}
	for _, p := range open {
		all = append(all, g.pullJSON(repo, p))
	}
	return g.page(r, all)
}

// pullJSON has what the list has, too: neither merged nor changed_files.
func (g *GitHub) pullJSON(repo *Repo, p *Pull) object {
	labels := []object{}
	for i, l := range p.Labels {
		labels = append(labels, object{"id": i + 1, "name": l, "color": "ededed", "default": false})
	}
	state, mergedAt := p.State, any(nil)
	if state == forge.Merged {
		state, mergedAt = forge.Closed, p.Updated.Format(time.RFC3339)
	}
	body := any(text(p.Body))
	if body == "" {
		body = nil
	}
	return object{
		"id": repo.ID*1000 + int64(p.Number), "number": p.Number, "title": text(p.Title), "body": body,
		"user": user(p.Author), "state": state, "draft": p.Draft, "locked": false, "labels": labels,
		"base": g.branch(p.Base), "head": g.branch(p.Head), "merged_at": mergedAt, "merge_commit_sha": nil,
		"created_at": Epoch.Format(time.RFC3339), "updated_at": p.Updated.Format(time.RFC3339),
		"html_url": fmt.Sprintf("%s/%s/%s/pull/%d", g.URL, repo.Owner, repo.Name, p.Number),
	}
}

func (g *GitHub) branch(b forge.Branch) object {
	out := object{"ref": b.Name, "sha": b.SHA, "label": b.Repo.Owner + ":" + b.Name, "user": nil, "repo": nil}
	if !b.Repo.IsZero() {
		owner := object{"login": b.Repo.Owner, "id": 1, "type": "User"}
		out["user"] = owner
		out["repo"] = object{
			"id": 1, "name": b.Repo.Name, "full_name": b.Repo.Owner + "/" + b.Repo.Name, "owner": owner,
			"clone_url": fmt.Sprintf("%s/%s/%s.git", g.URL, b.Repo.Owner, b.Repo.Name),
		}
	}
	return out
}

// user is an account, null if it is deleted.
func user(p forge.Person) any {
	if p.ID == 0 {
		return nil
	}
	kind := "User"
	if p.Bot {
		kind = "Bot"
	}
	return object{"id": p.ID, "login": p.Login, "type": kind, "site_admin": false}
}

func (g *GitHub) comments(repo *Repo, r *http.Request) reply {
	return g.said(repo, r, forge.OnThread, func(m forge.Comment) object {
		return object{"html_url": g.comment(repo, r, "#issuecomment-", m.ID), "author_association": "NONE"}
	})
}

func (g *GitHub) reviews(repo *Repo, r *http.Request) reply {
	return g.said(repo, r, forge.OnReview, func(m forge.Comment) object {
		return object{
			"html_url": g.comment(repo, r, "#pullrequestreview-", m.ID), "state": "COMMENTED",
			"submitted_at": m.At.Format(time.RFC3339), "commit_id": strings.Repeat("a", 40), "author_association": "OWNER",
		}
	})
}

func (g *GitHub) inline(repo *Repo, r *http.Request) reply {
	return g.said(repo, r, forge.OnLine, func(m forge.Comment) object {
		out := object{
			"html_url": g.comment(repo, r, "#discussion_r", m.ID), "path": m.Span.Path, "side": m.Span.Side,
			"subject_type": "line", "start_line": nil, "start_side": nil, "original_start_line": nil,
			"line": m.Span.End, "original_line": m.Span.End, "commit_id": m.Commit, "original_commit_id": m.Commit,
			"diff_hunk": "@@ -1 +1 @@", "author_association": "OWNER", "pull_request_review_id": nil,
		}
		if m.Span.Start < m.Span.End {
			out["start_line"], out["start_side"], out["original_start_line"] = m.Span.Start, m.Span.Side, m.Span.Start
		}
		if m.Outdated {
			out["line"], out["start_line"], out["commit_id"] = nil, nil, strings.Repeat("f", 40)
		}
		if m.Span.End == 0 {
			out["subject_type"], out["line"], out["original_line"] = "file", nil, nil
		}
		if m.ReplyTo != 0 {
			out["in_reply_to_id"] = m.ReplyTo
		}
		return out
	})
}

// said lists the comments of one kind, as what they have in common and more.
func (g *GitHub) said(repo *Repo, r *http.Request, kind forge.CommentKind, more func(forge.Comment) object) reply {
	p := repo.find(r)
	if p == nil {
		return problem(http.StatusNotFound, "Not Found")
	}
	all := []any{}
	for _, m := range p.Comments {
		if m.Kind != kind {
			continue
		}
		out := more(m)
		out["id"], out["user"], out["body"] = m.ID, user(m.Author), text(m.Body)
		if kind != forge.OnReview {
			out["created_at"], out["updated_at"] = m.At.Format(time.RFC3339), m.Edited.Format(time.RFC3339)
		}
		all = append(all, out)
	}
	return g.page(r, all)
}

func (g *GitHub) comment(repo *Repo, r *http.Request, anchor string, id int64) string {
	return fmt.Sprintf("%s/%s/%s/pull/%s%s%d", g.URL, repo.Owner, repo.Name, r.PathValue("number"), anchor, id)
}

func (g *GitHub) permission(repo *Repo, r *http.Request) reply {
	for _, m := range repo.Members {
		if strings.EqualFold(m.Person.Login, r.PathValue("login")) {
			return reply{status: http.StatusOK, body: object{
				"permission": m.Permission, "role_name": m.Permission, "user": user(m.Person),
			}}
		}
	}
	return problem(http.StatusNotFound, "Not Found")
}

// text is what an author wrote, for the wire.
func text(u precedent.Untrusted) string { return string(u) }
