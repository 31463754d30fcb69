// Package label is the cycle of the labels on a pull request: a pure table of what a label
// becomes after an event. It reads and writes nothing.
package label

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
)

// State is where a pull request is in the cycle. Each state has a label, except None.
type State string

// The states.
const (
	None          State = ""                   // no label of the cycle: nothing is due
	ReviewNeeded  State = "review-needed"      // to be reviewed
	Changes       State = "changes-needed"     // to be fixed
	CIPending     State = "ci-pending"         // a fix was pushed; its checks run
	HumanReview   State = "human-review"       // a complete review left nothing open
	Intervention  State = "human-intervention" // the program has given up
	maxNameLength       = 50                   // characters: GitHub's limit; no other forge has a lower one
)

// States are those with a label, in the order of the cycle.
var States = []State{ReviewNeeded, Changes, CIPending, HumanReview, Intervention}

// Names are the labels of the states, as people see them on the forge.
type Names precedent.LabelNames

// DefaultNames returns the names that are used if nobody sets others.
func DefaultNames() Names {
	return Names{
		ReviewNeeded: "bot-review-needed", Changes: "bot-changes-needed", CIPending: "bot-ci-pending",
		HumanReview: "human-review-needed", Intervention: "bot-human-intervention",
	}
}

// Of returns the label of a state; empty for None and for what is not a state.
func (n Names) Of(s State) string {
	if i := slices.Index(States, s); i >= 0 {
		return n.All()[i]
	}
	return ""
}

// All returns the labels of all states that have one, in the order of the cycle.
func (n Names) All() []string {
	return []string{n.ReviewNeeded, n.Changes, n.CIPending, n.HumanReview, n.Intervention}
}

// WithDefaults returns the names, with those of d for the empty ones.
func (n Names) WithDefaults(d Names) Names {
	return Names{
		ReviewNeeded: cmp.Or(n.ReviewNeeded, d.ReviewNeeded), Changes: cmp.Or(n.Changes, d.Changes),
		CIPending: cmp.Or(n.CIPending, d.CIPending), HumanReview: cmp.Or(n.HumanReview, d.HumanReview),
		Intervention: cmp.Or(n.Intervention, d.Intervention),
	}
}

// Validate returns an error unless all five names are different and can be labels: 1 to 50
// printable characters, without space at an end and without a comma, which separates labels in
// the queries of forges. Forges ignore the case of labels.
func (n Names) Validate() error {
	seen := map[string]State{}
	for _, s := range States {
		name := n.Of(s)
		if err := validName(name); err != nil {
			return fmt.Errorf("label for %s: %w", s, err)
		}
		key := fold(name)
		if other, ok := seen[key]; ok {
			return fmt.Errorf("label %q is used for %s and for %s", name, other, s)
		}
		seen[key] = s
	}
	return nil
}

func validName(name string) error {
	switch {
	case name == "":
		return errors.New("it is empty")
	case !utf8.ValidString(name):
		return errors.New("it is not valid UTF-8")
	case utf8.RuneCountInString(name) > maxNameLength:
		return fmt.Errorf("it has %d characters; at most %d are possible", utf8.RuneCountInString(name), maxNameLength)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("%q begins or ends with space", name)
	case strings.ContainsRune(name, ',') || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%q contains a comma or a character that cannot be printed", name)
	}
	return nil
}

// fold makes names equal that differ in case only.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// Found returns the states whose labels are among the labels of a pull request, in the order of
// the cycle. It ignores case.
func Found(labels []string, n Names) []State {
	var found []State
	for _, s := range States {
		if slices.ContainsFunc(labels, func(l string) bool { return fold(l) == fold(n.Of(s)) }) {
			found = append(found, s)
		}
	}
	return found
}

// Of returns the state of a pull request with these labels. A change of labels that was interrupted leaves
// two of them: then Intervention wins. Changes and CIPending together mean CIPending, whose checks decide
// again; a review would not wait for them. Any others mean ReviewNeeded, which is always safe to repeat.
func Of(labels []string, n Names) State {
	found := Found(labels, n)
	switch {
	case len(found) == 0:
		return None
	case len(found) == 1:
		return found[0]
	case slices.Contains(found, Intervention):
		return Intervention
	case len(found) == 2 && slices.Contains(found, Changes) && slices.Contains(found, CIPending):
		return CIPending
	}
	return ReviewNeeded
}

// Swap returns what makes the label of a state the only one: the label to add, empty if it is
// there, and then those to remove. Adding comes first, so that an interruption leaves at least
// one. The state None is never swapped to.
func Swap(labels []string, n Names, to State) (add string, remove []string) {
	if to == None {
		return "", nil
	}
	add = n.Of(to)
	for _, l := range labels { // as the forge writes them
		if fold(l) == fold(n.Of(to)) {
			add = ""
		} else if len(Found([]string{l}, n)) > 0 {
			remove = append(remove, l)
		}
	}
	return add, remove
}
