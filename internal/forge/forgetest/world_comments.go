package forgetest

import (
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// firstID is above all numbers that tests give to comments themselves, and like
// the real ones more than 32 bits with a sign hold.
const firstID = 3_000_000_000

// next is a number that nothing has. Like all functions of this file it is
// called under Change.
func (w *World) next() int64 {
	w.last++
	return w.last
}

// add says something on a pull request now: m is given a number and times.
func (w *World) add(p *Pull, m forge.Comment) forge.Comment {
	m.ID, m.At = precedent.NumberID(w.next()), w.clock.Now().Truncate(time.Second)
	m.Edited = m.At
	p.Comments = append(p.Comments, m)
	if p.written == nil {
		p.written = map[forge.CommentRef]time.Time{}
	}
	p.written[forge.CommentRef{Kind: m.Kind, ID: m.ID}] = w.clock.Now()
	w.touch(p)
	return m
}

// touch notes that a pull request has changed now, and not before it changed last.
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
	return r
}

// comment finds what was said; nil if it is not there.
func (p *Pull) comment(c forge.CommentRef) *forge.Comment {
	for i := range p.Comments {
		if p.Comments[i].Kind == c.Kind && p.Comments[i].ID == c.ID {
			return &p.Comments[i]
		}
	}
	return nil
}

// findComment finds what was said, on whichever pull request.
func (r *Repo) findComment(c forge.CommentRef) (*Pull, *forge.Comment) {
	for _, p := range r.Pulls {
		if m := p.comment(c); m != nil {
			return p, m
		}
	}
	return nil, nil
}

// details is what is known of a review, nil if there is none of the number.
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

// pending is the number of the review that a person has not sent; empty for none.
func (p *Pull) pending(who forge.Person) precedent.ForgeID {
	for id, r := range p.Reviews {
		if r.State == Pending && r.Author.ID == who.ID {
			return id
		}
	}
	return ""
}

// unsent tells whether a comment belongs to a review that was not sent.
func (p *Pull) unsent(m forge.Comment) bool {
	id := m.Review
	if m.Kind == forge.OnReview {
		id = m.ID
	}
	return m.Kind != forge.OnThread && p.Reviews[id].State == Pending
}

// remove takes away a comment, and a review of which nothing is left.
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
		p.Comments = slices.DeleteFunc(p.Comments, func(m forge.Comment) bool { return m.Kind == forge.OnLine && m.Review == c.ID })
		delete(p.Reviews, c.ID)
	}
	if r := p.details(review); review != "" && r != nil && r.Inline == 0 && r.Body == "" && r.State == Commented {
		p.remove(forge.CommentRef{Kind: forge.OnReview, ID: review})
	}
}

// root is the number of the comment that a conversation begins with.
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

// conversations are the inline comments by conversation, in the order in which
// they begin.
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

// shows tells whether a list that is lag behind has an entry.
func (w *World) shows(written time.Time, lag time.Duration) bool {
	return lag == 0 || written.IsZero() || !written.After(w.clock.Now().Add(-lag))
}

// mayWrite tells whether a person may write to the code.
func (r *Repo) mayWrite(who forge.Person) bool {
	return slices.ContainsFunc(r.Members, func(m Member) bool { return m.Person.ID == who.ID && m.Permission.MayWrite() })
}

// allow sets what a member may do.
func (r *Repo) allow(who forge.Person, level forge.Permission) {
	for i := range r.Members {
		if r.Members[i].Person.ID == who.ID {
			r.Members[i].Permission = level
		}
	}
}
