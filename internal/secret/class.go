package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"hash/crc32"
	"path"
	"slices"
	"strings"
)

// Class is what a match probably is.
type Class int

const (
	// Credential is a value that opens something, as far as the text shows.
	Credential Class = iota
	// TestKey is a key of tests, fixtures or documentation, or one that everybody knows.
	TestKey
	// LookAlike is something else: a name, a hash, a public key, a placeholder.
	LookAlike
)

// form is what the rule of a match knows about its value.
type form int

const (
	issued   form = iota // a service issues values of this form, and nothing else has it
	selfMade             // anyone makes such values: private keys, age identities
	loose                // any value in a place where credentials often are
)

// looseRules are the rules that are not about the form of the value, besides those
// that match any value after the name of a service, which are recognized by leadIn.
// The others look for "s." or a hash near the name of a service.
var looseRules = wordSet("generic-api-key curl-auth-header curl-auth-user kubernetes-secret-yaml hashicorp-tf-password nuget-config-password vault-service-token sourcegraph-access-token sidekiq-secret")

// selfMadeRules are those for values that anyone makes, besides those for JSON Web Tokens.
var selfMadeRules = wordSet("private-key age-secret-key " + ruleKeyText + " " + ruleLaravel + " " + ruleDjango)

func (m Match) form() form {
	switch {
	case m.Partial():
		return issued
	case selfMadeRules[m.Rule] || strings.HasPrefix(m.Rule, "jwt"):
		return selfMade
	case m.byService() || looseRules[m.Rule] || isOwn(m.Rule):
		return loose
	}
	return issued
}

// issuedChecksum matches the tokens of GitHub and npm whose last six characters are a checksum of the others.
var issuedChecksum = compile(`^(?:gh[pousr]|npm)_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$`)

// checksum reports whether a token has a right checksum, and whether tokens of its form have one. It is the CRC-32 in
// base 62.
func checksum(token string) (right, has bool) {
	m := issuedChecksum().FindStringSubmatch(token)
	if m == nil {
		return false, false
	}
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum, digits := crc32.ChecksumIEEE([]byte(m[1])), []byte("000000")
	for i := range digits {
		digits[len(digits)-1-i] = alphabet[sum%62]
		sum /= 62
	}
	return string(digits) == m[2], true
}

// isComment reports whether a line is of a comment in code, or of a list.
func isComment(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return slices.ContainsFunc([]string{"//", "* ", "# ", "/*", "-- ", "; "}, func(sign string) bool {
		return strings.HasPrefix(line, sign)
	})
}

// Partial reports whether the value is only half of a credential, or a public one: the
// id of a client, a publishable key.
func (m Match) Partial() bool {
	return strings.HasSuffix(m.Rule, "-id") || strings.Contains(m.Rule, "publishable") || strings.Contains(m.Rule, "-pub-")
}

// byService reports whether the rule matches any value after the name of a service.
func (m Match) byService() bool {
	set, err := loadRules()
	return err == nil && set.byService[m.Rule]
}

// Class returns what a match of a scan of the lines of a file is. Redaction does not ask: what may be a
// credential must not get out. The file's path and the names and values around a match are those of the
// change, so they only move a match down if the value itself is not of a form that a service issues.
func (m Match) Class(name string, lines []string) Class {
	if isWellKnown(m.Secret) {
		return TestKey
	}
	switch where := placeOf(name); m.form() {
	case issued:
		right, has := checksum(m.Secret)
		switch {
		case isDummy(m.Secret) || strings.Contains(m.Secret, "_test_"):
			return TestKey
		case !right && (where == inFixture || has && where == inTests):
			return TestKey
		}
	case selfMade:
		switch {
		case m.Rule == "private-key" && !hasKeyBody(m.Secret), strings.HasPrefix(m.Rule, "jwt") && !isSecretToken(m.Secret):
			return LookAlike
		case (m.Rule == ruleLaravel || m.Rule == ruleDjango) && isTried(name), isDummy(m.Secret), isComment(lines[m.Line]),
			(where != inProduct || m.hasTestName(lines)) && !isServiceAccount(m, lines):
			return TestKey
		}
	case loose:
		if m.isSearchKey(name, lines) || m.isName(name, lines) || m.isOtherPass(name, lines) {
			return LookAlike
		}
		return m.looseClass(name, where, lines)
	}
	return Credential
}

// looseClass is the class of a match by a rule that does not know the form of the
// value: name and value decide.
func (m Match) looseClass(name string, where placed, lines []string) Class {
	value, says := m.Secret, m.judgeName(lines)
	switch m.Rule {
	case "kubernetes-secret-yaml":
		if _, v, ok := strings.Cut(value, ":"); ok {
			value = decoded(strings.Trim(v, " \t\r\n|>\"'"))
		}
	case "curl-auth-user":
		user, password, _ := strings.Cut(strings.Trim(value, `"'`), ":")
		value = cmp.Or(password, user) // some services take a token as the user
	case ruleBasic:
		_, value, _ = strings.Cut(decoded(value), ":")
	}
	if m.Rule == ruleBearer || m.Rule == ruleBasic || m.Rule == "kubernetes-secret-yaml" || strings.HasPrefix(m.Rule, "curl-") ||
		strings.HasPrefix(m.Rule, "password-in-") {
		says = namesCredential // only credentials are in such a place
	}
	value = decoded(strings.Trim(value, `"'`)) // what encodes a placeholder is one
	if m.byService() && says == namesOther && !m.hasNotName(lines) {
		says = namesKey // the name of a service
	}
	switch {
	case says == namesOther || isPlaceholder(value) || isHashLike(m, lines) || isPublicKey(value) || m.isOfMaven(lines):
		return LookAlike
	case says == namesKey && (len(value) < minKey || isUUID(value)):
		return LookAlike
	case !isRandom(strings.ReplaceAll(value, "-", "")) && !(m.byService() && randomness(value) > serviceFrom) && !m.isInvented(name, value, lines):
		return LookAlike
	case says == namesTest || where != inProduct || m.isTried(name, lines) || m.signsInCI(name, lines):
		return TestKey
	}
	return Credential
}

// maxSection is how many lines above a value its section is looked for.
const maxSection = 200

// triedSection matches those of the machines of developers, in the settings of Rails. What has an anchor, others use, too.
var triedSection = compile(`^(?:test|development):\s*(?:#.*)?$`)

// isTried reports whether a match is in such a section of a file in YAML.
func (m Match) isTried(name string, lines []string) bool {
	if ext := path.Ext(name); ext != ".yml" && ext != ".yaml" {
		return false
	}
	for _, line := range slices.Backward(lines[max(0, m.Line-maxSection) : m.Line+1]) {
		if line != "" && strings.IndexByte(" \t\r#-}]", line[0]) < 0 {
			return triedSection().MatchString(line)
		}
	}
	return false
}

var (
	pipelineFile = compile(`(?:^|/)(?:\.(?:github|gitea|forgejo)/workflows/[^/]+|\.circleci/config|\.?travis|\.gitlab-ci|\.drone|\.?appveyor|` +
		`azure-pipelines|bitbucket-pipelines)\.ya?ml$`)
	deploying = compile(`(?i)deploy|release|publish|prod|staging`)
	// signing matches variables in capitals: in small letters, a step has the secret of some service.
	signing = compile(`^(?:(?:APP|RAILS|DJANGO|FLASK|DEVISE)_)?SECRET_(?:KEY(?:_BASE)?|TOKEN)$|^APP_KEY$|^(?:JWT|SESSION|COOKIE)_SECRET(?:_KEY)?$`)
)

// signsInCI reports whether a match is the secret with which an app signs its sessions, in the tests of a pipeline.
func (m Match) signsInCI(name string, lines []string) bool {
	text := strings.TrimRight(m.before(lines), betweenNameAndValue)
	return pipelineFile().MatchString(name) && !deploying().MatchString(name) && signing().MatchString(text[nameStart(text):])
}

// isSearchKey reports whether a match is the search key of a Docusaurus site, or of another that uses Algolia, which its
// pages send to everybody. An administrator's key has the same form, so the file and the names count.
func (m Match) isSearchKey(name string, lines []string) bool {
	words := nameWords(nameBefore(m.before(lines)))
	if slices.Contains(words, "search") && !slices.Contains(words, "admin") && !slices.Contains(words, "write") {
		return m.Rule == "algolia-api-key" || slices.Contains(words, "only")
	}
	return strings.HasPrefix(path.Base(name), "docusaurus.config.") && slices.Equal(words, []string{"api", "key"}) &&
		hexDigest().MatchString(strings.Trim(m.Secret, `"'`))
}

// isOfMaven reports whether a match is a password that Maven encrypted: the text of an element in braces.
func (m Match) isOfMaven(lines []string) bool {
	return strings.HasSuffix(lines[m.Line][:m.Start], ">{") && strings.HasPrefix(lines[m.EndLine][m.End:], "}<")
}

// isName reports whether a match without quotes is a name in code: of a function that is called, or after a comma.
func (m Match) isName(name string, lines []string) bool {
	return m.Rule == ruleAssigned && !m.isQuoted(lines) && !isConfig(name) &&
		(strings.HasPrefix(lines[m.EndLine][m.End:], "(") || strings.HasSuffix(strings.TrimRight(lines[m.Line][:m.Start], " "), ","))
}

// isQuoted reports whether a quote opens before a match.
func (m Match) isQuoted(lines []string) bool {
	return m.Start > 0 && strings.IndexByte("\"'`", lines[m.Line][m.Start-1]) >= 0
}

// isOtherPass reports whether the name of a match is that of something that passes rather than of a password, as in
// code of graphics, or that of a product.
func (m Match) isOtherPass(name string, lines []string) bool {
	words := nameWords(nameBefore(m.before(lines)))
	return m.Rule == ruleAssigned && len(words) > 0 && words[len(words)-1] == "pass" && (isUUID(m.Secret) || !m.isQuoted(lines) && !isSettings(name))
}

// minKey is the length in bytes below which the value of some key, such as one of a map, is not a credential.
const minKey = 20

// serviceFrom is what randomness must exceed if the rule knows the length and the
// characters of a service's values.
const serviceFrom = -1

// before returns the text before a match: its line, or the line above it if there is nothing else on its own.
func (m Match) before(lines []string) string {
	text := lines[m.Line][:m.Start]
	if m.Line > 0 && strings.Trim(text, betweenNameAndValue) == "" {
		return lines[m.Line-1]
	}
	return text
}

func (m Match) judgeName(lines []string) named {
	text := m.before(lines)
	if says := judgeName(nameBefore(text)); says != namesOther {
		return says
	}
	// - name: API_KEY
	//   value: ...
	if m.Line > 0 && strings.HasPrefix(strings.TrimLeft(text, " \t-\"'{"), "value") {
		return judgeName(nameBefore(lines[m.Line-1]))
	}
	return namesOther
}

// hasNotName reports whether a word in the name says that the value is something else than a credential.
func (m Match) hasNotName(lines []string) bool {
	words := nameWords(nameBefore(m.before(lines)))
	for _, w := range words {
		if notCredential[w] {
			return true
		}
	}
	return len(words) > 0 && afterCredential[words[len(words)-1]]
}

// hasTestName reports whether one of the last words before the value, of a name or of
// a call, says that it is of tests.
func (m Match) hasTestName(lines []string) bool {
	text := m.before(lines)
	return slices.ContainsFunc(nameWords(text[max(0, len(text)-maxBefore):]), func(w string) bool {
		return testWords[w]
	})
}

// keyID matches the id of a key that Google Cloud issued.
var keyID = compile(`"private_key_id"\s*:\s*"([0-9a-f]{40})"`)

// isServiceAccount reports whether a private key is in the file that Google Cloud makes for a service
// account, which is real wherever it is. The id of an invented one is short or a run of digits.
func isServiceAccount(m Match, lines []string) bool {
	for _, l := range lines[max(0, m.Line-5):m.Line] {
		if id := keyID().FindStringSubmatch(l[:min(len(l), maxMeasured)]); id != nil {
			return !hasRun(id[1])
		}
	}
	return false
}

// IsEncrypted reports whether a private key is encrypted with a passphrase, so that it
// opens nothing by itself.
func (m Match) IsEncrypted() bool {
	for _, sign := range []string{
		"BEGIN ENCRYPTED PRIVATE KEY", "Proc-Type: 4,ENCRYPTED", "b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHI",
	} {
		if strings.Contains(m.Secret, sign) { // the last one is aes256-ctr in the format of OpenSSH
			return true
		}
	}
	return false
}

// decoded returns what hexadecimal digits or base64 encode, or the text itself if that is not text.
func decoded(s string) string {
	if b, err := hex.DecodeString(s); err == nil && isPrintable(b) {
		return strings.TrimSpace(string(b))
	}
	s = strings.TrimRight(s, "=")
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := encoding.DecodeString(s); err == nil && isPrintable(b) {
			return strings.TrimSpace(string(b))
		}
	}
	return s
}

func isPrintable(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}
