package forgetest

import (
	"net/http"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

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
