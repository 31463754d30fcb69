package forgetest

import (
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// firstID is greater than all ids that tests assign, and like real ids does not fit into 32 bits.
const firstID = 3_000_000_000

// next returns an unused id. Like all functions of this file it must be called under Change.
func (w *World) next() int64 {
	w.last++
	return w.last
}

// add adds a comment to a pull request, with an id and the current time.
func (w *World) add(p *Pull, m forge.Comment) forge.Comment {
	m.ID, m.At = precedent.NumberID(w.next()), w.clock.Now().Truncate(time.Second)
	m.Edited = m.At
	p.Comments = append(p.Comments, m)
	if p.written == nil {
		p.written = map[forge.CommentRef]time.Time{}
	}
	p.written[forge.CommentRef{Kind: m.Kind, ID: m.ID}] = w.clock.Now()
	w.touch(p)
	if m.Kind == forge.OnThread || m.Kind == forge.OnLine && m.ReplyTo != "" && !p.unsent(m) {
		p.mail(m.Author)
	}
	if m.Kind != forge.OnReview && !p.unsent(m) {
		w.happen(happening{kind: "comment", action: "created", pull: p, by: m.Author, comment: m})
	}
	return m
}

// mail counts a mail to everybody who takes part: forges send one for each comment, reply and review, and
// none for an edit.
func (p *Pull) mail(by forge.Person) {
	if p.mails == nil {
		p.mails = map[precedent.ForgeID]int{}
	}
	p.mails[by.ID]++
}

// Mails counts the mails that everybody else who takes part in the pull request got for what an account
// wrote.
func (w *World) Mails(p *Pull, by forge.Person) (n int) {
	w.Change(func() { n = p.mails[by.ID] })
	return n
}

// touch marks a pull request as updated now, and never before its last update.
func (w *World) touch(p *Pull) {
	now := w.clock.Now().Truncate(time.Second)
	if !now.After(p.Updated) {
		now = p.Updated.Add(time.Second)
	}
	p.Updated = now
}

// review adds a review without inline comments.
func (w *World) review(p *Pull, r Review) Review {
	m := w.add(p, forge.Comment{Kind: forge.OnReview, Author: r.Author, Body: precedent.Untrusted(r.Body)})
	r.ID = m.ID
	if p.Reviews == nil {
		p.Reviews = map[precedent.ForgeID]Review{}
	}
	p.Reviews[r.ID] = r
	if r.State != Pending {
		if r.Body != "" { // that of a reply has none
			p.mail(r.Author)
		}
		w.reviewed(p, r.Author)
		w.happen(happening{kind: "comment", action: "submitted", pull: p, by: r.Author, comment: m})
	}
	return r
}

// reviewed withdraws the request for a review: who reviewed is no longer asked.
func (*World) reviewed(p *Pull, by forge.Person) {
	p.Requested = slices.DeleteFunc(slices.Clone(p.Requested), func(who forge.Person) bool { return who.ID == by.ID })
}

// comment finds a comment; nil if it does not exist.
func (p *Pull) comment(c forge.CommentRef) *forge.Comment {
	for i := range p.Comments {
		if p.Comments[i].Kind == c.Kind && p.Comments[i].ID == c.ID {
			return &p.Comments[i]
		}
	}
	return nil
}

// findComment finds a comment on any pull request.
func (r *Repo) findComment(c forge.CommentRef) (*Pull, *forge.Comment) {
	for _, p := range r.Pulls {
		if m := p.comment(c); m != nil {
			return p, m
		}
	}
	return nil, nil
}

// details finds a review; nil if it does not exist.
func (p *Pull) details(id precedent.ForgeID) *Review {
	m := p.comment(forge.CommentRef{Kind: forge.OnReview, ID: id})
	if m == nil {
		return nil
	}
	r, ok := p.Reviews[id]
	if !ok {
		r = Review{Author: m.Author, State: Commented, Commit: p.Head.SHA}
	}
	r.ID, r.Body, r.Inline = id, string(m.Body), 0
	for _, c := range p.Comments {
		if c.Kind == forge.OnLine && c.Review == id {
			r.Inline++
		}
	}
	return &r
}

// pending returns the id of a person's pending review; empty for none.
func (p *Pull) pending(who forge.Person) precedent.ForgeID {
	for id, r := range p.Reviews {
		if r.State == Pending && r.Author.ID == who.ID {
			return id
		}
	}
	return ""
}

// unsent reports whether a comment belongs to a pending review.
func (p *Pull) unsent(m forge.Comment) bool {
	id := m.Review
	if m.Kind == forge.OnReview {
		id = m.ID
	}
	return m.Kind != forge.OnThread && p.Reviews[id].State == Pending
}

// remove removes a comment, and its review if nothing else is left of it.
func (p *Pull) remove(c forge.CommentRef) {
	var review precedent.ForgeID
	p.Comments = slices.DeleteFunc(p.Comments, func(m forge.Comment) bool {
		if m.Kind != c.Kind || m.ID != c.ID {
			return false
		}
		review = m.Review
		return true
	})
	if c.Kind == forge.OnReview {
		p.Comments = slices.DeleteFunc(p.Comments, func(m forge.Comment) bool {
			return m.Kind == forge.OnLine && m.Review == c.ID
		})
		delete(p.Reviews, c.ID)
	}
	if r := p.details(review); review != "" && r != nil && r.Inline == 0 && r.Body == "" && r.State == Commented {
		p.remove(forge.CommentRef{Kind: forge.OnReview, ID: review})
	}
}

// root returns the id of the first comment of a conversation.
func (p *Pull) root(m forge.Comment) precedent.ForgeID {
	for range len(p.Comments) {
		up := p.comment(forge.CommentRef{Kind: forge.OnLine, ID: m.ReplyTo})
		if m.ReplyTo == "" || up == nil {
			break
		}
		m = *up
	}
	if m.ReplyTo != "" { // which was deleted, and its conversation goes on
		return m.ReplyTo
	}
	return m.ID
}

// conversations groups the inline comments, in the order in which the conversations start.
func (p *Pull) conversations() (roots []precedent.ForgeID, of map[precedent.ForgeID][]forge.Comment) {
	of = map[precedent.ForgeID][]forge.Comment{}
	for _, m := range p.Comments {
		if m.Kind != forge.OnLine {
			continue
		}
		id := p.root(m)
		if of[id] == nil {
			roots = append(roots, id)
		}
		of[id] = append(of[id], m)
	}
	return roots, of
}

// shows reports whether a list that lags behind contains an entry.
func (w *World) shows(written time.Time, lag time.Duration) bool {
	return lag == 0 || written.IsZero() || !written.After(w.clock.Now().Add(-lag))
}

// mayWrite reports whether a person has write access.
func (r *Repo) mayWrite(who forge.Person) bool { return r.mayWriteUnit(who, "repo.code") }

// isAdmin reports whether a person administrates the repository.
func (r *Repo) isAdmin(who forge.Person) bool {
	return slices.ContainsFunc(r.Members, func(m Member) bool {
		return m.Person.ID == who.ID && m.Permission == forge.Admin
	})
}

// mayWriteUnit reports whether a person has write access to a unit of the repository.
func (r *Repo) mayWriteUnit(who forge.Person, unit string) bool {
	return slices.ContainsFunc(r.Members, func(m Member) bool {
		return m.Person.ID == who.ID && m.Permission.MayWrite()
	}) ||
		slices.ContainsFunc(r.Teams, func(t Team) bool { return t.has(who) && t.unit(unit).MayWrite() })
}

// allow sets the permission of a member.
func (r *Repo) allow(who forge.Person, level forge.Permission) {
	for i := range r.Members {
		if r.Members[i].Person.ID == who.ID {
			r.Members[i].Permission = level
		}
	}
}
