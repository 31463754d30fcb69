package memory

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestDismissRule: by each name of a rule, for what a glob matches. The story of dismiss --rule has what is refused and
// undone by id.
func TestDismissRule(t *testing.T) {
	m, now := remember(t)
	ctx := t.Context()
	make := func(path, rule string, c precedent.Category, s precedent.Severity) precedent.Finding {
		f := find(path, "line of "+path+rule+string(s), c, s, "Errors of "+rule+" unhandled")
		f.Finder, f.Rule, f.Analyzer = "linters", rule, true
		return f
	}
	fs := []precedent.Finding{
		make("tools/a.go", "gosec/G104", precedent.Bugs, precedent.Medium),
		make("tools/deep/b.go", "gosec/G104", precedent.Bugs, precedent.Low),
		make("lib/c.go", "gosec/G104", precedent.Bugs, precedent.Medium),
		make("tools/d.go", "gosec/G104", precedent.Bugs, precedent.High),
		make("tools/e.go", "gosec/G104", precedent.Security, precedent.Low),
		make("tools/f.go", "gosec/G105", precedent.Bugs, precedent.Low),
	}
	model := make("tools/g.go", "gosec/G104", precedent.Bugs, precedent.Low)
	model.Analyzer = false
	fs = append(fs, model)
	record(t, m, "r1", "head", fs...)
	dropped := func() (paths []string) {
		dismissals := needs.Value(m.Dismissals(ctx))(t)
		for _, f := range Suppress(fs, dismissals, *now, 75, nil) {
			if f.Dropped == precedent.Rejected {
				paths = append(paths, f.Path)
			}
		}
		return paths
	}
	for _, test := range []struct {
		rule, glob string
		want       []string
	}{
		{"G104", "", []string{"tools/a.go", "tools/deep/b.go", "lib/c.go"}},
		{"gosec:G104", "tools", []string{"tools/a.go", "tools/deep/b.go"}},
		{"gosec/G104", "./tools/*.go", []string{"tools/a.go"}},
		{"linters/gosec/G104", "c.go", []string{"lib/c.go"}},
	} {
		needs.Value(m.DismissRule(ctx, test.rule, Dismissal{Glob: test.glob, Who: "dana"}))(t)
		needs.Equal(t, test.want, dropped())
		needs.Len(t, "undone", 1)(m.UndismissRule(ctx, test.rule, test.glob))
	}
}

// TestDismissWithin: the glob of a dismissal replaces the scope that the reason asks for.
func TestDismissWithin(t *testing.T) {
	m, now := remember(t)
	title := "Error of the deferred Close call is ignored"
	at := func(path string) precedent.Finding {
		return in(find(path, "defer f.Close() // "+path, precedent.Bugs, precedent.Medium, title), "Load")
	}
	first, page := at("io/a.go"), at("pages/[id].tsx")
	fs := []precedent.Finding{first, at("io/b.go"), at("net/c.go"), page}
	record(t, m, "r1", "head", fs...)
	if _, err := m.Dismiss(t.Context(), page.ID, Dismissal{Glob: page.Path}); err != nil {
		t.Errorf("its own file, with brackets in its name: %v", err)
	}
	j := needs.Value(m.Dismiss(t.Context(), first.ID, Dismissal{Glob: "io/", Reason: "never in this repo"}))(t)
	out := Suppress(fs, []precedent.Dismissal{j}, *now, 75, nil)
	if out[0].Dropped != precedent.Dismissed || out[1].Dropped != precedent.Rejected || !out[2].Live() {
		t.Errorf("%s %s %s", out[0].Dropped, out[1].Dropped, out[2].Dropped)
	}
	if said := strings.Join(Effect(j), " "); !strings.Contains(said, "similar findings in io/.") || !strings.Contains(said, "until 2026-08-29") {
		t.Error(said)
	}
}
