package secret

import (
	"encoding/json"
	"slices"
	"strings"
)

// wellKnown are the beginnings of keys that documentation and emulators publish. They
// are long enough that no other key has them, and too short to be one.
var wellKnown = []string{
	"Eby8vdM02xNOcqFl",                 // the storage emulator of Azure, Azurite
	"C2y6yDjf5/R+ob0N",                 // the emulator of Azure Cosmos DB
	"ac0974bec39a17e3",                 // the first accounts of Hardhat and Anvil
	"59c6995e998f97a5",                 // the second
	"5de4111afa1a4b94",                 // the third
	"4f3edf983ac636a6",                 // the first account of Ganache
	"GEZDGNBVGY3TQOJQ",                 // the test vectors of RFC 6238, TOTP
	"JBSWY3DPEHPK3PXP",                 // the example of most TOTP libraries
	"4eC39HqLyjWDarj",                  // Stripe's documentation
	"16C7e42F292c6912",                 // GitHub's documentation
	"MIIEogIBAAKCAQEA6NF8iallvQVp22WD", // Vagrant's insecure key
	"eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFt", // jwt.io: "sub":"1234567890","name"
	"6LeIxAcTAAAAAGG-",                 // the secret of reCAPTCHA for tests
	"oyArl7zlPECEduNb",                 // MinIO's documentation
	"sRrdfUPK8zYkm4A5",                 // RFC 7515
	"AIzaSyAO_FJ2SlqU8Q4",              // YouTube's own clients: web, Android and iOS, and music
	"AIzaSyA8eiZmM1FaDV", "AIzaSyB-63vPrdThhK", "AIzaSyC9XL3ZjWddXy",
	"AGE-SECRET-KEY-184JMZMVQH3E6U0P", // age's test suite
	"AGE-SECRET-KEY-1N9JEPW6DWJ0ZQUD", // age's manual
}

// isWellKnown reports whether everybody has this key.
func isWellKnown(value string) bool {
	if strings.Contains(value, "EXAMPLE") {
		return true
	}
	return slices.ContainsFunc(wellKnown, func(w string) bool {
		return strings.Contains(value, w) || strings.HasPrefix(value, "0x"+w) || strings.HasPrefix(value, strings.ToLower(w))
	})
}

// placeholderWords are in values that stand for a credential. All are so long that
// random values do not have them.
var placeholderWords = []string{
	"example", "sample", "changeme", "change_me", "change-me", "changeit", "dummy", "placeholder", "replace", "insert",
	"redacted", "foobar", "yourkey", "your_", "your-", "yourtoken", "yoursecret", "yourpass", "myapi", "mysecret",
	"mytoken", "mypass", "my-secret", "my_secret", "password", "passw0rd", "p@ssw0rd", "secret", "letmein", "qwerty",
	"asdfgh", "hunter2", "deadbeef", "cafebabe", "notreal", "not-a-real", "invalid", "todo", "fake", "lorem",
	"testtest", "test_", "test-", "testkey", "testtoken",
}

// placeholderSigns are in templates, variables and expressions.
var placeholderSigns = []string{
	"${", "{{", "}}", "<%", "%(", "$(", "...", "****", "environ", "process.env", "getenv", "://", "(", "[", "\\u",
}

// containsAny reports whether one of the parts is in a text.
func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// isPlaceholder reports whether a value stands for a credential: words such as "changeme", templates,
// variables, expressions, repeated characters, and runs of the alphabet or of digits.
func isPlaceholder(value string) bool {
	small := strings.ToLower(value[:min(len(value), maxMeasured)])
	if containsAny(small, placeholderWords) || containsAny(small, placeholderSigns) {
		return true
	}
	if small == "" || strings.HasPrefix(small, "$") || strings.HasPrefix(small, "<") || strings.HasPrefix(small,
		"%") && strings.HasSuffix(small, "%") {
		return true
	}
	return hasRun(small)
}

// dummyWords are in keys of a known form that stand for one.
var dummyWords = []string{
	"example", "dummy", "placeholder", "changeme", "yourkey", "your_", "your-", "yourtoken",
	"xxxxxx", "redacted", "notreal",
}

// isDummy reports whether a key of a known form stands for one: "ghp_xxxx…".
func isDummy(value string) bool {
	small := strings.ToLower(value[:min(len(value), maxMeasured)])
	return containsAny(small, dummyWords) || hasRun(small)
}

// hasRun reports whether runs, or one byte, make up so much of a value that it is not random, such as an image in
// base64.
func hasRun(value string) bool {
	counts := [256]int{}
	for i := range len(value) {
		counts[value[i]]++
	}
	return longestRun(value) >= max(5, min(12, len(value)/4)) || slices.Max(counts[:])*2 > len(value)
}

// longestRun is the length of the longest run of characters that are equal, or that
// follow each other in the alphabet or among the digits.
func longestRun(s string) int {
	longest, run, last := 1, 1, 0
	for i := 1; i < len(s); i++ {
		d := int(s[i]) - int(s[i-1])
		switch {
		case d < -1 || d > 1:
			run, last = 1, 2
		case d == last:
			run++
		default:
			run, last = 2, d
		}
		longest = max(longest, run)
	}
	return longest
}

// isUUID reports whether a value has the form of a UUID.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		isDash := i == 8 || i == 13 || i == 18 || i == 23
		if isDash != (s[i] == '-') || !isDash && !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// hexDigest matches a checksum, of MD5 to SHA-512, and namedByFile what is before one in a list of files.
var (
	hexDigest   = compile(`^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$`)
	namedByFile = compile(`["'][^"'\s]*/[^"'\s]*\.[A-Za-z]{1,5}["']\s*:\s*["']?$`)
)

// isHashLike reports whether a match is the value of a checksum: a prefix in the
// value or before it names the function, its name is the path of a file, or git names it as the key that signs.
func isHashLike(m Match, lines []string) bool {
	text := m.before(lines)
	if hexDigest().MatchString(strings.Trim(m.Secret, `"'`)) && namedByFile().MatchString(text[max(0, len(text)-maxBefore):]) {
		return true
	}
	text = strings.ToLower(text)
	text = text[max(0, len(text)-maxBefore):] + strings.ToLower(m.Secret[:min(len(m.Secret), 16)])
	for _, prefix := range []string{
		"sha1-", "sha1:", "sha256-", "sha256:", "sha384-", "sha512-", "sha512:", "md5:", "h1:",
		"$2a$", "$2b$", "$2y$", "$argon2", "pbkdf2", "scrypt:", "@sha256", "scram-sha-", "'md5", "user.signingkey",
	} {
		if strings.Contains(text, prefix) {
			return true
		}
	}
	return false
}

// publicValue matches the keys with which programs send events to PostHog, and what kubeseal encrypts.
var publicValue = compile(`^(?:phc_[0-9A-Za-z]{40,}$|Ag[A-D][0-9A-Za-z+/]{600})`)

// isPublicKey reports whether a value is a public key by its form: of SSH, age, PKIX in base64, minisign, the publishable
// keys of payment services and of Mapbox, keys of PostHog, and sealed values.
func isPublicKey(value string) bool {
	for _, prefix := range []string{
		"age1", "AAAAB3NzaC", "AAAAC3NzaC", "AAAAE2VjZHNh", "MIIBIjANBgkq", "MIGfMA0GCSqG",
		"MFkwEwYHKoZI", "MCowBQYDK2Vw", "MHYwEAYHKoZI", "RWQ", "pk_", "pk.eyJ", "LS0tLS1CRUdJTiBQVUJMSUMg", "LS0tLS1CRUdJTiBDRVJU",
	} {
		if strings.HasPrefix(value, prefix) {
			return true
		}
	}
	return publicValue().MatchString(value)
}

// minBody is how many characters of base64 a private key has at least. Those of Ed25519 have 64.
const minBody = 60

// hasKeyBody reports whether there is a key between the lines of a PEM block, rather
// than code that compares or writes such lines.
func hasKeyBody(block string) bool {
	body, run, longest := 0, 0, 0
	block = armour().ReplaceAllString(block, "\n")
	for i := range len(block) {
		c := block[i]
		if isLower(c) || isUpper(c) || isDigit(c) || c == '+' || c == '/' || c == '=' {
			body++
			run++
			longest = max(longest, run)
			continue
		}
		run = 0
	}
	// Code has signs and short words. A body has long lines.
	return body >= minBody && longest >= minLine && body*4 >= len(block)*3
}

// minLine is the length of the longest line that a key has at least: quoted in code, PEM is sometimes folded.
const minLine = 24

// isSecretToken reports whether a JSON Web Token may be a credential: its header and
// claims can be read, and they are not those of a public client.
func isSecretToken(token string) bool {
	parts := strings.Split(token, ".")
	if len(parts) < 3 {
		return true // encoded once more
	}
	var header, claims map[string]any
	if json.Unmarshal([]byte(decoded(parts[0])), &header) != nil || json.Unmarshal([]byte(decoded(parts[1])),
		&claims) != nil {
		return true
	}
	return claims["role"] != "anon" && header["alg"] != "none"
}
