package forgetest

import (
	"slices"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
)

// setsLabels adds and removes labels with odd names, twice, and of an organization.
func setsLabels(t *testing.T, s *Stage, f forge.Forge, p *Pull) {
	s.World.Change(func() { p.Labels = []string{"bug"} })
	is := func(doing string, want ...string) {
		t.Helper()
		now, err := f.PullRequest(t.Context(), repo(f), till)
		slices.Sort(now.Labels)
		if err != nil || !slices.Equal(now.Labels, want) {
			t.Errorf("%s: labels %q, %v; want %q", doing, now.Labels, err, want)
		}
	}
	did := func(doing string, cannot forge.Unsupported, err error) {
		t.Helper()
		if err != nil || cannot != "" {
			t.Errorf("%s: %q, %v", doing, cannot, err)
		}
	}
	for range 2 { // the second time they are there
		cannot, err := f.MakeLabels(t.Context(), repo(f), []string{"precedent:review", "bot: made"})
		did("make labels", cannot, err)
	}
	for _, label := range []string{"precedent:review", "précédent / 50%?", "precedent:review"} {
		cannot, err := f.AddLabel(t.Context(), repo(f), till, label)
		did("add "+label, cannot, err)
	}
	is("two more", "bug", "precedent:review", "précédent / 50%?")
	for _, label := range []string{"précédent / 50%?", "bug", "nobody's", "bug"} {
		cannot, err := f.RemoveLabel(t.Context(), repo(f), till, label)
		did("remove "+label, cannot, err)
	}
	is("two fewer", "precedent:review")
	shop := s.World.Repo("acme", "shop")
	s.World.Change(func() { shop.Shared = []string{"team:other", "team:ready"} })
	for _, label := range []string{"team:ready", "team:ready"} {
		cannot, err := f.AddLabel(t.Context(), repo(f), till, label)
		did("add "+label+" of the organization", cannot, err)
	}
	is("one of the organization's", "precedent:review", "team:ready")
	cannot, err := f.RemoveLabel(t.Context(), repo(f), till, "team:ready")
	did("remove the organization's", cannot, err)
	is("none of the organization's", "precedent:review")
	_, err = f.AddLabel(t.Context(), repo(f), 4711, "x")
	refused(t, err, forge.KindNotFound, forge.KindClosed)
	s.World.Change(func() { shop.Archived = true })
	if cannot, err := f.AddLabel(t.Context(), repo(f), till, "x"); cannot == "" && forge.KindOf(err) != forge.KindClosed {
		t.Errorf("in an archived repository: %q, %v", cannot, err)
	}
	is("archived", "precedent:review")
}
