package lint

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

var update = flag.Bool("update", false, "write docs/analyzers.md")

// afterTable is the text after the table.
const afterTable = `
## Comments that turn rules off

The author of a change writes its comments, too. So they turn off only rules of ` + "`govet` and `linters`" + `, for which they count as
they do for the team: ` + "`//nolint` and `//nolint:govet`" + ` in Go, and what [linters](linters.md#comments) read. The finding stays in the
result of ` + "`--json`" + ` and ` + "`precedent explain`" + ` as ` + "`turned_off`" + `, with the comment, its line, and whether the change adds it.

## Many findings of one kind

More than %d findings of a rule in a file are one finding, at the first place. Its text says how many there are and lists the first %d. The
id is that of the first place, so it does not change with the number. An analyzer lists at most %d findings, the worst ones; the
rest count as read.

## What is not checked for hidden characters

The analyzer ` + "`unicode`" + ` reports bidirectional controls and tag characters in everything that people read as text. Other remarks depend on the file:

- None at all in minified files, if the base has such a file.
- None in binary and other minified files, in data, and in catalogues of translations: gettext, XLIFF, Qt, Apple, .NET, Android, Flutter, and data in
  folders such as ` + "`locales`" + `. There, embeddings and isolates that end on their line are also left to right-to-left text.
- In generated, vendored and lock files: only what hides code, such as look-alike letters in names, invisible letters, and zero-width
  characters next to names.
- Names with fullwidth letters, which are visibly wider, except where a program may read them as ASCII, as Python does.
- Joiners, spaces without width and direction marks are allowed where a script needs them, as are emoji, variants of symbols, and icons.
- In files of tests, escape sequences that set colors are allowed. Those that less, the pager of git, does not pass on to the terminal, such as one
  that clears the screen, are of low severity there.
- U+FFFD stands for lost text where a replaced line has letters, where several words of a line miss some, or where it is a tenth of the line and more than
  three. In tests and fixtures, it is allowed.

Whether a file is binary or generated comes from ` + "`.gitattributes`" + ` at the base commit (` + "`binary`, `-diff`, `linguist-generated`, `gitlab-generated`" + `), from git, from
names, headers and content. ` + "`-text`" + ` alone does not make a file binary, but then any bytes that are no text do.
`

// sure is a confidence, in percent, and what has it; empty for all findings.
type sure struct {
	confidence int
	of         string
}

// confidencesOf returns those that the findings of an analyzer may have: that of newFinding, if no other is listed.
func confidencesOf(analyzer string) []sure {
	all := map[string][]sure{
		"secrets": {
			{issuedConfidence, "issued by a service"},
			{keyStoreConfidence, "key stores"},
			{selfMadeConfidence, "private keys"},
			{genericConfidence, "by the name or the place beside them, of medium severity in code and if a person invented them"},
			{partialConfidence, "ids, publishable keys, and API keys of apps of Firebase"},
			{testKeyConfidence, "test keys"},
			{lookAlikeConfidence, "what only looks like one"},
		},
		"conflict-markers": {{conflictSure, ""}},
		"leftovers":        {{leftoverSure, ""}},
		"workflows":        {{injectionSure, ""}},
		"translations":     {{placeholderSure, ""}},
		"policy-edit":      {{steeringSure, ""}, {steeringGuide, "guides that do not speak to assistants"}},
		"govet": {
			{goTestSure, "what `go test` checks"},
			{vetSure, "others"},
			{vetSure - inTest, "others, in tests"},
			{compositesSure, "`composites`"},
		},
		LintersName: {{linterSure, ""}},
	}
	for _, rule := range slices.Sorted(maps.Keys(unicodeTable)) {
		all["unicode"] = append(all["unicode"], sure{unicodeTable[rule].confidence, "`" + rule + "`"})
	}
	slices.SortStableFunc(all["unicode"], func(a, b sure) int { return b.confidence - a.confidence })
	if own, ok := all[analyzer]; ok {
		return own
	}
	return []sure{{lineConfidence, ""}}
}

// TestDocs: docs/analyzers.md says what All says.
func TestDocs(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "analyzers.md")
	var b strings.Builder
	b.WriteString(`# Analyzers

<!-- Made from the table in internal/lint by "go test ./internal/lint -run TestDocs -update"; edit that. -->

An analyzer finds problems without a model. It reports on lines that the change adds. All analyzers run unless the policy turns
them off by name, like [finders](finders.md). Confidences are fixed, in percent; findings below the threshold are hidden.

| analyzer | what it finds | confidence |
|---|---|---|
`)
	for _, a := range All() {
		var list []string
		for _, s := range confidencesOf(a.Name) {
			list = append(list, strings.TrimSpace(fmt.Sprint(s.confidence, " ", s.of)))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Name, a.Doc, strings.Join(list, "; "))
	}
	fmt.Fprintf(&b, afterTable, maxApart, maxPlaces, maxFindings)
	if *update {
		needs.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want := needs.Value(os.ReadFile(file))(t)
	needs.Equal(t, string(want), b.String())
}
