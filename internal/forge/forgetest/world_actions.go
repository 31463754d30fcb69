package forgetest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// What people do on the forge, beside the account of Secret, and what they see
// there. These functions are not called under Change.

// Say adds a comment by a person: in the conversation of the inline comment to, or on
// the pull request if to is empty.
func (w *World) Say(p *Pull, who forge.Person, to precedent.ForgeID, body string) (m forge.Comment) {
	if w.real != nil {
		return w.real.say(who, to, body)
	}
	w.Change(func() {
		m = forge.Comment{Kind: forge.OnThread, Author: who, Body: precedent.Untrusted(body)}
		if to != "" {
			up := p.comment(forge.CommentRef{Kind: forge.OnLine, ID: to})
			if up == nil {
				return
			}
			m.Kind, m.ReplyTo, m.Span, m.Commit, m.Outdated = forge.OnLine, p.root(*up), up.Span, up.Commit, up.Outdated
			m.Review = w.review(p, Review{Author: who, State: Commented, Commit: p.Head.SHA}).ID
		}
		m = w.add(p, m)
	})
	return m
}

// Remark starts a conversation on lines of the head.
func (w *World) Remark(p *Pull, who forge.Person, s precedent.Span, body string) (m forge.Comment) {
	if w.real != nil {
		return w.real.remark(who, s, body)
	}
	w.Change(func() {
		r := w.review(p, Review{Author: who, State: Commented, Commit: p.Head.SHA})
		m = w.add(p, forge.Comment{
			Kind: forge.OnLine, Author: who, Body: precedent.Untrusted(body), Span: s, Commit: p.Head.SHA, Review: r.ID,
		})
	})
	return m
}

// Rewrite edits a comment.
func (w *World) Rewrite(p *Pull, c forge.CommentRef, body string) {
	w.Change(func() {
		if m := p.comment(c); m != nil {
			w.rewrite(p, m, m.Author, body)
		}
	})
}

// Remove deletes a comment.
func (w *World) Remove(p *Pull, c forge.CommentRef) {
	w.Change(func() {
		if m := p.comment(c); m != nil {
			w.remove(p, m, m.Author)
		}
	})
}

func (w *World) rewrite(p *Pull, m *forge.Comment, by forge.Person, body string) {
	m.Body, m.Edited = precedent.Untrusted(body), w.clock.Now().Truncate(time.Second)
	w.happen(happening{kind: "comment", action: "edited", pull: p, by: by, comment: *m})
}

func (w *World) remove(p *Pull, m *forge.Comment, by forge.Person) {
	if m.Kind != forge.OnReview { // forges tell nothing of the text of a review
		w.happen(happening{kind: "comment", action: "deleted", pull: p, by: by, comment: *m})
	}
	p.remove(forge.CommentRef{Kind: m.Kind, ID: m.ID})
}

// Close resolves the conversation that starts with an inline comment.
func (w *World) Close(p *Pull, root precedent.ForgeID, who forge.Person) {
	if w.real != nil {
		w.real.as(&who, http.MethodPost, w.real.repo("/pulls/comments/"+string(root)+"/resolve"), nil, nil)
		w.real.Refresh()
		return
	}
	w.Change(func() {
		p.close(root, who)
		w.happen(happening{kind: "thread", action: "resolved", pull: p, by: who})
	})
}

// Reopen reopens a conversation.
func (w *World) Reopen(p *Pull, root precedent.ForgeID) { w.Change(func() { delete(p.Closed, root) }) }

// React adds a reaction to a comment.
func (w *World) React(p *Pull, c forge.CommentRef, who forge.Person, content string) {
	if w.real != nil {
		w.real.react(who, c, content)
		w.real.Refresh()
		return
	}
	w.Change(func() { w.react(p, c, forge.Reaction{Who: who, Content: content}) })
}

// Push changes the head of the pull request. diff is the new diff to the base.
func (w *World) Push(p *Pull, head, diff string) {
	if w.real != nil { // git has pushed it there
		w.real.Refresh()
		return
	}
	w.Change(func() {
		before := p.Head.SHA
		w.push(p, head, diff)
		w.happen(happening{kind: "pull", action: "synchronize", pull: p, by: p.Author, before: before, after: head})
	})
}

func (w *World) push(p *Pull, head, diff string) {
	for i := range p.Comments {
		p.follow(&p.Comments[i], head, diff)
	}
	p.Earlier = append(p.Earlier, Push{p.Head.SHA, p.Diff})
	p.Head.SHA, p.Diff = head, diff
	w.touch(p)
}

// Open adds a pull request to a repository.
func (w *World) Open(r *Repo, p *Pull, by forge.Person) {
	w.Change(func() {
		r.Pulls[p.Number] = p
		w.touch(p)
		w.happen(happening{kind: "pull", action: "opened", repo: r, pull: p, by: by})
	})
}

// Label sets a label of a pull request; setting it twice does nothing.
func (w *World) Label(p *Pull, by forge.Person, label string) {
	if w.real != nil {
		w.real.label(&by, label)
		w.real.Refresh()
		return
	}
	w.Change(func() { w.label(p, by, label) })
}

func (w *World) label(p *Pull, by forge.Person, label string) {
	if !slices.Contains(p.Labels, label) {
		p.Labels = append(slices.Clone(p.Labels), label)
		w.touch(p)
		w.happen(happening{kind: "pull", action: "labeled", pull: p, by: by, label: label})
	}
}

// Unlabel removes a label of a pull request.
func (w *World) Unlabel(p *Pull, by forge.Person, label string) {
	if w.real != nil {
		w.real.unlabel(&by, label)
		w.real.Refresh()
		return
	}
	w.Change(func() { w.unlabel(p, by, label) })
}

func (w *World) unlabel(p *Pull, by forge.Person, label string) {
	if slices.Contains(p.Labels, label) {
		p.Labels = slices.DeleteFunc(slices.Clone(p.Labels), func(l string) bool { return l == label })
		w.touch(p)
		w.happen(happening{kind: "pull", action: "unlabeled", pull: p, by: by, label: label})
	}
}

// LabelsOf returns the labels of a pull request.
func (w *World) LabelsOf(p *Pull) (all []string) {
	w.Change(func() { all = slices.Clone(p.Labels) })
	return all
}

// Retitle changes the title of a pull request.
func (w *World) Retitle(p *Pull, by forge.Person, title string) {
	if w.real != nil {
		w.real.change(by, object{"title": title})
		w.real.Refresh()
		return
	}
	w.Change(func() {
		p.Title = precedent.Untrusted(title)
		w.touch(p)
		w.happen(happening{kind: "pull", action: "edited", pull: p, by: by})
	})
}

// SetState closes, merges or reopens a pull request.
func (w *World) SetState(p *Pull, by forge.Person, state forge.State) {
	if w.real != nil {
		w.real.change(by, object{"state": string(state)})
		w.real.Refresh()
		return
	}
	w.Change(func() {
		p.State = state
		w.touch(p)
		if state == forge.Merged {
			p.MergedAt = p.Updated
		}
		w.happen(happening{
			kind: "pull", action: map[bool]string{true: "reopened", false: "closed"}[state == forge.Open], pull: p, by: by,
		})
	})
}

// RequestReview asks an account for a review.
func (w *World) RequestReview(p *Pull, by, reviewer forge.Person) {
	w.Change(func() {
		if !slices.Contains(p.Requested, reviewer) {
			p.Requested = append(slices.Clone(p.Requested), reviewer)
		}
		w.touch(p)
		w.happen(happening{kind: "pull", action: "review_requested", pull: p, by: by, reviewer: reviewer})
	})
}

// Report sets a check run of another app: a new one, or the one of the same commit, name, suite and
// app that is not completed.
func (w *World) Report(r *Repo, k Check) Check {
	if w.real != nil { // which has statuses only
		w.real.status(Status{Commit: k.Commit, Context: k.Name, State: k.Conclusion, URL: w.real.Door + "/octo/app/runs/1"})
		return k
	}
	w.Change(func() {
		now := w.clock.Now().Truncate(time.Second)
		i := slices.IndexFunc(r.Checks, func(o Check) bool {
			return o.Commit == k.Commit && o.Name == k.Name && o.Suite == k.Suite && o.By.ID == k.By.ID &&
				o.Status != "completed"
		})
		k.ID, k.written = w.next(), w.clock.Now()
		if i >= 0 {
			k.ID, k.written, k.Started = r.Checks[i].ID, r.Checks[i].written, r.Checks[i].Started
		}
		if k.Started.IsZero() {
			k.Started = now
		}
		action := "created"
		if k.Conclusion != "" {
			action, k.Status, k.Completed = "completed", "completed", now
		}
		if i >= 0 {
			r.Checks[i] = k
		} else {
			r.Checks = append(r.Checks, k)
		}
		w.happen(happening{kind: "check", action: action, repo: r, by: k.By, check: k})
	})
	return k
}

// ReportStatus adds a status to a commit; the newest of a context counts.
func (w *World) ReportStatus(r *Repo, s Status) Status {
	if w.real != nil {
		w.real.status(s)
		return s
	}
	w.Change(func() { s = w.status(r, s) })
	return s
}

func (w *World) status(r *Repo, s Status) Status {
	s.ID = w.next()
	if s.At.IsZero() {
		s.At = w.clock.Now().Truncate(time.Second)
	}
	r.Statuses = append(r.Statuses, s)
	w.happen(happening{kind: "status", repo: r, by: s.By, status: s})
	return s
}

// Shown returns the comments that everybody sees, without reviews that have no text and pending ones.
func (w *World) Shown(p *Pull) (all []forge.Comment) {
	w.Change(func() {
		for _, m := range p.Comments {
			if !p.unsent(m) && (m.Kind != forge.OnReview || m.Body != "") {
				all = append(all, m)
			}
		}
	})
	return all
}

// By returns the part of Shown by one person.
func (w *World) By(p *Pull, who forge.Person) []forge.Comment {
	return slices.DeleteFunc(w.Shown(p), func(m forge.Comment) bool { return m.Author.ID != who.ID })
}

// Reviews returns the reviews that everybody sees, in the order of their comments. A
// reply creates one without text.
func (w *World) Reviews(p *Pull) (all []Review) {
	w.Change(func() {
		for _, m := range p.Comments {
			if r := p.details(m.ID); m.Kind == forge.OnReview && r.State != Pending {
				all = append(all, *r)
			}
		}
	})
	return all
}

// Unsent counts the pending reviews.
func (w *World) Unsent(p *Pull) (n int) {
	w.Change(func() {
		for _, r := range p.Reviews {
			if r.State == Pending {
				n++
			}
		}
	})
	return n
}

// Threads returns the conversations that everybody sees. They have no ID, which depends on the forge.
func (w *World) Threads(p *Pull) (all []forge.Thread) {
	w.Change(func() {
		roots, of := p.conversations()
		for _, root := range roots {
			if p.unsent(of[root][0]) {
				continue
			}
			by, closed := p.Closed[root]
			t := forge.Thread{Closed: closed, ClosedBy: by}
			for _, m := range of[root] {
				t.Comments = append(t.Comments, m.ID)
			}
			all = append(all, t)
		}
	})
	return all
}

// FoldedUp returns the minimized comments, and why.
func (w *World) FoldedUp(p *Pull) (all map[forge.CommentRef]string) {
	w.Change(func() { all = maps.Clone(p.Folded) })
	return all
}

// ChecksOf returns the check runs on a commit, oldest first.
func (w *World) ChecksOf(r *Repo, commit string) (all []Check) {
	w.Change(func() {
		for _, c := range r.Checks {
			if c.Commit == commit {
				all = append(all, c)
			}
		}
	})
	return all
}

// StatusesOf returns the statuses of a commit, oldest first.
func (w *World) StatusesOf(r *Repo, commit string) (all []Status) {
	w.Change(func() {
		for _, c := range r.Statuses {
			if c.Commit == commit {
				all = append(all, c)
			}
		}
	})
	return all
}

func (p *Pull) close(root precedent.ForgeID, who forge.Person) {
	if p.Closed == nil {
		p.Closed = map[precedent.ForgeID]forge.Person{}
	}
	if _, closed := p.Closed[root]; !closed {
		p.Closed[root] = who
	}
}

// react adds a reaction, once for each person and content.
func (w *World) react(p *Pull, c forge.CommentRef, r forge.Reaction) forge.Reaction {
	for _, old := range p.Reactions[c] {
		if old.Who.ID == r.Who.ID && old.Content == r.Content {
			return old
		}
	}
	if p.Reactions == nil {
		p.Reactions = map[forge.CommentRef][]forge.Reaction{}
	}
	p.Reactions[c] = append(p.Reactions[c], r)
	return r
}

// takeBack dismisses a review.
func (p *Pull) takeBack(id precedent.ForgeID) {
	r := *p.details(id)
	r.State = Dismissed
	p.Reviews[id] = r
}

// dismiss is "Dismiss a review for a pull request". On a protected branch it takes more than write access.
func (g *GitHub) dismiss(c *call) reply {
	var in struct{ Message, Event string }
	r, bad := g.shownReview(c, &in)
	switch {
	case bad != nil:
		return *bad
	case !c.app && !c.repo.mayWrite(c.who), c.repo.Protected && !c.repo.isAdmin(c.who):
		return g.denied(c)
	case in.Message == "":
		return invalid("Unprocessable Entity", "Message can't be blank")
	case r.State != ChangesRequested && r.State != Approved:
		return invalid("Unprocessable Entity", "Can not dismiss a "+strings.ToLower(string(r.State))+" pull request review")
	}
	c.pull.takeBack(r.ID)
	return g.reviewReply(c, r.ID)
}

// dismiss is that of Gitea, whose review keeps its state.
func (g *Gitea) dismiss(c *call) reply {
	var in struct {
		Message string
		Priors  bool
	}
	if bad := g.read(c, &in); bad != nil {
		return *bad
	}
	if (g.Plain || c.repo.Protected) && !c.repo.isAdmin(c.who) {
		return g.problem(http.StatusForbidden, "Must be repo admin")
	}
	return g.one(c, func(r giteaReview) reply {
		switch {
		case r.State != ChangesRequested && r.State != Approved && r.State != Dismissed:
			return g.problem(http.StatusForbidden,
				"not need to dismiss this review because it's type is not Approve or change request")
		case c.pull.State != forge.Open:
			return g.problem(http.StatusForbidden, "not need to dismiss this review for closed pr")
		}
		c.pull.takeBack(r.ID)
		r.State = Dismissed
		return reply{status: http.StatusOK, body: g.reviewJSON(c, r)}
	})
}
