package gitea

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
)

// spot is where Gitea keeps an inline comment: comments on one spot make one
// conversation.
type spot struct {
	path     string
	new, old int // the line, on one of the sides
	commit   string
}

// lineNumber is a line of an answer; 0 for one that no file has.
func lineNumber(n uint64) int {
	if n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// position is where an inline comment stands, and its spot. Gitea's position is the
// line in the review's commit; Forgejo's is the one in the commit that wrote the
// line. The hunk that both show ends with the line, and has its number in the
// review's commit.
func position(m *sdk.PullReviewComment, commit string) (precedent.Span, spot) {
	at := spot{path: m.Path, new: lineNumber(m.LineNum), old: lineNumber(m.OldLineNum), commit: commit}
	side, line := precedent.Right, at.new
	if at.old > 0 {
		side, line = precedent.Left, at.old
	}
	if shown := lastLine(m.DiffHunk, side); shown > 0 {
		line = shown
	}
	return precedent.Span{Path: m.Path, Side: side, Start: line, End: line}, at
}

var hunkHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@`)
})

// lastLine is the number of a hunk's last line on a side; 0 if that side does not
// have it.
func lastLine(hunk string, side precedent.Side) int {
	header, body, _ := strings.Cut(strings.TrimRight(hunk, "\n"), "\n")
	found := hunkHeader().FindStringSubmatch(header)
	if found == nil || body == "" {
		return 0
	}
	before, _ := strconv.Atoi(found[1]) // nine digits are a number
	after, _ := strconv.Atoi(found[2])
	last := 0
	for line := range strings.SplitSeq(body, "\n") {
		old, added := 0, 0
		switch {
		case strings.HasPrefix(line, "\\"):
			continue // that the file ends without a line ending
		case strings.HasPrefix(line, "-"):
			old = before
			before++
		case strings.HasPrefix(line, "+"):
			added = after
			after++
		default:
			old, added = before, after
			before++
			after++
		}
		if last = added; side == precedent.Left {
			last = old
		}
	}
	return last
}

// rejectedRemarks finds the remarks that are not inside one hunk of the diff: Gitea
// would take them, and show them where nobody looks.
func (c *Client) rejectedRemarks(ctx context.Context, repo precedent.Repo, number int, remarks []forge.Remark) ([]forge.Rejected, error) {
	patch, _, err := c.Patch(ctx, repo, number)
	var large *forge.Error
	if err != nil && (!errors.As(err, &large) || large.Kind != forge.KindTooLarge) {
		return nil, err
	}
	change := &diff.Change{}
	if err == nil {
		change, err = diff.ParsePatch(bytes.NewReader(patch), diff.DefaultLimits)
	}
	var all []forge.Rejected
	for i, r := range remarks {
		why := fmt.Sprintf("cannot check that its lines are in the diff: %v", err)
		if err == nil { // else there is no change, or not all of it
			why = rejectReason(change, r.Span)
		}
		if why != "" {
			all = append(all, forge.Rejected{Remark: i, Why: why})
		}
	}
	return all, nil
}

// rejectReason says why no remark can stand on a span; empty if one can.
func rejectReason(change *diff.Change, s precedent.Span) string {
	f := change.File(s.Path)
	if f == nil {
		return "the file is not in the diff"
	}
	if s.Start == 0 {
		return "Gitea does not support comments on a whole file"
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
