package lint

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// placeholderSure is the confidence of an unknown placeholder, in percent.
const placeholderSure = 90

// nextText is between source texts that are joined because any can be the one.
const nextText = "\x00"

// Limits in bytes: of a catalogue of source texts, and of a text that is compared, longer ones are cut.
const (
	maxSource = 4 << 20
	maxText   = 8 << 10
)

// translations reports added translations with a placeholder that the source text does not have. The program does not
// fill it in: it shows the name, or fails.
func translations(ctx context.Context, in *Input) Result {
	c := &collect{name: "translations"}
	sources := sourceTexts{in: in, read: map[string]map[string]string{}}
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		if ctx.Err() != nil {
			return c.result(ctx, nil)
		}
		if f.Content != diff.Catalogue && !isLocale(f.Path) && !byLanguage().MatchString(f.Path) || f.Status == diff.Deleted || f.IsVendored() {
			continue
		}
		had := map[[2]string]bool{} // the keys and placeholders of deleted entries; an empty key is not known
		entries(f.Path, f.Hunks, diff.Delete, func(_ diff.Line, key, translated string, _ bool) {
			for _, p := range placeholdersOf(translated, isQt(f.Path), true) {
				had[[2]string{key, p.name}] = true
			}
		})
		entries(f.Path, in.headHunks(f), diff.Add, func(l diff.Line, key, translated string, printf bool) {
			if !strings.ContainsAny(translated, "{%:") {
				return
			}
			unknown, known := unknownPlaceholder(sources.of(f.Path, key), translated, isQt(f.Path), printf)
			// The entry moved, or was wrapped again.
			if unknown == "" || had[[2]string{key, unknown}] || had[[2]string{"", unknown}] || sources.isReference(f.Path, unknown) ||
				formOf(f.Path) == nestedForm && strings.Contains(ofRails+sources.of(f.Path, ""), unknown) {
				return
			}
			found := newFinding(f, precedent.Right, l)
			found.Category, found.Severity, found.Rule = precedent.Bugs, precedent.Medium, "unknown-placeholder"
			found.Confidence = placeholderSure
			found.Title = title(fmt.Sprintf("Translation uses %s, which the source text does not have", unknown))
			found.Body = fmt.Sprintf("The program fills in only the placeholders of the source text (`%s`). For this one, it shows the name "+
				"instead of a value or fails to format the text.\n\nUse the placeholders of the source text as they are. Their names must "+
				"not be translated.", strings.Join(known, "`, `"))
			c.add(found)
		})
	}
	return c.result(ctx, nil)
}

// entries calls do for each translation of a catalogue with lines of an operation, with the first of them, and the key
// of the entry, which is the source text where hasSource.
func entries(name string, hunks []diff.Hunk, op diff.Op, do func(l diff.Line, key, translated string, printf bool)) {
	for _, h := range hunks {
		if path.Ext(name) == gettext {
			gettextEntries(h.Lines, op, do)
		} else {
			lineEntries(name, h.Lines, op, do)
		}
	}
}

// lineEntries is entries for catalogues whose texts are each on one line. Those of XML have the key on one before it.
func lineEntries(name string, lines []diff.Line, op diff.Op, do func(l diff.Line, key, translated string, printf bool)) {
	pattern, key := entryForms[formOf(name)], ""
	if pattern == nil {
		return
	}
	entry := pattern()
	hasKey, printf := entry.NumSubexp() == 2, directives().MatchString(name)
	nested, around := formOf(name) == nestedForm, "" // the keys of plural forms are below that of the text
	for _, l := range lines {
		if l.Op != op && l.Op != diff.Context {
			continue
		}
		if !hasKey {
			if m := keyBefore().FindStringSubmatch(l.Text); m != nil {
				key = m[1] + m[2]
			}
		}
		if l.Op != op && !nested {
			continue
		}
		m := entry.FindStringSubmatch(l.Text)
		switch {
		case m == nil:
		case nested && m[2] == "":
			around = m[1]
		case l.Op != op:
		case nested && plural().MatchString("_"+m[1]):
			do(l, around, m[2], printf)
		case hasKey:
			do(l, m[1], m[2], printf)
		default:
			do(l, key, m[1], printf)
		}
	}
}

// directives matches catalogues whose texts can have a value for each directive of printf. Entries of gettext say it.
var directives = text.Pattern(`\.(strings|php|xml)$`)

// gettext is the ending of catalogues whose entries have their source text.
const gettext = ".po"

// placeholder matches what programs replace in texts, in a group for each of placeholderForms.
var placeholder = text.Pattern(`%\(([\pL\pM\pN_.-]+)\)[a-z]|%\{([\pL\pM\pN_.-]+)\}|\{\{-?\s*([\pL\pM\pN_.-]+)[^{}]*\}\}` +
	`|\{([\pL_][\pL\pM\pN_]*|\d+)[^{}]*\}|(\{)\}|%([\pL_][\pL\pM\pN_.]{2,})%|(?:^|\\[nrt]|[^\pL\pN:@]):([\p{Latin}_][\p{Latin}\pM_]+)|%(\d+)\$[a-zA-Z@]`)

var placeholderForms = [...]string{"", "%%(%s)s", "%%{%s}", "{{%s}}", "{%s}", "%s}", "%%%s%%", ":%s", "%%%s$s", "value %d (%s)"}

// inOrder is the form of the directives of printf without a number, byNumber that of those with one, and afterColon that of
// Laravel, which replaces the name in any case, and at the start of a longer one. In noName, which has the same braces
// as inBraces, the values come in order.
const (
	inOrder    = len(placeholderForms) - 1
	byNumber   = inOrder - 1
	afterColon = byNumber - 1
	inBraces   = 4
	noName     = inBraces + 1
	// afterPercent is that of programs that replace %1 to %9.
	afterPercent = 0
)

// directive matches a directive of printf, and plain those that are not taken for text: in "100% de", there is none.
// alternatives matches texts with alternatives in braces, whose words are no names (ICU MessageFormat), or by number (Symfony,
// Laravel).
var (
	directive    = text.Pattern(`%%|%(?:(\d+)\$)?[-+ #0',(]*[\d.*]*[hlLzjtq]*[a-zA-Z@]`)
	plain        = text.Pattern(`%%|%(?:\.\d+)?(?:hh?|ll?|z)?(?:[diufs]\b|@)`)
	alternatives = text.Pattern(`\{\s*[\pL\pN_]+\s*,\s*(?:plural|select)|^\s*(?:<!\[CDATA\[)?\{\d+\}.*\|`)
)

// unknownPlaceholder returns the first placeholder of a translation that its source text does not have although it has
// others of the same form, and those. A translation that leaves some out may be right.
func unknownPlaceholder(source, translated string, qt, printf bool) (unknown string, known []string) {
	if alternatives().MatchString(source + translated) {
		return "", nil
	}
	var names [len(placeholderForms)][]string
	for _, p := range placeholdersOf(source, qt, printf) {
		if !slices.Contains(names[p.form], p.name) {
			names[p.form] = append(names[p.form], p.name)
		}
	}
	values, numbered := 0, false
	verbs := map[int]string{} // of each value
	for one := range strings.SplitSeq(source, nextText) {
		count := 0
		for _, m := range directive().FindAllStringSubmatch(one, -1) {
			if m[0] != "%%" {
				n, _ := strconv.Atoi(m[1])
				count, numbered = max(count+1, n), numbered || n > 0
				verbs[cmp.Or(n, count)] += m[0][len(m[0])-1:]
			}
		}
		values = max(values, count)
	}
	inSequence := isPlain(source) && isPlain(translated)
	for _, p := range placeholdersOf(translated, qt, printf) {
		if p.form >= byNumber {
			numbered = numbered || p.form == byNumber
			if p.form == byNumber || !numbered {
				if p.number > values && values > 0 || (p.form == byNumber || inSequence) && isOtherType(verbs[p.number], p.verb) {
					return p.name, slices.Compact(directive().FindAllString(source, -1))
				}
			}
			continue
		}
		isKnown := func(k string) bool {
			switch p.form {
			case afterColon:
				return strings.HasPrefix(strings.ToLower(p.name), strings.ToLower(k))
			case inBraces: // in {}, the next value
				return k == p.name || (k == "{}" || p.name == "{}") && strings.Trim(k+p.name, "{0123456789}") == ""
			case afterPercent:
				return k == p.name || strings.Contains(source, p.name)
			}
			return k == p.name
		}
		if len(names[p.form]) > 0 && !slices.ContainsFunc(names[p.form], isKnown) {
			return p.name, names[p.form]
		}
	}
	return "", nil
}

// isPlain reports whether all directives of printf in a text are surely some.
func isPlain(s string) bool {
	return len(plain().FindAllString(s, -1)) == len(directive().FindAllString(s, -1))
}

// isOtherType reports whether a directive formats a number, although all that the source text has for the value format a
// text or an object, or an object, which only Apple's do, although all format a number.
func isOtherType(verbs string, verb byte) bool {
	return verbs != "" && (strings.Trim(verbs, "s@") == "" && strings.IndexByte("diuf", verb) >= 0 ||
		strings.Trim(verbs, "diuf") == "" && verb == '@')
}

// textPlaceholder is a placeholder without what formats its value.
type textPlaceholder struct {
	form   int // in placeholderForms
	name   string
	number int  // of byNumber and inOrder
	verb   byte // of those
}

// placeholdersOf returns the placeholders of a text in order, those of printf without a number last. Those of Qt are %1 to
// %99, and %L1 for numbers; other programs have %1 to %9.
func placeholdersOf(s string, qt, printf bool) (all []textPlaceholder) {
	if qt {
		for _, m := range qtPlaceholder().FindAllStringSubmatch(s, -1) {
			all = append(all, textPlaceholder{name: "%" + m[1]})
		}
		return all
	}
	if !strings.ContainsAny(s, "{%:") {
		return nil
	}
	for _, after := range strings.Split(s, "%")[1:] {
		if m := onlyDigit().FindString(after); m != "" {
			all = append(all, textPlaceholder{name: "%" + m[:1]})
		}
	}
	for _, m := range placeholder().FindAllStringSubmatch(s, -1) {
		form := 1 + slices.IndexFunc(m[1:], func(s string) bool { return s != "" })
		n, _ := strconv.Atoi(m[byNumber])
		name := fmt.Sprintf(placeholderForms[form], m[form])
		switch form {
		case byNumber:
			name = m[0]
		case noName:
			form = inBraces
		}
		all = append(all, textPlaceholder{form, name, n, name[len(name)-1]})
	}
	n := 0
	for _, m := range plain().FindAllString(s, -1) {
		if printf && m != "%%" {
			n++
			all = append(all, textPlaceholder{inOrder, fmt.Sprintf(placeholderForms[inOrder], n, m), n, m[len(m)-1]})
		}
	}
	return all
}

// qtPlaceholder matches those of Qt, and onlyDigit what follows the sign in %1, but not in %1$s, %5d and %2F.
var (
	qtPlaceholder = text.Pattern(`%L?([1-9]\d?)`)
	onlyDigit     = text.Pattern(`^[1-9](?:[^\w$]|$)`)
)

// isQt reports whether a catalogue is one of Qt. No line of TypeScript has the form of its entries.
func isQt(name string) bool { return path.Ext(name) == ".ts" }

// gettextEntries calls do for each translation of a catalogue of gettext that has lines of an operation, and whose source
// is among the lines too. An entry that is marked as fuzzy is not used.
func gettextEntries(lines []diff.Line, op diff.Op, do func(l diff.Line, source, translated string, printf bool)) {
	var source, translated string
	var at diff.Line
	var fuzzy, printf, changed, inSource, inEntry bool
	flush := func() {
		if changed && !fuzzy && translated != "" {
			do(at, source, translated, printf)
		}
		translated, changed = "", false
	}
	for _, l := range lines {
		if l.Op != op && l.Op != diff.Context {
			continue
		}
		word, rest, _ := strings.Cut(l.Text, " ")
		switch {
		case strings.HasPrefix(word, "msgstr"):
			flush()
			inSource, at = false, l
		case word == "msgid":
			flush()
			source, inSource, inEntry = "", true, true
		case word == "msgid_plural":
			source += nextText
		case strings.HasPrefix(word, `"`):
			rest = l.Text
		default:
			flush()
			source, inSource = "", false
			printf = printf && !inEntry || formatted().MatchString(l.Text)
			// The mark comes before the former source and the context of its entry.
			fuzzy = fuzzy && !inEntry || strings.HasPrefix(l.Text, "#,") && strings.Contains(l.Text, "fuzzy")
			inEntry = false
			continue
		}
		part, err := strconv.Unquote(strings.TrimSpace(rest))
		if err != nil {
			part = rest
		}
		if len(source)+len(translated)+len(part) > maxText {
			continue
		}
		if inSource {
			source += part
			continue
		}
		translated += part
		if l.Op == op && !changed && part != "" {
			at, changed = l, true
		}
	}
	flush()
}

// formatted matches the flags of an entry of gettext whose texts are for functions like printf.
var formatted = text.Pattern(`^#,.*\s(?:c|objc|php|python)-format\b`)

// plural matches the key of a form for some numbers, as i18next names them.
var plural = text.Pattern(`_(?:zero|one|two|few|many|other)$`)

// entryForms match an entry of a catalogue on one line, its key and its text, by the ending of the file's name. Forms
// without a key have it before the text: keyBefore.
var entryForms = map[string]func() *regexp.Regexp{
	".json":       text.Pattern(`^\s*"((?:[^"\\]|\\.)+)"\s*:\s*"((?:[^"\\]|\\.)*)"\s*,?\s*$`),
	".xml":        text.Pattern(`^\s*<string\s+name="([^"]+)"[^>]*>(.*)</string>\s*$`),
	".php":        text.Pattern(`^\s*['"]([^'"]+)['"]\s*=>\s*['"](.*)['"]\s*,?\s*$`),
	".properties": text.Pattern(`^\s*([\w.-]+)\s*=\s*(.*)$`),
	".strings":    text.Pattern(`^\s*"((?:[^"\\]|\\.)+)"\s*=\s*"((?:[^"\\]|\\.)*)"\s*;\s*$`),
	".resx":       text.Pattern(`<value>(.*)</value>`),
	nestedForm:    text.Pattern(`^\s*["']?([\w.?-]+)["']?:(?:\s+["']?(.*?)["']?)?\s*$`),
	".xlf":        text.Pattern(`<(?:translation|numerusform|target)(?: (?:type="unfinished"|variants|state|xml)[^>]*)?>(.*)</`),
}

// nestedForm is the one in which entries are grouped: the key is the last part of it.
const nestedForm = ".yml"

// ofRails are values that Rails fills in although the source text need not mention them, as it does with those of other texts.
const ofRails = "%{attribute} %{count} %{errors} %{message} %{model} %{name} %{number} %{record} %{value} "

// sameForm are endings of files with the form of another.
var sameForm = map[string]string{".arb": ".json", ".ini": ".properties", ".resw": ".resx", ".ts": ".xlf", ".xliff": ".xlf", ".yaml": ".yml"}

// keyBefore matches what an entry begins with in XML: its source text in XLIFF and Qt, its key in .NET. A text that
// goes on in the next line is not known.
var keyBefore = text.Pattern(`<source(?: [^>]*)?>(?:(.*)</source>)?|<data name="([^"]+)"`)

// hasSource reports whether the entries of a catalogue have their source text as the key.
func hasSource(name string) bool { return path.Ext(name) == gettext || formOf(name) == ".xlf" }

// formOf returns the key of entryForms for a catalogue.
func formOf(name string) string {
	ext := path.Ext(name)
	if same, ok := sameForm[ext]; ok {
		return same
	}
	return ext
}

// sourceTexts reads the catalogues that translations are made from.
type sourceTexts struct {
	in   *Input
	read map[string]map[string]string // by path and key; texts with the same key are joined
}

// of returns the source text of a key in a translated catalogue, empty if it is not known. If there are catalogues of
// several kinds of English, any of them can be the source, so their texts are joined.
func (s *sourceTexts) of(translated, key string) (source string) {
	if path.Ext(translated) == gettext {
		return key
	}
	paths := sourcePaths(translated)
	if hasSource(translated) && paths != nil {
		source = key + nextText // of Symfony it is a name, and the text is that in English
	}
	for _, name := range paths {
		texts, ok := s.read[name]
		if !ok {
			texts = s.load(name)
			s.read[name] = texts
		}
		source += texts[key]
	}
	if plural().MatchString(key) { // the number is known, also where English does not need it
		source = strings.Replace(source, "{{", "{{count}}{{", 1)
	}
	return source
}

// isReference reports whether a placeholder, such as {{menu.title}}, stands for another text of the catalogue.
func (s *sourceTexts) isReference(translated, placeholder string) bool {
	name := strings.Trim(placeholder, "{}")
	at := strings.LastIndexByte(name, '.')
	return at > 0 && !hasSource(translated) && s.of(translated, name[at+1:]) != ""
}

func (s *sourceTexts) load(name string) map[string]string {
	texts := map[string]string{}
	b, err := s.in.Read(name)
	if err != nil || len(b) > maxSource {
		return texts
	}
	if formOf(name) == nestedForm {
		texts[""] = string(b)
	}
	if path.Ext(name) == ".properties" { // a text goes on after a backslash
		b = bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\\\r\n"), nil), []byte("\\\n"), nil)
	}
	lineEntries(name, linesOf(b, diff.Add), diff.Add, func(_ diff.Line, key, source string, _ bool) {
		if len(texts[key]) < maxText {
			texts[key] += source + nextText
		}
	})
	return texts
}

// language matches a language in the path of a catalogue: a folder, such as values-de and de.lproj, or the name of a
// file, or the end of one.
var language = text.Pattern(`(^|/)(values-)?(` + languageCode + `)(\.lproj)?(/[^/]+)$|(^|[/._-])(` + languageCode + `)(\.\w+)$`)

// byLanguage matches data that is in a language of a country by its name. Settings can be named so, too: db_QA.yml.
var byLanguage = text.Pattern(`(^|/)[a-z]{2,3}[-_][A-Z]{2}\.(json|ya?ml|ini|properties)$`)

// languageCode matches de, pt-BR, pt_br, values-pt-rBR's pt-rBR, zh-Hant and fil.
const languageCode = `[a-z]{2}[-_][a-z]{2}|[a-z]{2,3}(?:[-_](?:r?[A-Z]{2}|[A-Z][a-z]{3}))?`

// sourcePaths returns where the texts can be that a catalogue translates, nil for one that is in English itself.
func sourcePaths(name string) (paths []string) {
	if at := strings.LastIndexByte(name, '/') + 1; at > 0 && byLanguage().MatchString(name) { // whatever its folder
		for _, p := range sourcePaths(name[at:]) {
			paths = append(paths, name[:at]+p)
		}
		return paths
	}
	m := language().FindStringSubmatchIndex(name)
	if m == nil {
		return nil
	}
	start, end, project := m[6], m[7], m[8] >= 0
	if start < 0 {
		start, end = m[14], m[15]
	}
	switch {
	case strings.HasPrefix(name[start:end], "en"):
		return nil
	case m[4] >= 0: // values-de
		return []string{name[:m[4]] + "values" + name[end:]}
	case project: // de.lproj
		paths = append(paths, name[:start]+"Base"+name[end:])
	}
	for _, english := range []string{"en", "en-US", "en_US", "en-us", "en_us", "en-GB", "en_GB", "base"} {
		paths = append(paths, name[:start]+english+name[end:])
	}
	if bare := strings.TrimRight(name[:start], "._"); bare != name[:start] { // messages_de.properties, Texts.de.resx
		paths = append(paths, bare+name[end:])
	}
	return paths
}
