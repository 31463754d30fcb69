package lint

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/secret"
)

// Confidence of secrets, in percent. The measured numbers are from seven repositories
// (2.28 million lines: riverqueue/river, FiloSottile/age, golang/oscar, pallets/click,
// spring-projects/spring-ai, timescale/timescaledb, keepassxreboot/keepassxc), in which
// every finding was judged.
const (
	// issuedConfidence is for forms that only a service issues. None was wrong: none
	// was found outside tests.
	issuedConfidence = 95
	// keyStoreConfidence and selfMadeConfidence are for private keys. One of one shown
	// was right; some open nothing.
	keyStoreConfidence = 85
	selfMadeConfidence = 85
	// genericConfidence is for any value with the name of a credential. None was shown,
	// so this is an estimate: a random value is often that of a test setup.
	genericConfidence = 80
	// partialConfidence is for ids and publishable keys, which are no credential alone.
	partialConfidence = 50
	// testKeyConfidence is for the test keys of a file: none of 22 was worth a remark.
	testKeyConfidence = 20
	// lookAlikeConfidence is for what is probably no credential: none of 89 was one.
	lookAlikeConfidence = 5
)

// confidenceOfSecret is the confidence of a match that looks like a credential, by its rule.
func confidenceOfSecret(m secret.Match) int {
	switch {
	case m.Partial():
		return partialConfidence
	case m.Generic():
		return genericConfidence
	case m.Rule == "private-key" || m.Rule == "age-secret-key" || strings.HasPrefix(m.Rule, "jwt"):
		return selfMadeConfidence
	}
	return issuedConfidence
}
