package secret

import (
	"path"
	"slices"
	"strings"
)

// minInvented and maxInvented are the lengths in bytes between which a password that a person invented is reported. After
// a name, where much else can be, it has 10.
const minInvented, maxInvented = 8, 64

// noWordsFrom is what the randomness of a value exceeds if it has no words, and no name says what it opens.
const noWordsFrom = -0.8

// minNonsense is the length in bytes below which letters that make no words can be initials.
const minNonsense = 12

// commonWords are in passwords that stand for one, and in those that everybody knows.
var commonWords = strings.Fields("pass pwd change secret admin test example sample demo default dummy your root user guest token login replace " +
	"insert fake mock local secure welcome qwert letmein hunter2 null kennwort senha contras postgres mysql mariadb " +
	"mongo redis rabbit minio elastic grafana oracle docker sqlserver foo abc 123 value string valid wrong vault")

// leet undoes the usual replacements of letters, of which a 1 is read as an i.
var leet = strings.NewReplacer("0", "o", "1", "i", "!", "i", "3", "e", "4", "a", "@", "a", "5", "s", "$", "s", "7", "t")

// mayBeInvented reports whether a value may be a password that a person invented, and not one that stands for another: it
// has letters, digits and one more kind of characters, or signs and letters that make no words, and no word that
// placeholders have.
func mayBeInvented(value string) bool {
	if len(value) < minInvented || len(value) > maxInvented || !isASCII(value) || isPlaceholder(value) || isTemplate(value) || isUUID(value) ||
		strings.ContainsAny(value, " \t/\\:;<>{}()[]\"'`,") || mailOrHost().MatchString(value) {
		return false
	}
	var has alphabetOf
	for i := range len(value) {
		has.add(value[i])
	}
	mixed := has.lower && has.upper || (has.lower || has.upper) && (has.signs || has.special)
	small := strings.ToLower(value)
	nonsense := has.lower && has.upper && (has.signs || has.special) && len(value) >= minNonsense && randomness(value) > 0
	return (has.digits && mixed || nonsense) && !containsAny(small, commonWords) && !containsAny(leet.Replace(small), commonWords)
}

// mailOrHost matches a mail address, the name of a host or a file, a version, and a member of an object.
var mailOrHost = compile(`@[\w-]+\.|^[\w-]+(?:\.[\w-]+)+$`)

// triedWords are in the paths of files with passwords of tests and of machines of developers.
var triedWords = wordSet("test tests testing unit spec ci dev ddev devel development devcontainer local e2e sandbox github gitlab circleci travis mock mocks vagrant seed seeds seeder seeders " +
	"playground quickstart stories story fixtures cypress playwright locale locales i18n lang langs translations messages factories")

// isTried reports whether a file is tried out rather than used, by the words of its path.
func isTried(name string) bool {
	return slices.ContainsFunc(pathWords(name), func(w string) bool { return triedWords[w] })
}

func pathWords(name string) (words []string) {
	for part := range strings.SplitSeq(name, "/") {
		words = append(words, nameWords(part)...)
	}
	return words
}

// localHost matches the rest of an address on the same machine, or in an example (RFC 2606).
var localHost = compile(`^@(?:localhost|127\.|\[::1\]|(?:[\w-]+\.)*example\b)`)

// localServer matches the name of the same machine in the settings of a connection.
var localServer = compile(`(?i)(?:[=:] ?|/)(?:localhost|127\.|\[::1\]|\(local|\.(?:[;,\\]|$)|host\.docker)`)

// isLocal reports whether a match is what opens something on the same machine.
func (m Match) isLocal(lines []string) bool {
	line := lines[m.Line]
	return localHost().MatchString(lines[m.EndLine][m.End:]) || m.Rule == ruleDatabase &&
		localServer().MatchString(line[max(0, m.Start-maxBefore):min(len(line), m.Start+maxBefore)])
}

// isInvented reports whether the value of a match is a password that a person invented: in a place where only passwords
// are, in settings after a name that can only be that of a password, or in code after such a name that says what it opens.
func (m Match) isInvented(name, value string, lines []string) bool {
	if !isOwn(m.Rule) && m.Rule != "curl-auth-user" || !mayBeInvented(value) || isTried(name) || m.isLocal(lines) {
		return false
	}
	before := nameBefore(lines[m.Line][:m.Start])
	words := nameWords(before[strings.LastIndexAny(before, " \t")+1:])
	rest := value // without the words around it
	for _, w := range append(pathWords(name), words...) {
		if at := strings.Index(strings.ToLower(rest), w); at >= 0 && len(w) >= 4 {
			rest = rest[:at] + rest[at+len(w):]
		}
	}
	switch n := len(words); {
	case rest != value && (!mayBeInvented(rest) || randomness(rest) < noWordsFrom):
		return false
	case m.Rule != ruleInvented:
		return true
	case n == 0 || !onlyPassword[words[n-1]] && !endsWithAny(words[n-1], []string{"password", "pass"}) || endsWithAny(words[n-1], notPass):
		return false
	default:
		opens := n > 1 && (!notWords[words[n-2]] || words[n-2] == "key") || n == 1 && randomness(value) > noWordsFrom
		return isSettings(name) || m.isQuoted(lines) && opens && path.Ext(name) != ".txt"
	}
}

// isSettings reports whether a file has settings alone.
func isSettings(name string) bool {
	base := strings.ToLower(path.Base(name))
	ext := path.Ext(base)
	return strings.HasPrefix(base, ".env") || settingsTypes[ext] || ext != ".txt" && isConfig(name)
}

var settingsTypes = wordSet(".json .tf .xml .gradle .kts")
