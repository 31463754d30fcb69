package round

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/pull"
)

// cycles is what our comments tell about the cycles of a pull request. People who change the
// label after we have given up begin anew: what was said until then does not count.
type cycles struct {
	summary  comment.Marker // the zero Marker for none
	reviewed bool           // there is a summary
	gates    map[string]bool
	ids      map[string]bool            // of reviews, failed gates, failed checks and failed fixes
	fixed    map[string]pull.OwnComment // the newest fix, by head
	fixes    map[string]bool
	unfixed  int             // failed fixes of the head
	failed   int             // failed fixes of any head
	tries    int             // incomplete reviews in a row
	last     pull.OwnComment // the newest note that counts
	most     int             // cycles before people have to look; 0 means the default
	own      []pull.OwnComment
}

// countCycles counts what was said since we last gave up. head is the pull request's.
func countCycles(own []pull.OwnComment, head string) cycles {
	c := cycles{
		gates: map[string]bool{}, ids: map[string]bool{}, fixed: map[string]pull.OwnComment{}, fixes: map[string]bool{},
		own: own,
	}
	anew := 0
	for i, s := range own {
		if s.Kind == comment.GivenUp {
			anew = i + 1
		}
	}
	before := map[string]bool{}
	for _, s := range own[:anew] {
		if s.Kind != comment.Summary { // that one changes
			before[s.Review] = true
		}
	}
	for i, s := range own {
		if s.Kind == comment.Summary {
			c.summary, c.reviewed = s.Marker, true
			if !before[s.Review] {
				c.tries = s.Tries
			}
		} else if i < anew {
			continue
		}
		c.count(s, head, before)
	}
	for id := range c.fixes {
		delete(c.ids, id) // it belongs to the cycle of the review before it
	}
	return c
}

func (c *cycles) count(s pull.OwnComment, head string, before map[string]bool) {
	switch s.Kind {
	case comment.Answer, comment.Remark, comment.GivenUp:
		return
	case comment.Fixed:
		c.fixes[s.Review], c.fixed[s.Head] = true, s
	case comment.Unfixed:
		times := max(1, s.Tries)
		c.failed += times
		if s.Head == head {
			c.unfixed += times
		}
	case comment.GateFailed:
		c.gates[s.Head] = true
	}
	if s.Review != "" && !before[s.Review] {
		c.ids[s.Review] = true
	}
	if s.Kind.IsNote() {
		c.last = s
	}
}

// n is the number of cycles, with the one that runs. The summary names only its last review, so
// that fixes count, too.
func (c *cycles) n() int { return max(len(c.ids), len(c.fixes)+c.failed+1) }

// latest is the id of the last review or round, for the marker of a comment about it.
func (c *cycles) latest() string {
	if c.summary.Review != "" && (c.last.Review == "" || c.summary.Review > c.last.Review) { // ids sort by time
		return c.summary.Review
	}
	return c.last.Review
}

func (c *cycles) has(kind comment.Kind, key string) bool {
	return slices.ContainsFunc(c.own, func(s pull.OwnComment) bool { return s.Kind == kind && s.Answers == key })
}

// pushed tells whether the head is a fix that we pushed and that nothing has looked at since.
func (c *cycles) pushed(head string) bool {
	f, ok := c.fixed[head]
	return ok && c.last == f && c.summary.Head != head
}

// problems are what our newest note about a failed gate or failed checks of the head says. It still says so
// after fixes have failed, and after we have given up; a later review of the head ends a failed gate.
func (c *cycles) problems(head string) []precedent.Untrusted {
	for _, s := range slices.Backward(c.own) {
		if s.Head != head || s.Kind != comment.GateFailed && s.Kind != comment.ChecksEnded {
			continue
		}
		if s.Kind == comment.GateFailed && c.summary.Head == head && c.summary.Review > s.Review { // ids sort by time
			return nil
		}
		return []precedent.Untrusted{s.Body}
	}
	return nil
}

// exceeded says why people have to look, for people; empty if they need not yet.
func (c *cycles) exceeded() string {
	switch {
	case c.unfixed >= label.MaxFailed:
		return failedFixes
	case c.tries >= label.MaxIncomplete:
		return incompleteReviews
	}
	return c.tooMany()
}

// tooMany says that there were more cycles than allowed, for people; empty if there were not.
func (c *cycles) tooMany() string {
	most := cmp.Or(c.most, label.MaxCycles)
	if c.n() <= most {
		return ""
	}
	return fmt.Sprintf(manyCycles, most)
}

// Why people have to look.
const (
	failedFixes       = "Two attempts to fix what is open have pushed nothing."
	incompleteReviews = "Three reviews in a row could not read the whole change."
	manyCycles        = "This pull request has gone through more than %d cycles of reviews and fixes, and something is " +
		"still open."
)
