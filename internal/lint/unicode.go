package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// hiddenUnicode reports added lines with characters that are invisible, that change
// the reading order, or that look like others. Each line is at most one finding.
func hiddenUnicode(ctx context.Context, in *Input) Result {
	c := &collect{name: "unicode"}
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		if ctx.Err() != nil {
			break
		}
		k := kindOfText(f)
		for h := range f.Hunks {
			k.inspectHunk(c, f, &f.Hunks[h])
		}
	}
	return c.result(ctx, nil)
}

// inspectHunk reports the added lines of a hunk.
func (k textKind) inspectHunk(c *collect, f *diff.File, h *diff.Hunk) {
	replaced := map[string]int{} // words that deleted lines hide: each line accounts for one, and a comment for no code
	had := map[string]bool{}     // what is left of deleted lines that lose their letters outside ASCII
	for _, l := range h.Lines {
		switch l.Op {
		case diff.Delete:
			if k.prose || !comment().MatchString(l.Text) {
				replaced[hidingWords(l.Text)]++
			}
			if strings.ContainsFunc(l.Text, isOther) && !strings.Contains(l.Text, lostLetter) {
				had[loseLetters(l.Text)] = true
			}
		case diff.Add:
			d := k.inspect(l.Text, l.New == 1)
			if k.mayLose() && strings.Contains(l.Text, lostLetter) && had[loseLetters(l.Text)] {
				d.note("lost-text")
			}
			if d.rule == "" {
				continue
			}
			words := hidingWords(l.Text)
			d.old = len(d.idents) == 0 && len(d.spots) > 0 && (d.rule != "bidi" || k.prose) && d.rule != "invisible-text" &&
				replaced[words] > 0
			replaced[words]--
			c.add(d.finding(f, l, k))
		}
	}
}

// hidingWords returns the words of a line that have hidden characters, without punctuation around them.
func hidingWords(line string) string {
	var words []string
	for word := range strings.FieldsSeq(line) {
		if strings.ContainsFunc(word, func(r rune) bool { _, hidden := text.Hidden(r); return hidden }) {
			words = append(words, strings.TrimFunc(word, unicode.IsPunct))
		}
	}
	return strings.Join(words, " ")
}

// unicodeIssue is what is wrong with one line.
type unicodeIssue struct {
	rule   string      // the worst kind found; empty for none
	spots  []text.Spot // hidden characters, each once, in order
	idents []string    // identifiers that mix scripts
	old    bool        // the change deletes a line that hides the same
	mark   bool        // a Greek question mark is in place of a semicolon
	name   bool        // one of idents is, or can be, a name of code, and not a word of a text for people
	other  bool        // there is more than what is inert, and than escape sequences that a test may expect
}

// unicodeRules are the rules, worst first.
var unicodeRules = []string{
	"bidi", "invisible-text", "invisible-letter", "homoglyph", "zero-width", "control", "lost-text",
	"hidden",
}

func (d *unicodeIssue) note(rule string) {
	if d.rule == "" || slices.Index(unicodeRules, rule) < slices.Index(unicodeRules, d.rule) {
		d.rule = rule
	}
}

// inspect checks a line. first is set for the first line of a file.
func (k textKind) inspect(s string, first bool) (d unicodeIssue) {
	i := 0
	for i < len(s) && (s[i] >= ' ' && s[i] < 0x7f || s[i] == '\t') {
		i++
	}
	if i == len(s) || isBytes(s) {
		return d
	}
	var selector rune
	line := lineOfText{text: s, first: first, toLeft: hasRightToLeft(s), balanced: isBalanced(s)}
	line.unspaced = k.localized && unspaced().MatchString(s)
	seen := map[rune]bool{}
	for spot := range text.Spots(s) {
		if k.isHarmless(&line, spot) {
			continue
		}
		rule := kindOf(spot.Rune)
		if unicode.Is(unicode.Variation_Selector, spot.Rune) {
			if selector != 0 && selector != spot.Rune { // one, also repeated, is an accident, several encode a message
				rule = "invisible-text"
			}
			selector = spot.Rune
		}
		before, after := around(s, spot)
		if rule == "hidden" && before != spot.Rune && isNamePart(before) && isNamePart(after) {
			rule = "zero-width" // two names that look the same
		}
		if !k.reports(rule) || rule == "zero-width" && k.names && !isNamePart(before) && !isNamePart(after) {
			continue
		}
		d.note(rule)
		d.other = d.other || !strings.ContainsRune(inert, spot.Rune) &&
			(!k.colored || spot.Rune != '\x1b' || passesPager().MatchString(s[spot.Start:]))
		if !seen[spot.Rune] {
			seen[spot.Rune] = true
			d.spots = append(d.spots, spot)
		}
	}
	if k.mayLose() && isLost(s) {
		d.note("lost-text")
	}
	if !k.reports("homoglyph") || k.displayed && d.rule == "lost-text" { // its other words mix scripts by chance
		return d
	}
	if k.verbatim && questionMark().MatchString(s) && questionMark().MatchString(text.BareLines("a.js", []string{s})[0]) {
		d.mark = true
		d.note("homoglyph")
	}
	if strings.ContainsRune(s, utf8.RuneError) {
		s = otherEncoding().ReplaceAllLiteralString(s, " ")
	}
	inCode := withoutTexts(s)
	if k.localized {
		s, inCode = inCode, translated().ReplaceAllString(inCode, "$1")
	}
	names := map[string]bool{}
	for _, ident := range identifiers(s) {
		if k.misleads(ident) && !names[ident] && !endsRanges(s, ident) {
			names[ident] = true
			d.note("homoglyph")
			d.idents = append(d.idents, ident)
		}
	}
	d.name = len(d.idents) > 0 && slices.ContainsFunc(identifiers(inCode), k.misleads)
	return d
}

// questionMark matches a line with the Greek question mark, which looks like a semicolon, and without Greek letters.
var questionMark = text.Pattern(`^\P{Greek}*\x{37e}\P{Greek}*$`)

// endsRanges reports whether a name is where one range of letters ends and the next begins, as in [A-ZА-Я].
func endsRanges(line, name string) bool {
	return utf8.RuneCountInString(name) == 2 && strings.Contains(line, "-"+name+"-")
}

// otherEncoding matches names next to a byte that is not of UTF-8: in GB2312 and others, some letters look like those of
// UTF-8.
var otherEncoding = text.Pattern(`[\pL\pN\pM_$]*\x{fffd}[\pL\pN\pM_$\x{fffd}]*`)

// misleads reports whether a name looks like another one. Fullwidth letters do not: they are visibly wider.
func (k textKind) misleads(ident string) bool {
	if k.verbatim {
		ident = strings.Map(func(r rune) rune {
			switch {
			case r >= 0xff21 && r <= 0xff3a:
				return 'X'
			case r >= 0xff41 && r <= 0xff5a:
				return 'x'
			}
			return r
		}, ident)
	}
	_, bad := text.Mixed(ident)
	return bad
}

// kindOf returns the rule for a hidden character.
func kindOf(r rune) string {
	switch {
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return "bidi"
	case r >= 0xe0000 && r <= 0xe007f:
		return "invisible-text"
	case unicode.IsLetter(r):
		return "invisible-letter"
	case r >= 0x200b && r <= 0x200d, r >= 0x2060 && r <= 0x2064, r == byteOrderMark, r == 0x180e:
		return "zero-width"
	case unicode.IsControl(r):
		return "control"
	}
	return "hidden"
}

// Characters that are harmless in the right context.
const (
	byteOrderMark                        = '\ufeff'
	softHyphen                           = '\u00ad'
	leftToRight, rightToLeft, arabicMark = '\u200e', '\u200f', '\u061c'
	zeroWidthNonJoiner, zeroWidthJoiner  = '\u200c', '\u200d'
	zeroWidthSpace                       = '\u200b'
)

// lineOfText is a line, with what is computed once for all its characters.
type lineOfText struct {
	text     string
	first    bool // of a file
	toLeft   bool // it has letters that are written from right to left
	balanced bool // see isBalanced
	unspaced bool // a text of a program in a script without spaces between words
}

// isHarmless reports whether a hidden character serves its purpose: a byte order mark
// at the start of a file, a soft hyphen in a word, a direction mark or joiner in right-to-left
// text, a color in the expected output of a test, tags in a flag emoji, or an icon. text.Spots
// already allows emoji and scripts that need joiners.
func (k textKind) isHarmless(line *lineOfText, spot text.Spot) bool {
	s := line.text
	before, after := around(s, spot)
	switch r := spot.Rune; {
	case r == byteOrderMark:
		return line.first && spot.Start == 0
	case r == softHyphen:
		return (k.prose || k.template && isVisible(s, spot)) && unicode.IsLetter(before) && unicode.IsLetter(after)
	case r == '\x1b':
		return k.colored && setsColor().MatchString(s[spot.Start:]) || k.script && printsColor().MatchString(s[spot.Start:])
	case r == zeroWidthNonJoiner, r == zeroWidthJoiner:
		return k.localized && (line.toLeft || isForeign(before) || isForeign(after))
	case r == zeroWidthSpace:
		return line.unspaced
	case r == leftToRight, r == rightToLeft, r == arabicMark:
		return line.toLeft && (k.prose || !isLatin(before) || !isLatin(after))
	case kindOf(r) == "bidi":
		// An embedding that a translation opens ends with the text. An override reorders Latin text, too. In a catalogue,
		// an embedding can be around a placeholder alone.
		return k.displayed && line.toLeft && (line.balanced || k.catalogue && (r == 0x202a || r == 0x202b || r == 0x202c)) ||
			k.catalogue && line.balanced
	case unicode.Is(unicode.Co, r):
		return isIcon(s, spot)
	case r > 0xe0000 && r <= 0xe007f:
		return inFlag(s, spot.Start)
	}
	return false
}

// isVisible reports whether a character of a template is in a text between two tags of a line, without code.
func isVisible(line string, spot text.Spot) bool {
	const code, near = "<>{}()=;\"`", 200 // bytes of text
	before, after := line[max(0, spot.Start-near):spot.Start], line[spot.End:min(len(line), spot.End+near)]
	open, end := strings.LastIndexAny(before, code), strings.IndexAny(after, code)
	return open >= 0 && before[open] == '>' && end >= 0 && after[end] == '<'
}

// isForeign reports whether a character is a letter or a mark of another alphabet than Latin.
func isForeign(r rune) bool { return r >= 0x300 && isNamePart(r) && !isLatin(r) }

// unspaced matches letters of scripts without spaces between words, in which people mark where a line may break.
var unspaced = text.Pattern(`[\p{Khmer}\p{Lao}\p{Myanmar}\p{Thai}]`)

// tagFlags are the flags that are written with tags: England, Scotland and Wales.
var tagFlags = []string{
	"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
}

// inFlag reports whether byte i is part of one of them.
func inFlag(s string, i int) bool {
	return slices.ContainsFunc(tagFlags, func(flag string) bool {
		return strings.Contains(s[max(0, i+1-len(flag)):min(len(s), i+len(flag))], flag)
	})
}

// identifiers returns the words of a line that have a letter outside ASCII, without
// the letters and digits of escapes.
func identifiers(s string) []string {
	var all []string
	for w := range strings.FieldsFuncSeq(withoutEscapes(s), func(r rune) bool { return !isNamePart(r) && r != '$' }) {
		if strings.ContainsFunc(w, isOther) {
			all = append(all, w)
		}
	}
	return all
}

// isOther reports whether a character is not in ASCII.
func isOther(r rune) bool { return r >= utf8.RuneSelf }

// escapeDigits are the lengths of the escapes that have hexadecimal digits.
var escapeDigits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// withoutEscapes replaces the escapes of string literals with backslashes, and also
// what follows \xd8: such a string is bytes, of which some happen to be letters, and no
// language allows that escape in a name.
func withoutEscapes(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	b := []byte(s)
	for i := 0; i+1 < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		kind := b[i+1]
		n := escapeDigits[kind]
		if kind < utf8.RuneSelf {
			b[i+1] = '\\'
		}
		for i++; i+1 < len(b) && (n > 0 && isHex(b[i+1]) || kind == 'x' && isByteOfName(b[i+1])); n-- {
			i++
			b[i] = '\\'
		}
	}
	return string(b)
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

func isByteOfName(c byte) bool {
	return c >= utf8.RuneSelf || c == '_' || c >= '0' && c <= '9' || c|' ' >= 'a' && c|' ' <= 'z'
}

// maxSpelledOut is the number of characters or names that a finding lists.
const maxSpelledOut = 6

func (d *unicodeIssue) finding(f *diff.File, l diff.Line, k textKind) precedent.Finding {
	w := unicodeTable[d.rule]
	out := newFinding(f, precedent.Right, l)
	out.Category, out.Rule, out.Severity, out.Confidence = precedent.Security, d.rule, w.severity, w.confidence
	record := records().MatchString(f.Path)
	switch {
	case d.rule == "lost-text":
		out.Category = precedent.Bugs
	case d.old:
		out.Severity = precedent.Low
	case d.rule == "zero-width" && comment().MatchString(l.Text): // no compiler reads it
		out.Severity, out.Confidence = w.inProse, unicodeTable["hidden"].confidence
	case d.rule == "invisible-text" && !k.prose && isTestData(f.Path), d.rule == "homoglyph" && !k.prose && (isUnread(l.Text, 0) || !d.name && !d.mark),
		d.rule == "bidi" && f.Skip == diff.Minified && isUnread(l.Text, 0):
		out.Severity = precedent.Low
	case k.prose, d.rule == "control" && (record || !d.other), d.rule == "homoglyph" && record,
		d.rule == "zero-width" && (d.isMark(l.Text) || !misleadsByWidth(f.Path, l.Text)):
		out.Severity = w.inProse
	}
	var says []string
	if len(d.spots) > 0 {
		var names []string
		for _, spot := range d.spots[:min(len(d.spots), maxSpelledOut)] {
			names = append(names, fmt.Sprintf("<U+%04X> %s", spot.Rune, spot.Name))
		}
		if n := len(d.spots) - maxSpelledOut; n > 0 {
			names = append(names, fmt.Sprintf("%d more", n))
		}
		says = append(says, "The line contains characters that are not displayed: "+strings.Join(names, ", ")+".")
	}
	out.Title = w.title
	if i := slices.IndexFunc(d.spots, func(s text.Spot) bool { return kindOf(s.Rune) == d.rule }); i >= 0 {
		out.Title += fmt.Sprintf(": <U+%04X>", d.spots[i].Rune)
	}
	if d.mark && d.rule == "homoglyph" && len(d.idents) == 0 {
		out.Title = "Greek question mark in place of a semicolon: <U+037E>"
		w.body = "The character looks like a semicolon, but compilers and interpreters do not read it as one. Retype it."
	}
	kind := "name"
	if d.rule == "homoglyph" && !d.name && !d.mark {
		out.Title, kind = strings.Replace(out.Title, "Identifier", "Word", 1), "word"
		w.body = "The word is displayed as it should be, but searches do not find it. Retype it with letters of one script."
	}
	out.Title = title(out.Title)
	for _, ident := range d.idents[:min(len(d.idents), maxSpelledOut)] {
		scripts, _ := text.Mixed(ident)
		says = append(says, fmt.Sprintf("The %s %s mixes %s letters.", kind, describeRune(ident), strings.Join(scripts, " and ")))
	}
	if d.old {
		says = append(says, "The line that the change replaces has them already.")
	}
	out.Body = strings.Join(append(says, w.body), " ")
	return out
}

// inert are the control characters that terminals ignore, or beep at.
const inert = "\x00\x01\x02\x03\x04\x06\a\x1c\x1d\x1e\x1f\x7f"

// isMark reports whether all that a line hides are byte order marks before its text, which an editor or a program that
// joins files left there. Most compilers skip them.
func (d *unicodeIssue) isMark(s string) bool {
	return len(d.spots) == 1 && d.spots[0].Rune == byteOrderMark &&
		!strings.ContainsRune(strings.TrimLeft(s, string(byteOrderMark)), byteOrderMark)
}

// misleading matches hidden characters in words of alphabets that need none, which look like others, and long runs.
var misleading = text.Pattern(`[` + spaced + `]\x{200b}+(?:[!-~` + spaced + `]|$)|(?:^|[!-~` + spaced + `])\x{200b}+[` + spaced + `]|\x{200b}{8}`)

const spaced = `\w\p{Latin}\p{Cyrillic}\p{Greek}`

// misleadsByWidth reports whether what a line hides is in code or misleading, and not what typists and programs leave in
// texts: joiners and breaks of words, also doubled ones.
func misleadsByWidth(name, line string) bool {
	line = strings.Map(func(r rune) rune {
		if _, hidden := text.Hidden(r); hidden {
			return zeroWidthSpace
		}
		return r
	}, line)
	return misleading().MatchString(line) || strings.ContainsRune(text.BareLines(name, []string{line})[0], zeroWidthSpace)
}

// describeRune writes every character outside ASCII as a code point.
func describeRune(ident string) string {
	var b strings.Builder
	for _, r := range text.Cut(ident, 60) {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// comment matches a line that begins or goes on with a comment.
var comment = text.Pattern(`^\s*(#|//|/\*|\*|<!--|--)`)
