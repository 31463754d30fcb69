// Package portable carries the memory of a repository between databases: as a file, and as a ref
// of a remote that clones merge.
//
// Both have the same rows, as lines of JSON: learnings with their history, dismissals, what was taken back, outcomes,
// labels, insights, and where findings were, without their text. Everything else is made again by reviews, or belongs
// to one machine. Merge is commutative, associative and idempotent, so that clones that exchange their rows in any
// order end with the same ones. Equal rows are equal bytes.
//
// What is read may come from anyone who can write to the remote: each line is bounded,
// cleaned, redacted and checked before it is used.
package portable

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
)

type key struct{ kind, id string }

// row is a line: what it is about, and what decides which of two with one key stays.
type row struct {
	key
	final bool  // a forgotten learning, which nothing brings back
	at    int64 // when it was last changed, in unix milliseconds
	until int64 // when it expires; 0 for never
	line  string
	of    string // the id of the learning that it is the history of
	value any
}

// compare orders the rows with one key: the greatest stays.
func (a row) compare(b row) int {
	switch {
	case a.final && !b.final:
		return 1
	case b.final && !a.final:
		return -1
	}
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.until, b.until), strings.Compare(a.line, b.line))
}

// Rows are the shared rows of a repository.
type Rows map[key]row

// Limits of rows: more than a team makes in years. Of histories, outcomes and labels the newest
// are kept; more of the others are refused.
const (
	maxRows    = 50_000 // of each kind
	maxHistory = 50     // of a learning
	// maxInsights is what a database reads.
	maxInsights = 2_000
	// shareFor is how long outcomes and labels are shared: calibration reads the newest.
	shareFor = 365 * 24 * time.Hour
)

// Merge returns the rows of both: of two with one key the newer, of two of one time the one
// with the greater bytes. A forgotten learning stays forgotten, and a dismissal that was taken
// back does not return unless it is newer.
func Merge(a, b Rows) Rows {
	merged := Rows{}
	for _, from := range []Rows{a, b} {
		for k, r := range from {
			if had, ok := merged[k]; !ok || r.compare(had) > 0 {
				merged[k] = r
			}
		}
	}
	for k, r := range merged {
		if k.kind != dismissalKind {
			continue
		}
		if taken, ok := merged[key{forgottenKind, k.id}]; ok && r.at <= taken.at {
			delete(merged, k)
		}
	}
	merged.keepNewest()
	return merged
}

// keepNewest removes the oldest rows of the kinds that grow with each review.
func (s Rows) keepNewest() {
	groups := map[string][]row{}
	for _, r := range s {
		switch r.kind {
		case historyKind, outcomeKind, labelKind, findingKind, insightKind:
			group := r.kind + "\x00" + r.of
			groups[group] = append(groups[group], r)
		}
	}
	for _, group := range groups {
		most := maxRows
		switch group[0].kind {
		case historyKind:
			most = maxHistory
		case findingKind:
			most = store.MaxSharedFindings
		case insightKind:
			most = maxInsights
		}
		if len(group) <= most {
			continue
		}
		slices.SortFunc(group, func(a, b row) int {
			return cmp.Or(b.compare(a), strings.Compare(a.id, b.id))
		})
		for _, r := range group[most:] {
			delete(s, r.key)
		}
	}
}

// current removes dismissals that have expired, and outcomes and labels that are too old, and restores learnings that
// nothing replaces.
func (s Rows) current(now time.Time) Rows {
	old, faded := now.Add(-shareFor).UnixMilli(), now.Add(-store.SharedFindingsLife).UnixMilli()
	maps.DeleteFunc(s, func(k key, r row) bool {
		switch k.kind {
		case dismissalKind:
			return r.until <= now.UnixMilli()
		case outcomeKind, labelKind, insightKind:
			return r.at < old
		case findingKind:
			return r.at <= faded
		}
		return false
	})
	s.restoreReplaced(reader{now})
	s.holdOpposed(reader{now})
	return s
}

// holdOpposed makes a learning wait for a person that says the opposite of an older one, which its clone did not know.
func (s Rows) holdOpposed(check reader) {
	for _, l := range memory.Opposed(s.learnings(), check.now) {
		l.State, l.Approver = precedent.LearningPending, ""
		s.change(check, l, "made pending, as it contradicts "+l.Contradicts+",")
	}
}

// learnings returns those that all clones have. Those of an owner stay where they were made: what contradicts one of them
// would wait everywhere, each time that this clone exchanges.
func (s Rows) learnings() (all []precedent.Learning) {
	for _, r := range s.sorted(learningKind) {
		if l := r.value.(precedent.Learning); l.Scope == precedent.RepositoryScope {
			all = append(all, l)
		}
	}
	return all
}

// change replaces a learning, with an entry in its history. All clones make the same rows of it.
func (s Rows) change(check reader, l precedent.Learning, action string) {
	l.UpdatedAt = l.UpdatedAt.Add(time.Millisecond)
	changed, err := check.learning(l)
	said, failed := check.history(store.SharedChange{Learning: l.ID, LearningChange: store.LearningChange{
		At: l.UpdatedAt, Who: "Precedent", Action: action, After: l,
	}})
	if err == nil && failed == nil {
		s[changed.key], s[said.key] = changed, said
	}
}

// restoreReplaced makes a learning active again if the one that a clone replaced it by was forgotten in another,
// which did not know: else neither would hold. One that an active learning contradicts stays replaced: that one names
// only the last of several that it replaced.
func (s Rows) restoreReplaced(check reader) {
	hold, replaced := s.learnings(), map[string]bool{}
	for _, r := range s.sorted(learningKind) {
		replaced[r.value.(precedent.Learning).Supersedes] = true
	}
	for _, r := range s.sorted(learningKind) {
		l := r.value.(precedent.Learning)
		if l.State != precedent.LearningSuperseded || replaced[l.ID] || memory.Contradicted(hold, l) != nil {
			continue
		}
		l.State = precedent.LearningActive
		s.change(check, l, "restored, as what replaced it was forgotten elsewhere,")
	}
}

// sorted returns the rows of a kind, or of all if it is empty, in the order of their lines.
func (s Rows) sorted(kind string) []row {
	var found []row
	for _, r := range s {
		if kind == "" || r.kind == kind {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b row) int {
		return cmp.Or(slices.Index(kinds, a.kind)-slices.Index(kinds, b.kind), strings.Compare(a.id, b.id))
	})
	return found
}

// Counts say what an import changed.
type Counts struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"` // dismissals that were taken back elsewhere
	Same    int `json:"already_there"`
	// Opposed counts new learnings that wait because they contradict another.
	Opposed int `json:"contradicting"`
}

// difference returns the rows of merged that the database does not have, as store.Shared, and
// what they change. Histories are whole.
func difference(local, merged Rows) (store.Shared, Counts) {
	var news store.Shared
	var c Counts
	changed := map[string]bool{} // learnings with new history
	for k, r := range merged {
		had, ok := local[k]
		switch {
		case ok && had.line == r.line:
			c.Same++
			continue
		case r.kind == historyKind:
			changed[r.of] = true
		case r.kind == forgottenKind:
			if j, ok := local[key{dismissalKind, k.id}]; ok && j.at <= r.at {
				c.Removed++
			}
		case ok:
			c.Changed++
		default:
			c.Added++
		}
		if r.kind != historyKind {
			forms[r.kind].add(&news, r.value)
		}
		if l, ok := r.value.(precedent.Learning); ok && l.State == precedent.LearningPending && l.Contradicts != "" {
			c.Opposed++
		}
	}
	for _, r := range merged.sorted(historyKind) {
		if changed[r.of] {
			forms[r.kind].add(&news, r.value)
		}
	}
	return news, c
}
