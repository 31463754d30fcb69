package secret

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// isNamed is for a value after a name in any text. Code has many values without quotes
// that are expressions: those must look random.
func isNamed(name, value string, quoted bool) bool {
	if !opensSomething(name) {
		return false
	}
	if quoted {
		return isMixed(value) || isWords(name, value)
	}
	return isMixed(value) && !isExpression(value)
}

// isSetting is for a value that takes the rest of its line, as in configuration.
func isSetting(name, value string, quoted bool) bool {
	if !opensSomething(name) || strings.ContainsAny(value, " \t\"'`<>") || strings.Contains(value, "://") {
		return false
	}
	value = strings.TrimRight(value, "\"',;")
	if strings.ContainsAny(value, "()[]{}") && !quoted && randomness(value) < randomFrom {
		return false
	}
	return isMixed(value) && !isExpression(value)
}

// isBlock is for a block of YAML, of one word or of lines of base64.
func isBlock(name, value string, _ bool) bool {
	first, _, _ := strings.Cut(value, "\n")
	return opensSomething(name) && isGiven(first) && !strings.Contains(strings.TrimSpace(first), " ")
}

// hasPassword reports whether one of the arguments of a call after the first may be a password.
func hasPassword(arguments string) bool {
	_, rest, _ := strings.Cut(arguments, ",")
	for _, a := range strings.FieldsFunc(rest, func(r rune) bool {
		return r == '"' || r == '\'' || r == ',' || r == ' ' || r == '\n'
	}) {
		if isMixed(a) && (!strings.Contains(a, ".") || strings.Trim(a, "abcdefghijklmnopqrstuvwxyz0123456789.-@") != "") {
			return true
		}
	}
	return false
}

// isWords reports whether the value of what can only be a password is one of words and numbers alone.
func isWords(name, value string) bool {
	words := nameWords(name)
	if len(words) == 0 || !onlyPassword[words[len(words)-1]] || len(value) < 8 || isTemplate(value) || placeholders[strings.ToLower(value)] {
		return false
	}
	for i := range len(value) {
		if c := value[i]; !isLower(c) && !isUpper(c) && !isDigit(c) && c != '-' && c != '_' {
			return false
		}
	}
	for _, w := range nameWords(value) {
		if credentialWords[w] || notWords[w] || testWords[w] {
			return false
		}
	}
	return strings.ToUpper(value) != value
}

// isInvented reports whether a value without quotes in a configuration may be a password that a person invented, of
// words alone.
func isInvented(name, value string) bool {
	words := nameWords(name)
	if len(words) == 0 || !opensSomething(name) {
		return false
	}
	last := words[len(words)-1]
	if !onlyPassword[last] && last != "pass" && last != "pw" && !endsWithAny(last,
		[]string{"pass", "password", "passwd"}) {
		return false
	}
	value = strings.TrimRight(value, "\"',;")
	if len(value) < 5 || !isGiven(value) || strings.ContainsAny(value, " ()[]{}<>\"'`:/\\$") || !isLatin(value) {
		return false
	}
	for _, w := range nameWords(value) {
		if credentialWords[w] || notWords[w] || testWords[w] {
			return isMixed(value)
		}
	}
	return strings.ToLower(value[1:]) != value[1:] || isLower(value[0]) || strings.ContainsAny(value, "0123456789")
}

// isOption reports whether the value of an option of a command may be a credential, rather than a word of a
// sentence about the option.
func isOption(value string) bool {
	return isGiven(value) && len(value) >= minMixed && !proseWords[value] && !strings.ContainsAny(value, "()[]{}$`")
}

// proseWords follow the name of an option in sentences.
var proseWords = wordSet("option options flag flags argument arguments parameter parameters value instead which must should would could cannot using " +
	"unless without before after where while their these those there being given provided specified takes accepts requires enables disables sets")

var (
	onlyPassword = wordSet("password passwords passwd passphrase pwd passwort")
	// notWords are words in what is not a password but says something about one.
	notWords = wordSet("user username login email name field input type text string value key current new old confirm confirmation repeat forgot reset change invalid required missing wrong " +
		"incorrect update show hide toggle label hidden default enter test testing hash encrypted plain none null true false undefined prompt str bool int bytes optional object any number boolean char var nil data std self this")
)

// opensSomething reports whether a name is that of a credential.
func opensSomething(name string) bool {
	if judgeName(name) >= namesCredential {
		return true
	}
	words := nameWords(name)
	for i, w := range words {
		if notCredential[w] {
			return false
		}
		if i+1 < len(words) && afterCredential[words[i+1]] {
			continue
		}
		if outboundWords[w] {
			return true
		}
		for _, end := range []string{"pass", "pwd", "passwort", "kennwort"} {
			if strings.HasSuffix(w, end) && !endsWithAny(w, notPass) {
				return true
			}
		}
	}
	return false
}

var (
	// outboundWords are names of credentials besides those of judgeName.
	outboundWords = wordSet("passwort kennwort senha contrasena contrasenya parola psk sessionid phpsessid jsessionid")
	// notPass are words that only end like the name of a password.
	notPass = []string{"bypass", "compass", "encompass", "trespass", "surpass", "overpass", "underpass"}
)

func endsWithAny(s string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(s, end) })
}

// isMarker reports whether a value is, or holds, what redaction has put there.
func isMarker(value string) bool {
	return strings.Contains(value, "[REDACTED") || strings.Contains(value, "REDACTED:")
}

// isTemplate reports whether a value is filled in elsewhere: a variable, a template, or a
// word that stands for a value.
func isTemplate(value string) bool {
	if isMarker(value) {
		return true
	}
	small := strings.ToLower(value[:min(len(value), maxMeasured)])
	for _, sign := range []string{
		"${", "{{", "}}", "<%", "%(", "$(", "#{", "...", "…", "***", "process.env", "getenv",
		"environ[", "os.environ", "xxxx", "changeme", "change-me", "change_me", "placeholder", "your-", "your_", "yourpass", "yoursecret", "yourtoken", "example",
	} {
		if strings.Contains(small, sign) {
			return true
		}
	}
	switch {
	case small == "", small[0] == '<' && strings.Contains(small, ">"), small[0] == '{' && strings.HasSuffix(small, "}"):
		return true
	case small[0] == '%' && (len(small) < 5 ||
		strings.HasSuffix(small, "%") && strings.Trim(small, "%abcdefghijklmnopqrstuvwxyz_0123456789") == ""):
		return true
	case small[0] == '$':
		return strings.Trim(small[1:], "abcdefghijklmnopqrstuvwxyz_:") == "" || strings.HasPrefix(small, "$env:")
	}
	return false
}

// placeholders are words that documentation writes for a password.
var placeholders = wordSet("password pass passwd pwd pw secret token user username test testing key apikey api_key mypassword my-password mypass pass123 password123 admin root guest " +
	"string value text none null nil true false undefined empty required optional foo bar baz foobar postgres redis mysql todo dummy fake sample somepassword some-password auth password1 " +
	"newpassword oldpassword new_password old_password new-password old-password prompt stdin secret123 user:password hidden redacted hash basic bearer")

// isGiven reports whether a value may be a credential in a place where only credentials are.
func isGiven(value string) bool {
	value = strings.Trim(value, "\"'`,;.)")
	if len(value) < 3 || isTemplate(value) || placeholders[strings.ToLower(value)] {
		return false
	}
	digits := strings.TrimLeft(value, "0123456789")
	if len(digits) < len(value) && digits != "" && strings.IndexByte("/,?#", digits[0]) >= 0 { // a port
		return false
	}
	return strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" // the name of a value, in capitals
}

// minMixed is the length in bytes below which a value is not redacted for its name alone.
const minMixed = 6

// isMixed reports whether a value is more than words: it looks random, or it has letters together with digits
// or signs as people make passwords of, and is not a name with a number.
func isMixed(value string) bool {
	if len(value) < minMixed || isTemplate(value) || strings.Contains(value, "://") || !isLatin(value) {
		return false
	}
	value = value[:min(len(value), maxMeasured)]
	if strings.HasPrefix(value, "0x") && len(value) <= len("0x00000000") {
		return false // a constant
	}
	if isRandom(value) {
		return true
	}
	var has alphabetOf
	signs, joints := 0, 0
	for i := range len(value) {
		c := value[i]
		has.add(c)
		switch {
		case strings.IndexByte("!@#$^&*~+?%=|", c) >= 0:
			signs++
		case strings.IndexByte("_-./:,", c) >= 0:
			joints++
		case c <= ' ' || strings.IndexByte("()<>[]{}\"'`\\;", c) >= 0:
			return false
		}
	}
	letters := has.lower || has.upper
	switch {
	case !letters:
		return false
	case has.digits && signs > 0:
		return true
	case has.digits:
		return !isNumbered(value) && randomness(value) > mixedFrom
	case len(value) >= minRandom && joints == 0 && has.lower && has.upper && randomness(value) > 0:
		return true
	case signs > 0: // not a sign at the end, as of a sentence
		return strings.ContainsAny(value[1:len(value)-1], "!@#$^*~") && joints == 0
	}
	return false
}

// isLatin reports whether a text is mostly ASCII. The letters of other alphabets would look random.
func isLatin(s string) bool { return beyondASCII(s)*2 < len(s) }

// beyondASCII is the number of bytes of characters outside ASCII.
func beyondASCII(s string) (n int) {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

// mixedFrom is what randomness must exceed in a value with digits.
const mixedFrom = -1.3

// isNumbered reports whether a value is the name of a credential with a number, as tests
// have: "token1", "my-secret-2".
func isNumbered(value string) bool {
	name := strings.TrimRight(value, "0123456789")
	if placeholders[strings.ToLower(name)] {
		return true
	}
	for _, w := range nameWords(name) {
		if credentialWords[w] || testWords[w] || w == "key" || w == "user" || w == "foo" || w == "bar" {
			return len(value)-len(name) <= 4
		}
	}
	return false
}

// isExpression reports whether a value without quotes is a name of code: a variable, a field, a call.
func isExpression(value string) bool {
	if strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:") != "" {
		return false
	}
	return !isRandom(value) && (strings.ContainsAny(value, "._:") || randomness(value) < randomFrom-0.3)
}

// hasRandomPart reports whether one of the values of a cookie looks random.
func hasRandomPart(value string) bool {
	if isMarker(value) {
		return false
	}
	for part := range strings.SplitSeq(value, ";") {
		_, v, _ := strings.Cut(part, "=")
		if isRandom(strings.TrimSpace(v)) && !isTemplate(v) {
			return true
		}
	}
	return false
}
