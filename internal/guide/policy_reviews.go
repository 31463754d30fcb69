package guide

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/label"
)

// reviews reads what leads to a review on a server.
func (d *decoder) reviews(n *yaml.Node) *precedent.ReviewTriggers {
	t := &precedent.ReviewTriggers{}
	named := false
	d.read(n, fields{
		"drafts": d.onOff(&t.Drafts, false),
		"on": func(v *yaml.Node) {
			named = true
			for _, row := range d.list(v) {
				s, ok := d.oneOf(row, toStrings(precedent.ReviewOccasions), "an occasion for a review")
				if o := precedent.ReviewTrigger(s); ok && !slices.Contains(t.On, o) {
					t.On = append(t.On, o)
				}
			}
		},
	})
	if !named {
		d.fail(n, "the occasions are missing", "list them: on: [label, push]; an empty list means none")
	}
	return t
}

// labels reads the names of the labels. They must differ, also from the default of those that
// are not named.
func (d *decoder) labels(n *yaml.Node) precedent.LabelNames {
	own := precedent.LabelNames{}
	name := func(to *string) func(*yaml.Node) {
		return func(v *yaml.Node) { *to, _ = d.scalar(v, "a label") }
	}
	d.read(n, fields{
		"review_needed": name(&own.ReviewNeeded), "changes_needed": name(&own.Changes), "ci_pending": name(&own.CIPending),
		"human_review": name(&own.HumanReview), "human_intervention": name(&own.Intervention),
	})
	if err := label.Names(own).WithDefaults(label.DefaultNames()).Validate(); err != nil {
		d.fail(n, err.Error(), "give each state another label")
	}
	return own
}
