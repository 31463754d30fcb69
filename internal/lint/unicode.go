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

// hiddenUnicode reports added lines with characters that are invisible, that change
// the reading order, or that look like others. Each line is at most one finding.
func hiddenUnicode(ctx context.Context, in *Input) Result {
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
	rule   string      // the worst kind found; empty for none
	spots  []text.Spot // hidden characters, each once, in order
	idents []string    // identifiers that mix scripts
}

// unicodeRules are the rules, worst first.
var unicodeRules = []string{"bidi", "invisible-text", "invisible-letter", "homoglyph", "zero-width", "control", "hidden"}

func (d *unicodeIssue) note(rule string) {
	if d.rule == "" || slices.Index(unicodeRules, rule) < slices.Index(unicodeRules, d.rule) {
		d.rule = rule
	}
}

// inspect checks a line. first is set for the first line of a file, prose if the file
// is text for people.
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
		if isHarmless(s, spot, first, prose) {
			continue
		}
		if unicode.Is(unicode.Variation_Selector, spot.Rune) {
			if selectors++; selectors > 1 { // one is an accident, several encode a message
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
	blackFlag, cancelTag                 = '\U0001f3f4', '\U000e007f'
)

// isHarmless reports whether a hidden character serves its purpose: a byte order mark
// at the start of a file, a soft hyphen in a word, a direction mark in right-to-left
// text, or tags in a flag emoji. text.Spots already allows emoji and scripts that
// need joiners.
func isHarmless(s string, spot text.Spot, first, prose bool) bool {
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

// inFlag reports whether byte i is part of one of the three flags that are written
// with tags: England, Scotland and Wales.
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

// identifiers returns the words of a line that have a letter outside ASCII.
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

// isProse reports whether a file is text for people, where hidden characters can
// mislead a reader but not a compiler.
func isProse(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".org", ".tex", ".html", ".htm",
		".po", ".pot", ".xlf", ".xliff", ".arb", ".strings", ".srt", ".vtt", ".csv", ".tsv":
		return true
	}
	return false
}

// maxSpelledOut is the number of characters or names that a finding lists.
const maxSpelledOut = 6

func (d *unicodeIssue) finding(f *diff.File, l diff.Line, prose bool) precedent.Finding {
	w := unicodeTable[d.rule]
	out := newFinding(f, precedent.Right, l)
	out.Category, out.Rule, out.Severity = precedent.Security, d.rule, w.severity
	if prose {
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
	out.Title = title(out.Title)
	for _, ident := range d.idents[:min(len(d.idents), maxSpelledOut)] {
		scripts, _ := text.Mixed(ident)
		says = append(says, fmt.Sprintf("The name %s mixes %s letters.", describeRune(ident), strings.Join(scripts, " and ")))
	}
	out.Body = strings.Join(append(says, w.body), " ")
	return out
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

// unicodeTable has the texts of the rules. inProse is the severity in text for
// people.
var unicodeTable = map[string]struct {
	title, body       string
	severity, inProse precedent.Severity
}{
	"bidi": {
		"Bidirectional control character changes how the line reads",
		"Bidirectional overrides and isolates change the order in which text is displayed, so the code that runs is not the code a reviewer sees (Trojan Source, CVE-2021-42574). " +
			"Delete the character, or write it as an escape if the text needs it.", precedent.High, precedent.Medium,
	},
	"invisible-text": {
		"Invisible characters hide text in the line",
		"Tag characters and variation selectors can encode text that no editor shows but that programs and language models read. They can smuggle instructions, " +
			"data or code past a reviewer. Delete them.", precedent.High, precedent.High,
	},
	"invisible-letter": {
		"Invisible letter in the line",
		"The character counts as a letter but is displayed as nothing or as a space, so it can hide a variable, a parameter or a key. Delete it.",
		precedent.High, precedent.Low,
	},
	"homoglyph": {
		"Identifier mixes letters of different scripts that look alike",
		"This name looks like another one but is different: readers see the familiar name, while the code uses another function, variable, package or domain. " +
			"Retype the name with letters of one script.", precedent.High, precedent.Medium,
	},
	"zero-width": {
		"Zero-width character hidden in the line",
		"It is invisible, but names, strings and keys that look equal differ because of it, and searches miss them. Delete it, or write it as an escape if the text needs it.",
		precedent.Medium, precedent.Low,
	},
	"control": {
		"Control character in the line",
		"Terminals interpret control characters instead of showing them, so the line can look different in a diff, a log or an editor. " +
			"Delete it, or write it as an escape if the text needs it.", precedent.Medium, precedent.Low,
	},
	"hidden": {
		"Hidden character in the line",
		"It is invisible, or displayed differently by different programs, so the line is not what it looks like. Delete it, or write it as an escape if the text needs it.",
		precedent.Low, precedent.Nit,
	},
}
