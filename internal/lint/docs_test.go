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

var update = flag.Bool("update", false, "write the table of docs/analyzers.md")

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
			{testKeyConfidence, "test keys, and all but issued ones in tests, examples, samples and documents"},
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

// TestDocs: docs/analyzers.md says what All says, and the limits.
func TestDocs(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "analyzers.md")
	was := string(needs.Value(os.ReadFile(file))(t))
	head, after, _ := strings.Cut(was, "|---|---|---|\n")
	_, after, _ = strings.Cut(after, "\n\n")
	var b strings.Builder
	b.WriteString(head + "|---|---|---|\n")
	for _, a := range All() {
		var list []string
		for _, s := range confidencesOf(a.Name) {
			list = append(list, strings.TrimSpace(fmt.Sprint(s.confidence, " ", s.of)))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Name, a.Doc, strings.Join(list, "; "))
	}
	b.WriteString("\n" + after)
	if *update {
		needs.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	} else {
		needs.Equal(t, was, b.String())
	}
	for _, limit := range []string{
		fmt.Sprintf("More than %d findings of a rule in a file", maxApart), fmt.Sprintf("lists the first %d.", maxPlaces),
		fmt.Sprintf("lists at most %d findings", maxFindings),
	} {
		if !strings.Contains(after, limit) {
			t.Errorf("%s does not say %q", file, limit)
		}
	}
}
