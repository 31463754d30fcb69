package github

import (
	"errors"
	"net/http"
	"strings"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// probeBody is the text of the pending reviews that find out what GitHub rejects.
// They are deleted at once, and recognized by this text if that failed.
const probeBody = "Finding out which lines can be commented on."

// findRejected finds the remarks because of which GitHub rejects a review. It uses
// pending reviews, which leave nothing visible if a request is interrupted, so its
// errors are never unsure. It returns cause if the remarks are not the reason.
func (p *posting) findRejected(cause error) error {
	if err := p.deleteLeftover(); err != nil {
		return err
	}
	switch refused, _, err := p.tryRemarks(nil); {
	case err != nil:
		return err
	case refused:
		return cause
	}
	rejected := map[int]string{}
	if err := p.bisect(p.remaining, rejected); err != nil {
		return err
	}
	var good []int
	for _, i := range p.remaining {
		if why, bad := rejected[i]; bad {
			p.posted.Rejected = append(p.posted.Rejected, forge.Rejected{Remark: i, Why: why})
		} else {
			good = append(good, i)
		}
	}
	p.remaining = good
	return nil
}

// bisect finds the rejected ones among remarks that were rejected together.
func (p *posting) bisect(remarks []int, rejected map[int]string) error {
	for _, part := range [][]int{remarks[:len(remarks)/2], remarks[len(remarks)/2:]} {
		if len(part) == 0 {
			continue
		}
		refused, why, err := p.tryRemarks(part)
		switch {
		case err != nil:
			return err
		case refused && len(part) == 1:
			rejected[part[0]] = why
		case refused:
			if err := p.bisect(part, rejected); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryRemarks reports whether GitHub rejects some of the remarks. It leaves nothing behind.
func (p *posting) tryRemarks(remarks []int) (refused bool, why string, err error) {
	id, err := p.send("", probeBody, remarks)
	if why, refused = invalidReason(err); refused {
		for _, general := range []string{"Unprocessable Entity", "Validation Failed"} {
			why = strings.TrimPrefix(strings.TrimPrefix(why, general), ": ")
		}
		if why == "" {
			why = "GitHub rejected it without a reason"
		}
		return true, why, nil
	}
	if err != nil {
		return false, "", withoutUnsure(err)
	}
	return false, "", p.deletePending(id)
}

// deleteLeftover deletes a pending review that an earlier attempt left, because GitHub allows one for each
// account. It does not touch any other, which is somebody's unfinished work.
func (p *posting) deleteLeftover() error {
	me, err := p.client.Me(p.do.Context())
	if err != nil {
		return err
	}
	listed, err := wire.List[review](p.do, "pulls/%d/reviews", p.number)
	if err != nil {
		return err
	}
	for _, r := range listed {
		switch {
		case r.State != "PENDING" || r.User.person().ID != me.ID:
		case sameText(r.Body, probeBody):
			if err := p.deletePending(r.ID); err != nil {
				return err
			}
		default:
			return &forge.Error{
				Kind: forge.KindInvalid,
				Msg:  p.do.Doing() + ": " + me.Login + " already has a pending review on it, and GitHub allows only one",
				Hint: "submit or discard the pending review, or use a separate account for precedent",
			}
		}
	}
	return nil
}

// deletePending deletes a pending review. GitHub refuses to delete any other.
func (p *posting) deletePending(id int64) error {
	err := p.do.Send(http.MethodDelete, nil, nil, "pulls/%d/reviews/%d", p.number, id)
	if wire.Gone(err) {
		return nil
	}
	return withoutUnsure(err)
}

// withoutUnsure clears Unsure for requests whose effect only the sender can see.
func withoutUnsure(err error) error {
	e, ok := errors.AsType[*forge.Error](err)
	if !ok {
		return err
	}
	said := *e
	said.Unsure = false
	return &said
}
