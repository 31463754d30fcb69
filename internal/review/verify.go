package review

import "github.com/precedent-dev/precedent"

// verify sets what a verifier says of each finding. None is asked yet, and a
// finding says so: an unverified one is never taken for a confirmed one.
func verify(fs []precedent.Finding) {
	for i := range fs {
		f := &fs[i]
		f.Verifier = precedent.Unchecked
		if !f.Live() {
			continue
		}
		if f.Analyzer {
			f.Note("verify", "not verified: an analyzer computed it")
		} else {
			f.Note("verify", "not verified: no verifier was asked")
		}
	}
}
