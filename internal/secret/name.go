package secret

import "strings"

// named is what a name says about its value.
type named int

const (
	namesOther      named = iota // something else than a credential
	namesKey                     // some key, which may be a credential
	namesCredential              // a credential
	namesTest                    // a credential that is not meant to be real
)

// The words of names, in lower case. A name is split where the case changes and at all signs.
var (
	credentialWords = wordSet("password passwords passwd passphrase passphrases passcode pwd pass pw secret secrets token tokens credential credentials creds auth authorization bearer apikey otp totp netrc requirepass masterauth")
	// credentialEnds end words that are written as one: "dbpassword".
	credentialEnds = []string{
		"password", "passwd", "passphrase", "secret", "token", "apikey", "secretkey", "accesskey",
		"privatekey", "authkey", "credentials",
	}
	// credentialKeys are words before "key".
	credentialKeys = wordSet("api access private secret signing sign encryption encrypt decryption master auth account client deploy admin service app session cookie " +
		"hmac jwt aes rsa root webhook storage shared consumer server ssh")
	// notKeys are words before "key" that make it something else.
	notKeys = wordSet("gpg pgp sort group cache primary foreign partition presorted shard row idx index lookup translation i18n message map dedupe idempotency routing object natural " +
		"unique merge schema column hot short shortcut keyboard anchor node site website cert certificate tag item entry field label data json dict record bucket file path " +
		"license licence identifier repository form config setting settings parent child new old next prev first last current composite surrogate sequence locale string text query react arrow websocket")
	// notCredential are words that make the whole name something else.
	notCredential = wordSet("public pub pubkey publickey hash hashes hashed sha sha1 sha224 sha256 sha384 sha512 md5 crc crc32 checksum checksums sum digest integrity nonce etag " +
		"fingerprint thumbprint serial signature sig commit revision uuid guid csrf xsrf page pagination continuation cursor sync publishable tracking measurement analytics " +
		"cancellation author tokenizer keyring keyboard monkey turkey hotkey")
	// afterCredential are words after a credential's name that make it the name of
	// something about the credential.
	afterCredential = wordSet("id ids name names type types url urls uri endpoint path file filename dir length len size count class label placeholder selector prefix suffix header field " +
		"param parameter ref reference arn address addresses version expiry expires expiration ttl lifetime policy rule rules regex pattern format hint prompt title text description " +
		"error message status state provider manager service store source factory handler helper limit limits budget usage window alias index column table algorithm alg " +
		"scope scopes audience issuer interval timeout ring pair board code codes map list set")
	testWords = wordSet("test testing tests dummy fake mock mocked example sample demo placeholder fixture stub")
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// judgeName returns what a name says about its value.
func judgeName(name string) named {
	words := nameWords(name)
	result, last := namesOther, -1
	for i, w := range words {
		if notCredential[w] || i > 0 && notCredential[words[i-1]+w] {
			return namesOther
		}
		if is := judgeWord(words[:i], w); is != namesOther {
			result, last = max(result, is), i
		}
	}
	if result == namesOther || last+1 < len(words) && afterCredential[words[last+1]] {
		return namesOther
	}
	for _, w := range words {
		if testWords[w] {
			return namesTest
		}
	}
	return result
}

// judgeWord returns what one word of a name says, by the words before it.
func judgeWord(before []string, w string) named {
	if credentialWords[w] {
		return namesCredential
	}
	for _, end := range credentialEnds {
		if strings.HasSuffix(w, end) {
			return namesCredential
		}
	}
	kind, isKey := strings.CutSuffix(strings.TrimSuffix(w, "s"), "key")
	if isKey && kind == "" && len(before) > 0 {
		kind = before[len(before)-1]
	}
	switch {
	case !isKey || len(kind) < 3 || notKeys[kind] || notCredential[kind]:
		return namesOther
	case credentialKeys[kind]:
		return namesCredential
	}
	return namesKey
}

// maxNameWords is how many words of a name count, from its end.
const maxNameWords = 8

// nameWords returns the last words of a name in lower case: "dbPassword" has two.
func nameWords(name string) []string {
	var words []string
	start := 0
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case !isLower(c) && !isUpper(c) && !isDigit(c):
			cut(i)
			start = i + 1
		case i > start && isUpper(c) && (isLower(name[i-1]) || isUpper(name[i-1]) && i+1 < len(name) && isLower(name[i+1])):
			cut(i)
			start = i
		}
	}
	cut(len(name))
	return words[max(0, len(words)-maxNameWords):]
}

const (
	// maxBefore is how far before a value its name is looked for, in bytes.
	maxBefore = 200
	// betweenNameAndValue are the signs of assignments, calls and quotes.
	betweenNameAndValue = " \t\r\n\"'`()[]{\\=:>,|?@<-$&"
)

// notNames stand between a name and its value: the type of a variable, the attribute
// of an element, and the kind of an Authorization header.
var notNames = wordSet("or string str value content default text bearer basic token char const static final ascii utf8 bytes byte encode b r u f n base64")

// nameBefore returns the name that a value is assigned to, with up to two words
// before it, by the text before the value; "" for none.
func nameBefore(text string) string {
	text = text[max(0, len(text)-maxBefore):]
	for range 4 {
		text = strings.TrimRight(text, betweenNameAndValue)
		start := nameStart(text)
		if w := strings.ToLower(text[start:]); w == "" || !notNames[w] || strings.TrimSpace(text[:start]) == "" {
			break
		}
		text = text[:start]
	}
	from := nameStart(text)
	for range 2 {
		i := len(strings.TrimRight(text[:from], " \t"))
		if i == from || i == 0 || nameStart(text[:i]) == i {
			break
		}
		from = nameStart(text[:i])
	}
	return text[from:]
}

// nameStart returns where the name at the end of a text starts.
func nameStart(text string) int {
	i := len(text)
	for i > 0 {
		c := text[i-1]
		if !isLower(c) && !isUpper(c) && !isDigit(c) && c != '_' && c != '-' && c != '.' {
			break
		}
		i--
	}
	return i
}
