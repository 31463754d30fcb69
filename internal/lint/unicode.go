package lint

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// hidden reports added lines with characters that are not seen, that turn the
// reading order around, or that look like others. One line is one finding.
func hidden(ctx context.Context, in *Input) Result {
	c := &collect{name: "unicode"}
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		if ctx.Err() != nil {
			break
		}
		prose := isProse(f.Path)
		for l := range f.AddedLines() {
			if d := inspect(l.Text, l.New == 1, prose); d.rule != "" {
				c.add(d.finding(f, l, prose))
			}
		}
	}
	return c.result(ctx, nil)
}

// unicodeIssue is what is wrong with one line.
type unicodeIssue struct {
	rule   string      // the worst kind that was met; empty for none
	spots  []text.Spot // hidden characters, each once, in order
	idents []string    // identifiers that mix scripts
}

// unicodeRules are the rules, the worst first.
var unicodeRules = []string{"bidi", "invisible-text", "invisible-letter", "homoglyph", "zero-width", "control", "hidden"}

func (d *unicodeIssue) note(rule string) {
	if d.rule == "" || slices.Index(unicodeRules, rule) < slices.Index(unicodeRules, d.rule) {
		d.rule = rule
	}
}

// inspect looks for disguises in a line; first tells that it is the first of
// its file, prose that the file is text for people.
func inspect(s string, first, prose bool) (d unicodeIssue) {
	i := 0
	for i < len(s) && (s[i] >= ' ' && s[i] < 0x7f || s[i] == '\t') {
		i++
	}
	if i == len(s) {
		return d
	}
	selectors := 0
	for spot := range text.Spots(s) {
		if innocent(s, spot, first, prose) {
			continue
		}
		if unicode.Is(unicode.Variation_Selector, spot.Rune) {
			if selectors++; selectors > 1 { // one is a slip, several are bytes of a message
				d.note("invisible-text")
			}
		}
		d.note(kindOf(spot.Rune))
		if !slices.ContainsFunc(d.spots, func(o text.Spot) bool { return o.Rune == spot.Rune }) {
			d.spots = append(d.spots, spot)
		}
	}
	for _, ident := range identifiers(s) {
		if _, bad := text.Mixed(ident); bad && !slices.Contains(d.idents, ident) {
			d.note("homoglyph")
			d.idents = append(d.idents, ident)
		}
	}
	return d
}

// kindOf sorts a hidden character under a rule.
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

// Characters that are innocent in the right company.
const (
	byteOrderMark                        = '\ufeff'
	softHyphen                           = '\u00ad'
	leftToRight, rightToLeft, arabicMark = '\u200e', '\u200f', '\u061c'
	blackFlag, cancelTag                 = '\U0001f3f4', '\U000e007f'
)

// innocent tells whether a hidden character does what it was made for: a byte
// order mark opens a file, a soft hyphen stands in a word, marks stand in text
// that runs from right to left, tags make a flag. Emoji and scripts that need
// joiners are known to text.Spots.
func innocent(s string, spot text.Spot, first, prose bool) bool {
	switch r := spot.Rune; {
	case r == byteOrderMark:
		return first && spot.Start == 0
	case r == softHyphen:
		before, _ := utf8.DecodeLastRuneInString(s[:spot.Start])
		after, _ := utf8.DecodeRuneInString(s[spot.End:])
		return prose && unicode.IsLetter(before) && unicode.IsLetter(after)
	case r == leftToRight, r == rightToLeft, r == arabicMark:
		return prose && strings.ContainsFunc(s, func(r rune) bool {
			return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko)
		})
	case r > 0xe0000 && r <= cancelTag:
		return inFlag(s, spot.Start)
	}
	return false
}

// inFlag tells whether byte i belongs to one of the three flags that are
// written with tags: England's, Scotland's and Wales'.
func inFlag(s string, i int) bool {
	start := strings.LastIndex(s[:i], string(blackFlag))
	if start < 0 {
		return false
	}
	for _, region := range []string{"gbeng", "gbsct", "gbwls"} {
		tags := string(blackFlag)
		for _, r := range region {
			tags += string(0xe0000 + r)
		}
		if tags += string(cancelTag); strings.HasPrefix(s[start:], tags) && i < start+len(tags) {
			return true
		}
	}
	return false
}

// identifiers returns the words of a line that hold a letter outside ASCII.
func identifiers(s string) []string {
	var all []string
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		if strings.ContainsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf }) {
			all = append(all, w)
		}
	}
	return all
}

// isProse tells whether a file is text for people, where hidden characters
// mislead a reader but no compiler.
func isProse(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".org", ".tex", ".html", ".htm",
		".po", ".pot", ".xlf", ".xliff", ".arb", ".strings", ".srt", ".vtt", ".csv", ".tsv":
		return true
	}
	return false
}

// shown bounds how many characters or names a finding spells out.
const shown = 6

func (d *unicodeIssue) finding(f *diff.File, l diff.Line, prose bool) precedent.Finding {
	w := unicodeTable[d.rule]
	out := at(f, precedent.Right, l)
	out.Category, out.Rule, out.Severity = precedent.Security, d.rule, w.severity
	if prose {
		out.Severity = w.inProse
	}
	var says []string
	if len(d.spots) > 0 {
		var names []string
		for _, spot := range d.spots[:min(len(d.spots), shown)] {
			names = append(names, fmt.Sprintf("<U+%04X> %s", spot.Rune, spot.Name))
		}
		if n := len(d.spots) - shown; n > 0 {
			names = append(names, fmt.Sprintf("%d more", n))
		}
		says = append(says, "The line holds characters that are not shown: "+strings.Join(names, ", ")+".")
	}
	out.Title = w.title
	if i := slices.IndexFunc(d.spots, func(s text.Spot) bool { return kindOf(s.Rune) == d.rule }); i >= 0 {
		out.Title += fmt.Sprintf(": <U+%04X>", d.spots[i].Rune)
	}
	out.Title = title(out.Title)
	for _, ident := range d.idents[:min(len(d.idents), shown)] {
		scripts, _ := text.Mixed(ident)
		says = append(says, fmt.Sprintf("The name %s mixes %s letters.", describeRune(ident), strings.Join(scripts, " and ")))
	}
	out.Body = strings.Join(append(says, w.body), " ")
	return out
}

// describeRune writes a name with everything outside ASCII as code points.
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

// unicodeTable holds the words of the rules; inProse is the severity in text
// for people.
var unicodeTable = map[string]struct {
	title, body       string
	severity, inProse precedent.Severity
}{
	"bidi": {
		"Bidirectional control character changes how the line reads",
		"Bidirectional overrides and isolates reorder what a reader sees, so that the code that runs is not the code that was reviewed (Trojan Source, CVE-2021-42574). " +
			"Delete the character; if a text needs it, write it as an escape.", precedent.High, precedent.Medium,
	},
	"invisible-text": {
		"Invisible characters hide text in the line",
		"Tag characters and variation selectors spell text that no editor shows but that programs and language models read: a way to smuggle instructions, " +
			"data or code past a reviewer. Delete them.", precedent.High, precedent.High,
	},
	"invisible-letter": {
		"Invisible letter in the line",
		"The character counts as a letter but is drawn as nothing or as a space, so that a variable, a parameter or a key can stand here unseen. Delete it.",
		precedent.High, precedent.Low,
	},
	"homoglyph": {
		"Identifier mixes letters of different scripts that look alike",
		"A name like this looks the same as another and is not: a reader takes it for the familiar one, while a different function, variable, package or domain is meant. " +
			"Type the name again with letters of one script.", precedent.High, precedent.Medium,
	},
	"zero-width": {
		"Zero-width character hidden in the line",
		"It cannot be seen, yet it makes names, strings and keys differ that look equal, and searches miss them. Delete it; if a text needs it, write it as an escape.",
		precedent.Medium, precedent.Low,
	},
	"control": {
		"Control character in the line",
		"Terminals obey control characters instead of showing them, so that the line looks different in a diff, a log or an editor from what it is. " +
			"Delete it; if a text needs it, write it as an escape.", precedent.Medium, precedent.Low,
	},
	"hidden": {
		"Hidden character in the line",
		"It is not shown, or not everywhere alike, yet programs read it, so that the line is not what it looks like. Delete it; if a text needs it, write it as an escape.",
		precedent.Low, precedent.Nit,
	},
}
