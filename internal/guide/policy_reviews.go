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
	for key, value := range d.mapping(n) {
		switch key.Value {
		case "on":
			named = true
			for _, row := range d.list(value) {
				s, ok := d.oneOf(row, toStrings(precedent.ReviewOccasions), "an occasion for a review")
				if o := precedent.ReviewTrigger(s); ok && !slices.Contains(t.On, o) {
					t.On = append(t.On, o)
				}
			}
		case "drafts":
			t.Drafts, _ = d.boolean(value)
		default:
			d.fail(key, "unknown key "+quote(key.Value), nearest(key.Value, []string{"drafts", "on"}))
		}
	}
	if !named {
		d.fail(n, "the occasions are missing", "list them: on: [label, push]; an empty list means none")
	}
	return t
}

// labels reads the names of the labels. They must differ, also from the default of those that
// are not named.
func (d *decoder) labels(n *yaml.Node) precedent.LabelNames {
	own := precedent.LabelNames{}
	at := map[string]*string{
		"review_needed": &own.ReviewNeeded, "changes_needed": &own.Changes, "ci_pending": &own.CIPending,
		"human_review": &own.HumanReview, "human_intervention": &own.Intervention,
	}
	for key, value := range d.mapping(n) {
		name, ok := at[key.Value]
		if !ok {
			d.fail(key, "unknown key "+quote(key.Value), nearest(key.Value, []string{"review_needed", "changes_needed", "ci_pending", "human_review", "human_intervention"}))
			continue
		}
		if s, ok := d.scalar(value, "a label"); ok {
			*name = s
			if s == "" {
				d.fail(value, "the label is empty", "write its name, or leave the key out")
			}
		}
	}
	if err := label.Names(own).WithDefaults(label.DefaultNames()).Validate(); err != nil {
		d.fail(n, err.Error(), "give each state another label")
	}
	return own
}
