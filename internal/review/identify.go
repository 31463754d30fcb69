package review

import (
	"github.com/precedent-dev/precedent"
)

// identify sets the fingerprint and id of every finding. They are the same on every
// machine, and in later reviews while the flagged code is unchanged.
func identify(fs []precedent.Finding, src *sources, repo precedent.Repo) {
	for i := range fs {
		f := &fs[i]
		ordinal := 0
		switch {
		case f.Dropped == precedent.NoEvidence:
			// It stands nowhere; what it says keeps it apart from what stands somewhere.
			nowhere := precedent.Place(f.Path, "nowhere", f.Quote, f.Title)
			f.Fingerprint = precedent.Fingerprint(nowhere, f.Category, 0)
			f.ID = precedent.FindingID(repo, f.Fingerprint)
			continue
		case f.Start == 0:
			f.Place = precedent.Place(f.Path, "", "", "")
		default:
			var line, before, behind string
			line, before, behind, ordinal = src.file(f.Side, f.Path).identity(f.Start)
			f.Place = precedent.Place(f.Path, line, before, behind)
		}
		f.Fingerprint = precedent.Fingerprint(f.Place, f.Category, ordinal)
		f.ID = precedent.FindingID(repo, f.Fingerprint)
	}
}
