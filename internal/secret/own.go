package secret

import (
	_ "embed" // for the rules
	"strings"
)

// ownRules are rules of this package.
//
//go:embed own.toml
var ownRules string

// Names of the own rules.
const (
	ruleAssigned = "assigned-credential"
	ruleBearer   = "bearer-token"
	ruleBasic    = "basic-authorization"
	ruleInvented = "invented-password"
	ruleLaravel  = "laravel-app-key"
	ruleDjango   = "django-app-key"
	ruleKeyText  = "private-key-in-base64"
	ruleCall     = "password-in-call"
	ruleDatabase = "password-in-connection"
)

// isOwn reports whether a rule is one of this package.
func isOwn(rule string) bool { return strings.Contains(ownRules, "\nid = \""+rule+"\"\n") }

// isPlace reports whether a rule is about a place where only passwords are, also those that people invent.
func isPlace(rule string) bool { return strings.HasPrefix(rule, "password-in-") && rule != ruleCall }

// isOwnSecret reports whether the value of an own rule looks like a credential. It
// keeps the own rules from redacting ordinary code.
func isOwnSecret(rule, value string) bool {
	if rule == ruleInvented {
		return !isRandom(value) && mayBeInvented(value)
	}
	return isRandom(strings.ReplaceAll(value, " ", "")) && (rule == ruleDjango || !isPlaceholder(value)) ||
		isPlace(rule) && mayBeInvented(value)
}

// The two rules for assignments accept maxName characters between their keyword and the
// operator: the rest of the name, and quotes. The value starts in the next maxGap.
const maxName, maxGap = 14 + 24 + 5, 56

// mayAssign reports whether an operator that assigns follows a name, or a literal, and then a word as long as a value.
// Without it, the rules for assignments would match words of sentences and declarations.
func mayAssign(text string, own bool) bool {
	literal := 0 // where one starts after the name and a space
	for i := range min(len(text), maxName) {
		switch c := text[i]; {
		case literal == 0 && (c == '"' || c == '\'') && i > 0 && text[i-1] == ' ':
			literal = i + 1
		case c == '\n' && literal > 0:
			return mayBeValue(text[literal:], own)
		case isLower(c), isUpper(c), isDigit(c), strings.IndexByte("_.- \t\n\r\f\v\"'`])", c) >= 0:
		case strings.IndexByte("=>:|,?({", c) >= 0:
			return mayBeValue(text[i+1:], own)
		default:
			return literal > 0 && mayBeValue(text[literal:], own)
		}
	}
	return mayBeValue(text, own)
}

// mayBeValue reports whether a word of the length of a value starts soon. The own rules
// want digits or signs in a short one; see isRandom and mayBeInvented.
func mayBeValue(text string, own bool) bool {
	run, mixed := 0, !own
	for i := range min(len(text), maxGap+minLetters) {
		c := text[i]
		if strings.IndexByte(" \t\n\r\f\v\"'`<>(){}[],;\\", c) >= 0 {
			run, mixed = 0, !own
			continue
		}
		run, mixed = run+1, mixed || isDigit(c) || strings.IndexByte("!#$%&*+?@^~", c) >= 0
		if run >= minRandom && mixed || run >= minLetters {
			return true
		}
	}
	return run > 0 && len(text) > maxGap+minLetters
}
