package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/golden"
)

func TestFinders(t *testing.T) {
	var names []string
	for _, f := range Finders() {
		if slices.Contains(names, f.Name) || f.Title == "" || !slices.Contains(precedent.Categories, f.Category) {
			t.Errorf("finder %+v", f)
		}
		names = append(names, f.Name)
		if n := Tokens(f.role()); n == 0 || n > 400 {
			t.Errorf("the role of %s has %d tokens, at most 400 are wanted", f.Name, n)
		}
	}
	if names[0] != "general" {
		t.Errorf("%s comes first: general is to, in case a budget ends the review", names[0])
	}
	roles, err := files.ReadDir("finders")
	if err != nil || len(roles) != len(names) {
		t.Errorf("%d roles for %d finders: %v", len(roles), len(names), err)
	}
}

// TestDocs: docs/finders.md says what the rows say.
func TestDocs(t *testing.T) {
	golden.Compare(t, "../../docs/finders.md", docs())
}

// docs renders the rows for people.
func docs() string {
	var b strings.Builder
	b.WriteString(`# Finders

<!-- Made from the rows in internal/prompt by "go test ./internal/prompt -update"; edit those. -->

A finder has a model read the change with one assignment. All finders get the same prompt except for the assignment at its
end, so that a provider can cache the rest. Each finder costs one request for every part of the change; with a cache, most of
the request costs a tenth of the price.

` + "`general`" + ` reads every change for every kind of problem. The others are second readers, each for one kind. They read if the
change is an occasion for them; of a change of at most 20 lines, only the first of them does. ` + "`--deep`" + ` asks all of them, and
a policy turns each on or off by name:

` + "```yaml" + `
# .precedent.yaml
finders:
  performance: true
  tests: false
` + "```" + `

In the order in which they start:

| finder | category | runs | what it looks for |
|---|---|---|---|
`)
	for _, f := range Finders() {
		when := string(f.When)
		if f.Blind {
			when += ", without title, description and messages"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Category, when, sentence(f.role()))
	}
	b.WriteString(`
The category is the default for the finder's findings. A finding can have a more specific one, for example ` + "`data-loss`" + `. The exact
prompts are in ` + "`internal/prompt/finders/`" + `.

# Platform guides

A platform guide lists what to look for in one kind of file. Every finder gets the guides for all files in the change, before the
team's own documents, which take precedence. Patterns match at any depth and ignore case.

| guide | for | files |
|---|---|---|
`)
	for _, p := range platforms() {
		fmt.Fprintf(&b, "| [`%s`](../internal/prompt/platforms/%s.md) | %s | `%s` |\n", p.name, p.name, p.title,
			strings.Join(p.patterns, "` `"))
	}
	return b.String()
}

// sentence is the first one of a role.
func sentence(role string) string {
	if m := regexp.MustCompile(`^(?s:.*?)[.?](?:\s|$)`).FindString(role); m != "" {
		return strings.TrimSpace(m)
	}
	return role
}
