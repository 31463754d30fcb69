package lint

import "github.com/precedent-dev/precedent"

// unicodeTable has the texts of the rules. inProse is the severity in text for
// people. The confidence follows from what is left to explain the character: nothing
// but an attack for the first three, an editor that pasted it for the last one, which
// is not shown unless the threshold is lowered.
var unicodeTable = map[string]struct {
	title, body       string
	severity, inProse precedent.Severity
	confidence        int
}{
	"bidi": {
		"Bidirectional control character changes how the line reads",
		"Bidirectional overrides and isolates change the order in which text is displayed, so the code that runs is not " +
			"the code a reviewer sees (Trojan Source, CVE-2021-42574). " +
			"Delete the character, or write it as an escape if the text needs it.", precedent.High, precedent.Medium, 95,
	},
	"invisible-text": {
		"Invisible characters hide text in the line",
		"Tag characters and variation selectors can encode text that no editor shows but that programs and language " +
			"models read. They can smuggle instructions, " +
			"data or code past a reviewer. Delete them.", precedent.High, precedent.High, 95,
	},
	"invisible-letter": {
		"Invisible letter in the line",
		"The character counts as a letter but is displayed as nothing or as a space, so it can hide a variable, a " +
			"parameter or a key. Delete it.",
		precedent.High, precedent.Low, 95,
	},
	"lost-text": {
		"Characters of the line are lost: U+FFFD replaces them",
		"Programs write U+FFFD for bytes that they cannot decode. The file was read in the wrong encoding and saved, so " +
			"the text is gone. Restore it from an earlier commit, and save it in UTF-8.",
		precedent.Medium, precedent.Medium, 90,
	},
	"homoglyph": {
		"Identifier mixes letters of different scripts that look alike",
		"This name looks like another one but is different: readers see the familiar name, while the code uses another " +
			"function, variable, package or domain. " +
			"Retype the name with letters of one script.", precedent.High, precedent.Medium, 90,
	},
	"zero-width": {
		"Zero-width character hidden in the line",
		"It is invisible, but names, strings and keys that look equal differ because of it, and searches miss them. " +
			"Delete it, or write it as an escape if the text needs it.",
		precedent.Medium, precedent.Low, 85,
	},
	"control": {
		"Control character in the line",
		"Terminals interpret control characters instead of showing them, so the line can look different in a diff, a log " +
			"or an editor. " +
			"Delete it, or write it as an escape if the text needs it.", precedent.Medium, precedent.Low, 80,
	},
	"hidden": {
		"Hidden character in the line",
		"It is invisible, or displayed differently by different programs, so the line is not what it looks like. Delete " +
			"it, or write it as an escape if the text needs it.",
		precedent.Low, precedent.Nit, 60,
	},
}
