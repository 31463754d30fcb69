// Package doctor checks what a review needs, and reports what is missing. It changes
// nothing, and sends requests only to models, if Try or TryEmbeddings is called.
package doctor

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent/internal/report"
)

// schema names the version of a diagnosis as JSON.
const schema = "precedent.doctor/1"

// State is the result of a check.
type State string

// The states.
const (
	OK      State = "ok"
	Warning State = "warn"    // a review works without it, with fewer results
	Missing State = "missing" // a review does not work without it
)

// Check is one check with its result.
type Check struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Text  string `json:"text"`
	Hint  string `json:"hint"` // what to do; may be empty
}

// Diagnosis is the result of all checks.
type Diagnosis struct {
	Schema string  `json:"schema"`
	Works  bool    `json:"works"` // a review would work
	Checks []Check `json:"checks"`

	hint func(error) string
}

// New begins a diagnosis. HintOf finds the hint of an error.
func New(hintOf func(error) string) *Diagnosis {
	return &Diagnosis{Schema: schema, Works: true, hint: hintOf}
}

// Add adds the result of a check.
func (d *Diagnosis) Add(name string, s State, hint, format string, args ...any) {
	d.Checks = append(d.Checks, Check{Name: name, State: s, Text: fmt.Sprintf(format, args...), Hint: hint})
	d.Works = d.Works && s != Missing
}

// AddError adds an error, with its own hint if it has one.
func (d *Diagnosis) AddError(name string, s State, err error) {
	d.Add(name, s, d.hint(err), "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// Print writes a diagnosis for people.
func (d *Diagnosis) Print(p *report.Page) {
	inks := map[State]report.Ink{OK: report.Green, Warning: report.Yellow, Missing: report.Red}
	var rows [][]string
	for _, c := range d.Checks {
		rows = append(rows, []string{
			p.Ink(inks[c.State], string(c.State)), p.Ink(report.Bold, c.Name), p.Ink(report.Plain, c.Text),
		})
		if c.Hint != "" {
			rows = append(rows, []string{"", "", p.Ink(report.Faint, "→ "+c.Hint)})
		}
	}
	p.Table(rows)
	p.Line()
	if d.Works {
		p.Say("", "A review works here.")
	} else {
		p.Say("", "Reviews do not work here until you fix what is missing.")
	}
}
