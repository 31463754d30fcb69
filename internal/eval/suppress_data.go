package eval

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/store"
)

// Memories is a data set of dismissals and of later findings.
type Memories struct {
	Form  string
	cases []remembered
	pools []pool
}

// remembered is what people dismissed, and findings labelled by whether that covers them.
type remembered struct {
	change     string // intervals draw whole changes
	now        time.Time
	threshold  int // percent
	dismissals []precedent.Dismissal
	findings   []precedent.Finding
	covered    []bool     // of each finding
	from       []drawable // others of the project that cover none of the findings, as far as that is known
}

// pool is findings that nothing covers, and dismissals to draw from.
type pool struct {
	change    string
	now       time.Time
	threshold int
	findings  []precedent.Finding
	from      []drawable
}

// drawable is a dismissal and its change; it is not drawn for findings of the same change.
type drawable struct {
	precedent.Dismissal
	change string
}

// Defaults for missing data.
const (
	usualConfidence = 90 // percent
	// anySymbol is the symbol of remarks without one in the data. With text alone, a dismissal only applies
	// to its own symbol, so giving all the same symbol is the worst case for hiding too much.
	anySymbol = "*"
	// widest is the reason with the widest scope, which also hides at once.
	widest = "Never report this in this repository."
)

// ReadMemories reads dismissals and findings. A file cases.json or cases.jsonl has them with labels.
// Otherwise it uses pairs of review comments, as in ReadPairs: the earlier one is dismissed, and the later
// one is covered if both make the same point. Without pairs, it uses the remarks that experts accepted about
// a repository's changes, which remarks about other changes do not cover. The seed selects the comments that
// nothing covers.
func ReadMemories(dir string, seed uint64) (Memories, error) {
	given, err := readEntries[givenCase](dir, "cases")
	if err == nil {
		return givenMemories(dir, given)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Memories{}, err
	}
	links, err := readLinks(dir)
	if err == nil {
		return commentMemories(dir, links, seed)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Memories{}, err
	}
	return changeMemories(dir)
}

// givenCase is a line of cases.jsonl.
type givenCase struct {
	Name       string    `json:"name"`
	Now        time.Time `json:"now"`
	Threshold  int       `json:"threshold"`
	Dismissals []struct {
		givenRemark
		Claim     string    `json:"claim"`
		Reason    string    `json:"reason"`
		At        time.Time `json:"at"`
		ExpiresAt time.Time `json:"expires_at"`
	} `json:"rejections"`
	Findings []struct {
		givenRemark
		Covered *bool `json:"covered"`
	} `json:"findings"`
}

func givenMemories(dir string, given []givenCase) (Memories, error) {
	m := Memories{Form: givenForm}
	for i, g := range given {
		name := cmp.Or(g.Name, fmt.Sprint(i+1))
		c := remembered{change: name, now: g.Now, threshold: cmp.Or(g.Threshold, review.DefaultThreshold)}
		if c.now.IsZero() {
			c.now = rejectedAt.Add(time.Hour)
		}
		for k, r := range g.Dismissals {
			if r.Claim == "" {
				return m, fmt.Errorf("read cases of %s: dismissal %d of %s has no claim", dir, k+1, name)
			}
			f := r.finding()
			f.Title = r.Claim
			j := dismiss(f, fmt.Sprintf("%s/r%d", name, k+1), r.Reason)
			if !r.At.IsZero() {
				j.At, j.ExpiresAt = r.At, r.At.Add(store.DismissalLife)
			}
			if !r.ExpiresAt.IsZero() {
				j.ExpiresAt = r.ExpiresAt
			}
			c.dismissals = append(c.dismissals, j)
		}
		for k, f := range g.Findings {
			if f.Covered == nil {
				return m, fmt.Errorf("read cases of %s: finding %d of %s does not say whether it is covered", dir, k+1, name)
			}
			c.findings = append(c.findings, withIdentity(f.finding(), fmt.Sprintf("%s/f%d", name, k+1)))
			c.covered = append(c.covered, *f.Covered)
		}
		m.cases = append(m.cases, c)
		p := pool{change: name, now: c.now, threshold: c.threshold}
		for k, f := range c.findings {
			if !c.covered[k] {
				p.findings = append(p.findings, f)
			}
		}
		for _, j := range c.dismissals {
			p.from = append(p.from, drawable{Dismissal: j})
		}
		m.pools = append(m.pools, p)
	}
	return m, nil
}

// withIdentity gives a finding its identity: that of its line without neighbours, or
// a unique one if it quotes nothing. Missing values are filled in.
func withIdentity(f precedent.Finding, id string) precedent.Finding {
	f.ID, f.Placement = id, precedent.Inline
	f.Category, f.Severity = cmp.Or(f.Category, precedent.Bugs), cmp.Or(f.Severity, precedent.Medium)
	f.Confidence = cmp.Or(f.Confidence, usualConfidence)
	f.Fingerprint = id
	if line := match.Flagged(f.Quote); line != "" {
		f.Place = precedent.Place(f.Path, line, "", "")
		f.Fingerprint = precedent.Fingerprint(f.Place, f.Category, 0)
	}
	return f
}

// dismiss returns the dismissal of a finding.
func dismiss(f precedent.Finding, id, reason string) precedent.Dismissal {
	f = withIdentity(f, id)
	return precedent.Dismissal{
		ID: id, Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Claim: f.Title,
		Path: f.Path, Symbol: f.Symbol, Category: f.Category, Severity: f.Severity, Reason: reason, Who: "people",
		At: rejectedAt, ExpiresAt: rejectedAt.Add(store.DismissalLife),
	}
}
