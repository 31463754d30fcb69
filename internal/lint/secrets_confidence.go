package lint

import "github.com/precedent-dev/precedent/internal/secret"

// Confidence of secrets, in percent. What is measured is from the trees of seven
// repositories with 2.28 million lines (decision 21), and from Go's
// source with 220 modules, 16.8 million lines.
const (
	// issuedConfidence is an estimate: the seven repositories have no such value. One was
	// in the modules, a used-up session key in a test.
	issuedConfidence = 95
	// keyStoreConfidence and selfMadeConfidence are for private keys. One of two shown
	// was not that of an example.
	keyStoreConfidence = 85
	selfMadeConfidence = 85
	// genericConfidence is an estimate, just above the default threshold, so that a
	// planted credential is shown: in the repositories and the modules none is.
	genericConfidence = 80
	// partialConfidence is for ids and publishable keys, which open nothing alone.
	partialConfidence = 50
	// testKeyConfidence and lookAlikeConfidence are for one finding a file. Of about
	// 110, by class, none was worth a remark.
	testKeyConfidence   = 20
	lookAlikeConfidence = 5
)

// confidenceOfSecret is the confidence of a match that looks like a credential, by its rule.
func confidenceOfSecret(m secret.Match) int {
	switch {
	case m.Partial():
		return partialConfidence
	case m.Generic():
		return genericConfidence
	case m.SelfMade():
		return selfMadeConfidence
	}
	return issuedConfidence
}
