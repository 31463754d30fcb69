package lint

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/secret"
)

// Confidence of secrets, in percent.
const (
	issuedConfidence    = 95
	keyStoreConfidence  = 85
	selfMadeConfidence  = 85
	genericConfidence   = 80
	partialConfidence   = 50
	testKeyConfidence   = 20
	lookAlikeConfidence = 5
)

// confidenceOf is the confidence of a match that looks like a credential, by its rule.
func confidenceOf(m secret.Match) int {
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
