package wire

import (
	"bytes"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
)

// RejectedRemarks returns the remarks that are not within one hunk of the diff that a forge returns for a pull request.
// err is the error of reading it. If the diff is too large for the forge, no remark can be checked, and all are rejected.
func RejectedRemarks(patch []byte, err error, remarks []forge.Remark) ([]forge.Rejected, error) {
	if err != nil && forge.KindOf(err) != forge.KindTooLarge {
		return nil, err
	}
	change := &diff.Change{}
	if err == nil {
		change, err = diff.ParsePatch(bytes.NewReader(patch), diff.DefaultLimits)
	}
	var all []forge.Rejected
	for i, r := range remarks {
		why := fmt.Sprintf("cannot check that its lines are in the diff: %v", err)
		if err == nil { // else the diff is missing or incomplete
			why = rejectReason(change, r.Span)
		}
		if why != "" {
			all = append(all, forge.Rejected{Remark: i, Why: why})
		}
	}
	return all, nil
}

// rejectReason returns why a remark cannot be on a span; empty if it can.
func rejectReason(change *diff.Change, s precedent.Span) string {
	f := change.File(s.Path)
	if f == nil {
		return "the file is not in the diff"
	}
	if s.Start == 0 {
		return "a review has no comments on a whole file"
	}
	first, last := f.HunkAt(s.Side, s.Start), f.HunkAt(s.Side, s.End)
	switch {
	case s.Start > s.End || first < 0 || last < 0:
		return "the lines are not in the diff"
	case first != last:
		return "the lines are not in one hunk of the diff"
	}
	return ""
}
