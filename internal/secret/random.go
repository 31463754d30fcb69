package secret

import (
	"math"
	"strings"
	"unicode/utf8"
)

// isRandom reports whether a value looks like it came from a random generator: its characters are cheaper to
// encode as random ones than as the letters, words and numbers of a name.
//
// Over the names of Go's standard library that are 10 to 60 characters long, the median of randomness is -1.5
// and the 95th percentile -0.6; those above are mostly hashes. Over random values of 20 letters and digits,
// the median is 0.6 and the first percentile -0.3.
//
// A value without digits must look more random: words of other languages, and names in
// capitals, look less like names.
func isRandom(value string) bool {
	if len(value) < minRandom || isNumber(value) || !isASCII(value) { // natural language in another script
		return false
	}
	if strings.ContainsAny(value, "0123456789") {
		return randomness(value) > randomFrom
	}
	return len(value) >= minLetters && randomness(value) > randomLettersFrom
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// isNumber reports whether a value is a number as programs write it: 1_000_000, -1.5e-10f, 0x1234abcd.
func isNumber(value string) bool {
	if strings.HasPrefix(value, "0x") && len(value) <= len("0x0123456789abcdef") {
		return true
	}
	rest := strings.Trim(value, "0123456789_.,+-")
	return len(rest) <= 3 && strings.Trim(rest, "0123456789_.,+-eEfFlLuUdD") == ""
}

const (
	// minRandom is the length in bytes below which letters say too little.
	minRandom  = 10
	randomFrom = -0.5
	// The same for values without digits.
	minLetters        = 16
	randomLettersFrom = 0.4
	// issuedFrom is the least randomness of a token of a known form, which has words before random characters.
	issuedFrom = -1.2
	// maxMeasured bounds the work for one value; the start of a longer one decides.
	maxMeasured = 512
)

// randomness is the logarithm of how much more likely a value is if each of its
// characters was drawn at random than if it is made of words, in bits per character.
func randomness(value string) float64 {
	value = value[:min(len(value), maxMeasured)]
	if value == "" {
		return 0
	}
	words, prev := 0.0, byte(0)
	var seen alphabetOf
	for i := range len(value) {
		c := value[i]
		words += wordCost(prev, c)
		seen.add(c)
		prev = c
	}
	return words/float64(len(value)) - math.Log2(seen.size())
}

// alphabetOf notes which kinds of characters a value has.
type alphabetOf struct{ lower, upper, digits, beyondHex, signs, special bool }

func (a *alphabetOf) add(c byte) {
	switch {
	case isDigit(c):
		a.digits = true
	case isLower(c):
		a.lower, a.beyondHex = true, a.beyondHex || c > 'f'
	case isUpper(c):
		a.upper, a.beyondHex = true, a.beyondHex || c > 'F'
	case strings.IndexByte("_-./:+=", c) >= 0:
		a.signs = true
	default:
		a.special = true
	}
}

// size is the number of characters that a generator of such values chooses from.
func (a *alphabetOf) size() float64 {
	if !a.beyondHex && !a.signs && !a.special && a.lower != a.upper {
		return 16
	}
	n := 0.0
	for _, part := range []struct {
		has bool
		n   float64
	}{{a.lower, 26}, {a.upper, 26}, {a.digits, 10}, {a.signs, 3}, {a.special, 20}} {
		if part.has {
			n += part.n
		}
	}
	return n
}

// The costs in bits of what happens between the letters of names. Only their rough size matters.
const (
	sameCase  = 0.3 // the next letter of a word
	capitals  = 0.5 // the next letter of a word in capitals
	newWord   = 2.5 // a capital after a small letter, a letter after a digit, a digit after a letter
	moreDigit = 3.6 // a digit after a digit
	joint     = 3   // one of the signs that join words
	oddSign   = 8   // another sign
)

// wordCost is the cost of a character after another in text made of words, in bits.
func wordCost(prev, c byte) float64 {
	switch letter := isLower(c) || isUpper(c); {
	case letter && isUpper(prev) && isUpper(c):
		return capitals + bigram(prev, c)
	case letter && isLower(prev) && isUpper(c), letter && isDigit(prev):
		return newWord + bigram(0, c)
	case letter && (isLower(prev) || isUpper(prev)):
		return sameCase + bigram(prev, c)
	case letter:
		return capitals + bigram(0, c)
	case isDigit(c) && isDigit(prev):
		return moreDigit
	case isDigit(c) && (isLower(prev) || isUpper(prev)):
		return newWord + math.Log2(10)
	case isDigit(c):
		return capitals + math.Log2(10)
	case strings.IndexByte("_-./:", c) >= 0:
		return joint
	}
	return oddSign
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// bigram is the cost of a letter after another one, or at the start of a word if that is 0, ignoring case.
func bigram(prev, c byte) float64 {
	row := 26
	if prev != 0 {
		row = int(prev|0x20) - 'a'
	}
	return float64(bigrams[row*26+int(c|0x20)-'a']-'a') / 2
}

// bigrams are the costs of the letters a to z after each letter: "a" is 0 bits, "b" 0.5
// bits, and so on. They were counted in the source of Go 1.26's standard library
// without crypto, vendor and testdata, over the words that occur three times or more,
// parts of identifiers included, each weighted with the square root of its count.
const bigrams = "" +
	"ojihqmktltngjhtktgigmiplnt" + // a
	"hkkmhmmrhkufooimpihmhnnpkq" + // b
	"gpknhnnhkwijknfnrkkhllrrpw" + // c
	"illhemoqfpuknnjmmjinjmklms" + // d
	"joiglkkqowsjkhplmfgiqlnjqs" + // e
	"iokkignrfxviklhkujjkjqopmt" + // f
	"kmjnfmmjhwtknifkrhhkkopssp" + // g
	"fnpleoopgvrkmogotjkjjqotos" + // h
	"lmijkkjutsrijeilukihuktnyl" + // i
	"golkgmookrknklhktofogpnpqs" + // j
	"iommdmiogurkljmmpoglmomsns" + // k
	"hooifmoogzqgpogoqojkkmnrjq" + // l
	"flnlfqrqhzpnkoggupjmipsrpy" + // m
	"ipihglgrjtmmnminrphfllqvpt" + // n
	"klijokltmumjifkizgjjiikquw" + // o
	"goklgonmjxnikqhjrghijppqny" + // p
	"nkjjnlnmnurkmopmkhjncklppl" + // q
	"hoklemlrhunlklhnrjijknorlv" + // r
	"jnjmfpoihwmkmokjolieirmpjr" + // s
	"holnfmpigzslmpilshikkqoojq" + // t
	"kijmikmrjxwhjfnjqhhgupplxq" + // u
	"gljkejnniwuljomgmmikmmkmvp" + // v
	"fmllgmnigwqlnjhnphinlokntq" + // w
	"jlikhjqojtvlkokgrmjfmhmjmu" + // x
	"nnlnkoqqjtolfhmewlghqknnmm" + // y
	"imkmcnooirvlosjptlmqnnlkni" + // z
	"hkhjjjkljppjjkkipihikklmpp" // at the start of a word
