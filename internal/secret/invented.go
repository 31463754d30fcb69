package secret

import (
	"path"
	"slices"
	"strings"
)

// minChosen and maxChosen are the lengths in bytes between which a password that a person invented is reported.
const minChosen, maxChosen = 10, 64

// chosenWords are in passwords that stand for one, and in those that everybody knows.
var chosenWords = []string{
	"pass", "pwd", "change", "secret", "admin", "test", "example", "sample", "demo", "default", "dummy", "your", "root", "user", "guest", "token",
	"login", "replace", "insert", "fake", "mock", "local", "secure", "strong", "welcome", "qwert", "letmein", "hunter2", "null", "kennwort",
	"senha", "contras", "postgres", "mysql", "maria", "mongo", "redis", "rabbit", "minio", "elastic", "grafana", "oracle", "docker", "sqlserver",
	"foobar", "foo", "abc", "123", "value", "string", "valid", "wrong", "vault",
}

// leet undoes the usual replacements of letters. The list has no word with an l, where it matters: 1 can be an i.
var leet = strings.NewReplacer("0", "o", "1", "i", "!", "i", "3", "e", "4", "a", "@", "a", "5", "s", "$", "s", "7", "t")

// isChosen reports whether a value may be a password that a person invented, and not one that stands for another: it
// has letters, digits and one more kind of characters, and no word that placeholders have.
func isChosen(value string) bool {
	if len(value) < minChosen || len(value) > maxChosen || !isASCII(value) || isPlaceholder(value) || isTemplate(value) || isUUID(value) ||
		strings.ContainsAny(value, " \t/\\:;<>{}()[]\"'`,") || mailOrHost().MatchString(value) {
		return false
	}
	kinds := map[int]bool{}
	for i := range len(value) {
		switch c := value[i]; {
		case isLower(c):
			kinds[0] = true
		case isUpper(c):
			kinds[1] = true
		case isDigit(c):
			kinds[2] = true
		default:
			kinds[3] = true
		}
	}
	small := strings.ToLower(value)
	return len(kinds) >= 3 && kinds[2] && (kinds[0] || kinds[1]) && !containsAny(small, chosenWords) && !containsAny(leet.Replace(small), chosenWords)
}

// mailOrHost matches a mail address, the name of a host or a file, a version, and a member of an object.
var mailOrHost = compile(`@[\w-]+\.|^[\w-]+(?:\.[\w-]+)+$`)

// triedWords are in the paths of files with passwords of tests and of machines of developers.
var triedWords = wordSet("test tests testing unit spec ci dev ddev devel development devcontainer local e2e sandbox github gitlab circleci travis mock mocks vagrant seed seeds seeder seeders " +
	"playground quickstart stories story fixtures cypress playwright locale locales i18n lang langs translations messages factories")

// isTried reports whether a file is tried out rather than used, by the words of its path.
func isTried(name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(name), notInWord), func(w string) bool { return triedWords[w] })
}

func notInWord(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }

// isInvented reports whether the value of a match is a password that a person invented: in a place where only passwords
// are, in settings after a name that can only be that of a password, or in code after such a name that says what it opens.
func (m Match) isInvented(name string, lines []string) bool {
	if !isOwn(m.Rule) || !isChosen(m.Secret) || isTried(name) {
		return false
	}
	line := lines[m.Line]
	before := nameBefore(line[:m.Start])
	words := nameWords(before[strings.LastIndexAny(before, " \t")+1:])
	small := strings.ToLower(m.Secret)
	for _, w := range append(strings.FieldsFunc(strings.ToLower(name), notInWord), words...) {
		if len(w) >= 4 && strings.Contains(small, w) {
			return false
		}
	}
	n := len(words)
	switch {
	case m.Rule != ruleInvented:
		return true
	case n == 0 || !onlyPassword[words[n-1]] && !endsWithAny(words[n-1], []string{"password", "pass"}) || endsWithAny(words[n-1], notPass):
		return false
	case isSettings(name):
		return true
	}
	return m.isQuoted(lines) && n > 1 && !notWords[words[n-2]] && path.Ext(name) != ".txt"
}

// isSettings reports whether a file has settings alone.
func isSettings(name string) bool {
	base := strings.ToLower(path.Base(name))
	return strings.HasPrefix(base, ".env") || path.Ext(base) == ".json" || path.Ext(base) == ".tf" || path.Ext(base) != ".txt" && isConfig(name)
}

// openStore matches the names of key stores that open nothing: of certificates of others, and of builds for tests.
var openStore = compile(`(?i)debug|trust|cacerts|test|example|sample|demo`)

func isOpenStore(name string) bool {
	return placeOf(name) != inProduct || openStore().MatchString(path.Base(name))
}
