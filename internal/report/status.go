package report

import "github.com/precedent-dev/precedent"

// Ended says how a finder's work ended: the number of findings, or what went wrong.
func Ended(s precedent.Status, found int) string {
	switch s {
	case precedent.StatusOK, precedent.StatusEmpty:
		if found == 0 {
			return "none"
		}
		return Plural(found, "finding")
	case precedent.StatusTimeout:
		return "timed out"
	case precedent.StatusError:
		return "failed"
	case precedent.StatusTruncated:
		return "cut short"
	case precedent.StatusOverBudget:
		return "over budget"
	case precedent.StatusMalformed:
		return "gave a malformed answer"
	}
	return string(s) // refused, off, skipped
}
