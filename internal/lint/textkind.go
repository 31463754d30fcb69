package lint

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// textKind is what a file is for, where that decides which characters are worth a
// remark.
type textKind struct {
	prose bool // text for people: hidden characters mislead readers, not compilers
	// displayed is set for text that is only displayed. Right-to-left text needs
	// embeddings and isolates, and cannot hide code there.
	displayed bool
	rules     []string // those that are reported; nil for all
	names     bool     // zero-width characters count only next to names
	localized bool     // code with the texts of a program in a language
	catalogue bool     // texts of a program in a language
	colored   bool     // a file of tests, which may have the output of programs with colors
	script    bool     // a script of a shell, which may print with colors
	tests     bool     // such a file, or one of fixtures, which may expect U+FFFD
	template  bool     // code with markup, whose text people see
	verbatim  bool     // code whose compiler does not read fullwidth letters as ASCII
}

// The rules that are reported in every text, and those for code that nobody wrote by
// hand. The first ones hide what a line says from everybody who reads it. Whatever a
// change says about its own files, it cannot avoid them.
var (
	alwaysReported = []string{"bidi", "invisible-text"}
	hidesCode      = []string{"bidi", "invisible-text", "invisible-letter", "homoglyph", "zero-width"}
)

// testData matches the input and the expected output of tests, which have odd
// characters on purpose: data in a folder of tests, anything in one of fixtures, and the
// corpora of fuzzers, whose files have no extension and often the name of a hash.
var testData = text.Pattern(`(?i)(^|/)(tests?|__tests__|specs?|[\w.-]*[-_]tests?|(?-i:[\w.-]*\.(Unit|Integration|Functional|Acceptance)?Tests(\.\w+)*))/` +
	`(.*/)?[^/]*\.(json|jsonl|toml|ya?ml|xml|csv|tsv|txt|log|golden|snap|in|input|out|output|expected|err|stdout` +
	`|stderr|dat|data|raw|bin|vec|txtar|test|vt|ansi|key|recording)$` +
	`|(^|/)(tests?/data|testdata|test[_-](data|files|suite)|fixtures?|goldens?|snapshots?|__snapshots__|corpus` +
	`|corpora|fuzz\w*|vectors)/` +
	`|(^|/)test(in|out)put\d*$|(^|/)tests?/(.*/)?[0-9a-f]{16,}(-\d+)?$`)

// codeFile matches code by its extension, and scripts and recipes without one.
var codeFile = text.Pattern(`(?i)\.(go|py[iw]?|rb|rake|php|[cm]?[jt]sx?|vue|svelte|java|kts?|scala|groovy|gradle|cs|fs` +
	`|vb|c|h|cc|cpp|cxx|hh|hpp|hxx|mm?|swift|rs|zig|nim|dart|exs?|erl|hs|ml|clj|lisp|el|lua|p[lm]|r|jl|sql|(ba|z|k` +
	`|fi)?sh|bats|ps1|bat|cmd|awk|html?|xhtml|css|scss|tf|proto|sol|mk|cmake)$` +
	`|(^|/)(\w*(make|docker|jenkins|gem|rake)file|run|test|build|check|configure)$`)

// records matches files of texts and of data as text: of games, images, mail, places and words. Nothing runs what a
// line of them has.
var records = text.Pattern(`(?i)\.(olv|pgn|sgf|lrs|xpm|rtf|eml|mbox|log|gpx|kml|dic|aff|bib|ics|vcf|lrc|ass)$`)

// longestRead is the length in bytes of a line from which on nobody reads it: of minified code, or of data.
const longestRead = 2000

// isUnread reports whether a line has more than that beside some bytes. Space does not count: with it, a change could
// hide from the analyzers what people read.
func isUnread(line string, beside int) bool {
	left := longestRead + beside
	for i := range len(line) {
		if left < 0 {
			return true
		}
		if line[i] != ' ' && line[i] != '\t' {
			left--
		}
	}
	return left < 0
}

// verbatimCode matches code in languages that take names as they are written. Python normalizes them (PEP 3131), and so
// may whatever reads a script, a document or data.
var verbatimCode = text.Pattern(`\.(go|[cm]?[jt]sx?|java|kts?|scala|cs|c|h|cc|cpp|hpp|swift|rs|php|rb|dart)$`)

var shellScript = text.Pattern(`\.(ba|z|k|fi)?sh$`)

var templateFile = text.Pattern(`\.(blade\.php|twig|erb|hbs|vue|svelte|[jt]sx)$`)

func isTestData(name string) bool {
	return testData().MatchString(name) && !codeFile().MatchString(name)
}

// kindOfText returns the kind of a file. Binary and minified files, catalogues of
// translations and data hold any character by their nature.
func kindOfText(f *diff.File) textKind {
	k := textKind{
		prose: IsProse(f.Path), localized: isLocale(f.Path), colored: secret.IsTest(f.Path), script: shellScript().MatchString(f.Path),
		verbatim: verbatimCode().MatchString(f.Path), template: templateFile().MatchString(f.Path),
	}
	k.tests = k.colored || testData().MatchString(f.Path)
	switch {
	case f.Content == diff.Catalogue:
		return textKind{prose: true, displayed: true, catalogue: true, rules: alwaysReported}
	case f.Skip == diff.Minified && !f.Excused: // the base has such a file, so people know it, and nobody reads it
		k.rules = []string{}
	case f.Content == diff.Data, f.Skip == diff.Minified, strings.HasPrefix(f.Skip, "binary"), isTestData(f.Path):
		k.rules = alwaysReported
	case f.Skip != "" && !f.TooLarge:
		k.rules, k.names = hidesCode, true
	}
	k.displayed = k.prose && !holdsCode().MatchString(f.Path)
	return k
}

func (k textKind) reports(rule string) bool { return k.rules == nil || slices.Contains(k.rules, rule) }

// IsProse reports whether a file is text for people, where hidden characters can
// mislead a reader but not a compiler.
func IsProse(name string) bool { return prose().MatchString(name) }

// prose matches such files, and holdsCode those of them that can hold code that runs.
var (
	prose     = text.Pattern(`(?i)\.(md|markdown|mdx|txt|rst|adoc|org|tex|html?|srt|vtt|csv|tsv)$`)
	holdsCode = text.Pattern(`(?i)\.(html?|mdx|org)$`)
)

// setsColor matches an escape sequence that sets colors and styles of a terminal, but none that conceals (8).
// passesPager matches any that less, the pager of git, passes on to the terminal with -R: those that it takes for colors,
// and links. printsColor matches a color with which text can be read on any background, and the start of a pattern for
// colors: in a script, nothing may hide what it runs.
var (
	passesPager = text.Pattern(`^\x1b(?:[0-9:;\[?!"'#%()*+ ]*m|\]8;)`)
	setsColor   = text.Pattern(`^\x1b\[(?:(?:[0-7]|9|[1-9]\d|[12]\d\d)(?:[;:](?:[0-7]|9|[1-9]\d|[12]\d\d))*)?m`)
	printsColor = text.Pattern(`^\x1b(?:\\|\[(?:(?:0?[013457]|[39][1-6])(?:;(?:0?[013457]|[39][1-6]))*)?m)`)
)

// translated matches a line that is a key and its text, without what could be an address, a call or more code.
var translated = text.Pattern("^([^:=]*(?:=>|[:=])\\s*)(?:'[^'.:/@(=`]*'|\"[^\".:/@(=`]*\")[,;]?\\s*$")

// withoutTexts removes the words of texts for people: what is in quotes and has more words that are wholly of another
// alphabet than of others. There, a typist took a letter of another keyboard. Calls, domains and the like stay.
func withoutTexts(line string) string {
	return literal().ReplaceAllStringFunc(line, func(s string) string {
		words, others := strings.Fields(s), 0
		for _, w := range words {
			if strings.ContainsFunc(w, unicode.IsLetter) && !strings.ContainsFunc(w, isLatin) {
				others++
			}
		}
		if others < 2 || others*2 < len(words) {
			return s
		}
		return strings.Join(slices.DeleteFunc(words, func(w string) bool {
			w = strings.TrimRight(strings.TrimLeft(w, `'"(`), `'".,:;!?)`)
			return !strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
		}), " ")
	})
}

var literal = text.Pattern(`'[^']*'|"[^"]*"`)

// around returns the characters before and after a hidden one.
func around(s string, spot text.Spot) (before, after rune) {
	before, _ = utf8.DecodeLastRuneInString(s[:spot.Start])
	after, _ = utf8.DecodeRuneInString(s[spot.End:])
	return before, after
}

// isNamePart reports whether a character can be part of a name in a program.
func isNamePart(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// bytesShare is the share of a line's characters in percent that are invalid UTF-8 in
// data. Such a line is displayed as garbage, so its other characters mislead nobody.
const bytesShare = 10

// isBytes reports whether a line is data rather than text. A few invalid bytes, as text
// in an old encoding has them, do not make it so.
func isBytes(s string) bool {
	invalid, all := 0, 0
	for i, r := range s {
		if all++; r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			invalid++
		}
	}
	return invalid > 3 && invalid*100 >= all*bytesShare
}

// lostLetter is what programs write for bytes that they cannot decode.
const lostLetter = string(utf8.RuneError)

// mayLose reports whether such letters are worth a remark: tests and data may have them on purpose.
func (k textKind) mayLose() bool { return (k.catalogue || k.reports("lost-text")) && !k.tests }

// isLost reports whether a line is what is left of a text that was read in the wrong encoding: much of it, or letters of
// several words. Programs and documents that speak of the character have fewer of it.
func isLost(s string) bool {
	lost := strings.Count(s, lostLetter)
	return lost > 3 && lost*100 >= utf8.RuneCountInString(s)*bytesShare || lost > 2 && len(lostWord().FindAllString(s, 2)) > 1
}

// loseLetters returns what can be left of a line that is read in the wrong encoding.
func loseLetters(line string) string { return notASCII().ReplaceAllLiteralString(line, lostLetter) }

// lostWord matches a word that has lost a letter, and notASCII what can be lost.
var (
	lostWord = text.Pattern(`\pL\pL+\x{fffd}+\pL|\pL\x{fffd}+\pL\pL|(?:^|[^\pL\pN\x{fffd}])\x{fffd}+\pL{4}`)
	notASCII = text.Pattern(`[^\x00-\x7f]+`)
)

func isLatin(r rune) bool { return r == '_' || unicode.Is(unicode.Latin, r) }

// hasRightToLeft reports whether a text has letters of a script that is written from
// right to left.
func hasRightToLeft(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r >= 0x590 && unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko,
			unicode.Mandaic, unicode.Samaritan, unicode.Adlam, unicode.Hanifi_Rohingya)
	})
}

// isBalanced reports whether every embedding and isolate of a line ends in it, in
// order (UAX #9, and UTS #55 for source code). An override is never balanced: it
// reorders any text.
func isBalanced(s string) bool {
	var open []rune
	for _, r := range s {
		switch {
		case r == 0x202d || r == 0x202e:
			return false
		case r == 0x202a || r == 0x202b:
			open = append(open, 0x202c)
		case r >= 0x2066 && r <= 0x2068:
			open = append(open, 0x2069)
		case r == 0x202c || r == 0x2069:
			if len(open) == 0 || open[len(open)-1] != r {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}

// maxIcons is the number of adjacent private use characters that can be icons or
// letters of a private script. They are displayed, as an empty rectangle at worst; a longer run is
// a message in a code of its own.
const maxIcons = 3

// isIcon reports whether a private use character is in a run of at most maxIcons.
func isIcon(s string, spot text.Spot) bool {
	const near = maxIcons * utf8.UTFMax
	isPrivate := func(r rune) bool { return unicode.Is(unicode.Co, r) }
	before, after := s[max(0, spot.Start-near):spot.Start], s[spot.End:min(len(s), spot.End+near)]
	before = before[len(strings.TrimRightFunc(before, isPrivate)):]
	after = after[:len(after)-len(strings.TrimLeftFunc(after, isPrivate))]
	return utf8.RuneCountInString(before+after) < maxIcons
}
