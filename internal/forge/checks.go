package forge

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/precedent-dev/precedent/internal/text"
)

// CommitCheck is a check run or a status of a commit: what a CI reports.
type CommitCheck struct {
	// Name is that of the check run, or the context of the status. Text of the CI: untrusted.
	Name  string
	State CheckState
	// URL is the page of the result; empty if there is none, or it is not http or https. It may be on any host.
	URL string
	// Started is when the check started, or when it was created if that is not known.
	Started time.Time
	// Own tells that it is our check: it has CheckName, and the account or the app of the token made
	// it. It says nothing about the CI.
	Own bool
}

// CheckState is the state of a CommitCheck.
type CheckState string

// The states.
const (
	CheckPending CheckState = "pending" // queued, waiting, running; also a state that is not known
	CheckPassed  CheckState = "passed"  // on Gitea also with a warning
	CheckFailed  CheckState = "failed"  // also cancelled, timed out, stale, and waiting for a person
	CheckSkipped CheckState = "skipped" // also neutral
)

// CheckName is the name of our check, which branch protection rules refer to.
const CheckName = "precedent"

// MaxCheckName bounds CommitCheck.Name, in characters; a longer name is cut.
const MaxCheckName = 255

// MaxRepositories bounds the result of Forge.Repositories.
const MaxRepositories = 1000

// Report is a check run or a status as a forge lists it, which may be replaced by a newer one.
type Report struct {
	CommitCheck
	// Maker is who made it, and Suite the run of a workflow that it belongs to, 0 if there are none: of
	// those of the same name, maker and suite only the newest counts.
	Maker string
	Suite int64
	// Number grows with time.
	Number int64
	// Void tells that it ended without a result, because it was cancelled or too old. Then a newer one of the
	// same name and maker replaces it, also of another suite.
	Void bool
}

// NewestChecks returns the newest report of each name, maker and suite, sorted by name. Two
// workflows may have jobs of the same name, and a later run of one that was skipped says nothing about
// an earlier one that failed: so suites do not replace each other.
func NewestChecks(all []Report) []CommitCheck {
	type job struct{ name, maker string }
	type key struct {
		job
		suite int64
	}
	newest, last := map[key]Report{}, map[job]int64{}
	for _, r := range all {
		j := job{r.Name, r.Maker}
		k := key{j, r.Suite}
		if old, ok := newest[k]; !ok || r.Number > old.Number {
			newest[k] = r
		}
		last[j] = max(last[j], r.Number)
	}
	out := make([]CommitCheck, 0, len(newest))
	for k, r := range newest {
		if r.Void && r.Number < last[k.job] {
			continue
		}
		r.Name, r.URL = text.Cut(r.Name, MaxCheckName), webPage(r.URL)
		out = append(out, r.CommitCheck)
	}
	slices.SortFunc(out, func(a, b CommitCheck) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), a.Started.Compare(b.Started), cmp.Compare(a.URL, b.URL),
			cmp.Compare(a.State, b.State))
	})
	return out
}

// maxPage bounds the address of a result, in bytes.
const maxPage = 2000

// webPage returns an address if it is one of http or https without a user; else it is empty.
func webPage(address string) string {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxPage || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}
