package prompt

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestFinders(t *testing.T) {
	for _, f := range Finders() {
		if n := Tokens(f.role()); n == 0 || n > 400 || !slices.Contains(precedent.Categories, f.Category) {
			t.Errorf("the role of %s has %d tokens, at most 400 are wanted, or no category", f.Name, n)
		}
	}
	if first := Finders()[0].Name; first != "general" {
		t.Errorf("%s comes first: general is to, in case a budget ends the review", first)
	}
}

// TestDocs: docs/finders.md has a row for each finder and platform, in their order.
func TestDocs(t *testing.T) {
	doc := string(needs.Value(os.ReadFile("../../docs/finders.md"))(t))
	var finders, guides strings.Builder
	for _, f := range Finders() {
		when := string(f.When)
		if f.Blind {
			when += ", without title, description and messages"
		}
		fmt.Fprintf(&finders, "| `%s` | %s | %s | %s |\n", f.Name, f.Category, when, sentence(f.role()))
	}
	for _, p := range platforms() {
		fmt.Fprintf(&guides, "| [`%s`](../internal/prompt/platforms/%s.md) | %s | `%s` |\n", p.name, p.name, p.title,
			strings.Join(p.patterns, "` `"))
	}
	for _, rows := range []string{finders.String(), guides.String()} {
		if !strings.Contains(doc, "|---|\n"+rows) || strings.Contains(doc, rows+"|") {
			t.Errorf("docs/finders.md does not have these rows:\n%s", rows)
		}
	}
}

// sentence is the first one of a role.
func sentence(role string) string {
	if m := regexp.MustCompile(`^(?s:.*?)[.?](?:\s|$)`).FindString(role); m != "" {
		return strings.TrimSpace(m)
	}
	return role
}
