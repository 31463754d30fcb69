package report

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/precedent-dev/precedent"
)

// JSON writes the review as the stable contract that its schema field names,
// indented, with a line end. Lists that are empty are [], never null, so that
// a reader may iterate without asking. The review itself is not changed.
func JSON(w io.Writer, r *precedent.Review) error { return Value(w, whole(r)) }

// Value writes any other value of a command's --json the way JSON writes a
// review: indented, without HTML escapes, with a line end.
func Value(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// whole returns a copy of r without nil lists.
func whole(r *precedent.Review) *precedent.Review {
	c := *r
	if c.Schema == "" {
		c.Schema = precedent.ResultSchema
	}
	c.Findings = list(slices.Clone(c.Findings))
	for i := range c.Findings {
		f := &c.Findings[i]
		f.Evidence, f.Cites = list(f.Evidence), list(f.Cites)
	}
	c.Finders = list(c.Finders)
	c.Coverage.Skipped = list(c.Coverage.Skipped)
	c.Coverage.Truncated = list(c.Coverage.Truncated)
	c.Memory.Hotspots = list(slices.Clone(c.Memory.Hotspots))
	for i := range c.Memory.Hotspots {
		c.Memory.Hotspots[i].Categories = list(c.Memory.Hotspots[i].Categories)
	}
	c.Memory.Insights = list(c.Memory.Insights)
	c.Memory.LearningsUsed = list(c.Memory.LearningsUsed)
	c.Memory.Precedents = list(c.Memory.Precedents)
	c.Memory.Hushed = list(c.Memory.Hushed)
	c.Failures = list(c.Failures)
	return &c
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
