package forgetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

// payload renders an event like GitHub.
func (g *GitHub) payload(e happening) (event, kind string, body any) {
	out := object{"action": e.action, "repository": g.repoJSON(e.repo, g.stage.World.Me), "sender": user(e.by)}
	if g.app != nil {
		out["installation"] = object{"id": g.app.Installation, "node_id": "I_1"}
	}
	c := &call{repo: e.repo, pull: e.pull}
	if e.pull != nil {
		out["number"], out["pull_request"] = e.pull.Number, g.pullJSON(e.repo, e.pull)
	}
	switch e.kind {
	case "pull":
		event = "pull_request"
		switch e.action {
		case "synchronize":
			out["before"], out["after"] = e.before, e.after
		case "labeled", "unlabeled":
			out["label"] = object{"id": 1, "name": e.label, "color": "ededed", "default": false}
		case "review_requested", "review_request_removed":
			out["requested_reviewer"] = user(e.reviewer)
		case "closed":
			out["pull_request"].(object)["merged"] = e.pull.State == forge.Merged //nolint:forcetypeassert // it was made just now
		}
	case "comment":
		out["comment"] = g.commentJSON(c, e.pull, e.comment)
		switch e.comment.Kind {
		case forge.OnThread:
			event = "issue_comment"
			issue := g.pullJSON(e.repo, e.pull)
			issue["pull_request"] = object{"url": "", "merged_at": issue["merged_at"]}
			out["issue"] = issue
			delete(out, "pull_request")
			delete(out, "number")
		case forge.OnLine:
			event = "pull_request_review_comment"
			delete(out, "number")
		case forge.OnReview:
			event = "pull_request_review"
			out["review"] = out["comment"]
			delete(out, "comment")
			delete(out, "number")
		}
	case "thread":
		event = "pull_request_review_thread"
		out["thread"] = object{"node_id": "PRRT_1", "comments": []any{}}
	case "check":
		event = "check_run"
		run := g.checkJSON(c, e.check)
		run["pull_requests"] = g.pullsAt(e.repo, e.check.Commit)
		out["check_run"] = run
	case "status":
		event = "status"
		s := e.status
		delete(out, "action")
		out["id"], out["sha"], out["context"], out["state"] = s.ID, s.Commit, s.Context, s.State
		out["target_url"], out["description"], out["created_at"] = s.URL, s.Words, s.At.Format(time.RFC3339)
		out["commit"], out["branches"] = object{"sha": s.Commit}, []any{}
	case "push":
		event = "push"
		delete(out, "action")
		out["ref"], out["before"], out["after"] = "refs/heads/"+e.branch, e.before, e.after
		out["created"], out["deleted"], out["forced"] = strings.Trim(e.before, "0") == "", strings.Trim(e.after, "0") == "",
			false
		out["commits"], out["pusher"] = []any{}, object{"name": e.by.Login, "email": ""}
	}
	return event, event, out
}

// pullsAt are the pull requests of a check, which are from the same repository only.
func (g *GitHub) pullsAt(r *Repo, commit string) []any {
	all := []any{}
	for _, p := range r.listed("open") {
		if p.Head.SHA == commit && p.Head.Repo.Owner == r.Owner && p.Head.Repo.Name == r.Name {
			all = append(all, object{
				"id": r.ID*1000 + int64(p.Number), "number": p.Number, "url": "",
				"head": object{"ref": p.Head.Name, "sha": commit, "repo": object{"id": r.ID, "name": r.Name, "url": ""}},
				"base": object{"ref": p.Base.Name, "sha": p.Base.SHA, "repo": object{"id": r.ID, "name": r.Name, "url": ""}},
			})
		}
	}
	return all
}

// giteaActions are the words of Gitea for what happens to a pull request, and the fine names of
// the events. What is missing sends nothing.
var giteaActions = map[string][2]string{
	"opened": {"opened", "pull_request"}, "reopened": {"reopened", "pull_request"}, "edited": {"edited", "pull_request"},
	"closed": {"closed", "pull_request"}, "synchronize": {"synchronized", "pull_request_sync"},
	"labeled": {"label_updated", "pull_request_label"}, "unlabeled": {"label_updated", "pull_request_label"},
	"ready_for_review": {"edited", "pull_request"}, "converted_to_draft": {"edited", "pull_request"},
	"review_requested":       {"review_requested", "pull_request_review_request"},
	"review_request_removed": {"review_request_removed", "pull_request_review_request"},
}

// payload renders an event like Gitea.
func (g *Gitea) payload(e happening) (event, kind string, body any) {
	out := object{"repository": g.repoJSON(e.repo, g.stage.World.Me), "sender": giteaUser(e.by)}
	c := &call{repo: e.repo, pull: e.pull}
	switch e.kind {
	case "pull":
		words, ok := giteaActions[e.action]
		if !ok {
			return "", "", nil
		}
		event, kind = "pull_request", words[1]
		out["action"], out["number"], out["pull_request"] = words[0], e.pull.Number, g.pullJSON(e.repo, e.pull)
		out["commit_id"], out["review"], out["requested_reviewer"] = "", nil, nil
		if e.action == "unlabeled" && len(e.pull.Labels) == 0 {
			out["action"] = "label_cleared"
		}
		if e.reviewer.ID != "" {
			out["requested_reviewer"] = giteaUser(e.reviewer)
		}
	case "comment":
		return g.commentPayload(e, c, out)
	case "status":
		s := e.status
		event, kind = "status", "status"
		out["id"], out["sha"], out["context"], out["state"] = s.ID, s.Commit, s.Context, s.State
		out["target_url"], out["description"] = s.URL, s.Words
		out["created_at"], out["updated_at"], out["commit"] = s.At.Format(time.RFC3339), s.At.Format(time.RFC3339),
			object{"id": s.Commit}
	case "push":
		event, kind = "push", "push"
		out["ref"], out["before"], out["after"] = "refs/heads/"+e.branch, e.before, e.after
		out["compare_url"], out["commits"], out["total_commits"] = "", []any{}, 0
		out["pusher"] = giteaUser(e.by)
	default:
		return "", "", nil
	}
	return event, kind, out
}

// commentPayload renders an event about a comment. Of a review there is one, which has no ids and
// no comments; an answer in a conversation looks like a comment on the pull request.
func (g *Gitea) commentPayload(e happening, c *call, out object) (event, kind string, body any) {
	m := e.comment
	switch {
	case m.Kind == forge.OnReview && e.action == "submitted":
		state := "comment"
		if r := e.pull.details(m.ID); r != nil && r.State == ChangesRequested {
			state = "rejected"
		} else if r != nil && r.State == Approved {
			state = "approved"
		}
		event, kind = "pull_request_"+state, "pull_request_review_"+state
		out["action"], out["number"], out["pull_request"] = "reviewed", e.pull.Number, g.pullJSON(e.repo, e.pull)
		out["commit_id"], out["requested_reviewer"] = "", nil
		out["review"] = object{"type": kind, "content": text(m.Body)}
	case m.Kind == forge.OnThread, m.Kind == forge.OnLine && (m.ReplyTo != "" || e.action != "created"):
		event, kind = "issue_comment", "pull_request_comment"
		issue := g.pullJSON(e.repo, e.pull)
		issue["pull_request"] = object{"merged": e.pull.State == forge.Merged, "merged_at": nil, "draft": e.pull.Draft}
		out["action"], out["is_pull"], out["issue"] = e.action, true, issue
		out["pull_request"], out["comment"] = g.pullJSON(e.repo, e.pull), g.commentJSON(c, m)
	}
	return event, kind, out
}

// repoJSON is a repository with what an account may do there.
func (g *GitHub) repoJSON(r *Repo, who forge.Person) object {
	out := repoJSON(r, who, g.URL)
	out["owner"] = object{"login": r.Owner, "id": 1, "type": "Organization"}
	out["url"] = fmt.Sprintf("%s/api/v3/repos/%s/%s", g.URL, r.Owner, r.Name)
	return out
}

func (g *Gitea) repoJSON(r *Repo, who forge.Person) object {
	out := repoJSON(r, who, g.URL)
	out["permissions"] = object{
		"admin": !g.Plain || r.isAdmin(who), "push": g.mayWrite(&call{repo: r, who: who}), "pull": true,
	}
	return out
}

func repoJSON(r *Repo, who forge.Person, at string) object {
	admin := r.isAdmin(who)
	return object{
		"id": r.ID, "node_id": fmt.Sprintf("R_%d", r.ID), "name": r.Name, "full_name": r.Owner + "/" + r.Name,
		"private": false,
		"owner":   object{"login": r.Owner, "id": 1}, "html_url": fmt.Sprintf("%s/%s/%s", at, r.Owner, r.Name), "fork": false,
		"default_branch": r.main(), "archived": r.Archived, "disabled": false, "open_issues_count": len(r.listed("open")),
		"permissions": object{"admin": admin, "push": admin || r.mayWrite(who), "pull": true},
	}
}

// main is the default branch.
func (r *Repo) main() string {
	if r.Default == "" {
		return "main"
	}
	return r.Default
}

// all returns the repositories, each once, by name.
func (w *World) all() []*Repo {
	var all []*Repo
	for _, r := range w.repos {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *Repo) int { return strings.Compare(a.Owner+"/"+a.Name, b.Owner+"/"+b.Name) })
	return all
}

// home is the repository of a pull request; nil if it is not in the world.
func (w *World) home(p *Pull) *Repo {
	if p == nil {
		return nil
	}
	for _, r := range w.repos {
		if r.Pulls[p.Number] == p {
			return r
		}
	}
	return nil
}
