package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/precedent-dev/precedent"
)

// CandidatesSchema is the version of a line in a candidates file.
const CandidatesSchema = "precedent.candidates/1"

// Candidates is the result of a review of one case: a line of a candidates file.
type Candidates struct {
	Schema    string            `json:"schema"` // CandidatesSchema
	Case      string            `json:"case"`
	Sum       string            `json:"patch_sha256"` // of the change that was reviewed
	Engine    string            `json:"engine"`       // the reviewing engine
	Verdict   precedent.Verdict `json:"verdict"`
	Threshold int               `json:"threshold"` // percent
	// Findings are all findings, including the dropped ones, in the review's order.
	Findings []Candidate           `json:"findings"`
	Finders  []precedent.FinderRun `json:"finders"`
	Coverage precedent.Coverage    `json:"coverage"`
	Failures []precedent.Failure   `json:"failures"`
	Judged   *Judgement            `json:"judged"` // nil without a judge
	// Dismissed says which dismissals cover which findings; nil without a judge.
	Dismissed *Dismissed `json:"dismissed"`
	// Spent is the cost of making this line. For a line that only judges the findings
	// of an earlier line, it is the cost of the judge.
	Spent Spent `json:"spent"`
}

// Spent is what engines used.
type Spent struct {
	precedent.Usage
	CostUSD float64 `json:"cost_usd"`
}

// Add adds o to s.
func (s *Spent) Add(o Spent) {
	s.Usage.Add(o.Usage)
	s.CostUSD += o.CostUSD
}

// Candidate is a finding with the data that memory needs to recognize it.
type Candidate struct {
	precedent.Finding
	Place    string `json:"place"`
	Analyzer bool   `json:"analyzer"`
}

// finding returns the finding as the review returned it.
func (c *Candidate) finding() precedent.Finding {
	f := c.Finding
	f.Place, f.Analyzer = c.Place, c.Analyzer
	return f
}

// Complete reports whether the review finished, so that it can be scored. A review
// that skipped a later step for budget reasons is not complete.
func (c *Candidates) Complete() bool {
	return c.Verdict != precedent.Partial && c.Verdict != precedent.Failed && c.overBudgetStep() == ""
}

// overBudgetStep returns the step that a budget limit ended, if any.
func (c *Candidates) overBudgetStep() string {
	for _, f := range c.Failures {
		if f.Status == precedent.StatusOverBudget {
			return f.Step + ": " + f.Error
		}
	}
	return ""
}

// OverBudget reports whether a budget limit was reached.
func (c *Candidates) OverBudget() bool {
	for _, f := range c.Finders {
		if f.Status == precedent.StatusOverBudget {
			return true
		}
	}
	return c.overBudgetStep() != "" || c.Judged != nil && c.Judged.Status == precedent.StatusOverBudget
}

// problem describes in one line why the review did not finish.
func (c *Candidates) problem() string {
	for _, f := range c.Finders {
		if f.Status.Bad() {
			return fmt.Sprintf("%s %s: %s", f.Name, f.Status, f.Error)
		}
	}
	if n := len(c.Coverage.Truncated); n > 0 {
		return fmt.Sprintf("%d hunks were not read: %s", n, c.Coverage.Truncated[0].Reason)
	}
	return c.overBudgetStep()
}

// File is the content of a candidates file.
type File struct {
	Lines map[string]Candidates // the newest line of each case
	Spent Spent                 // of all lines
}

// ReadCandidates reads a candidates file. It ignores an incomplete last line, which a killed run can leave.
func ReadCandidates(path string) (File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("read candidates: %w", err)
	}
	file := File{Lines: map[string]Candidates{}}
	for number := 1; ; number++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return file, nil
		}
		data = rest
		var c Candidates
		err := json.Unmarshal(line, &c)
		if err == nil && c.Schema != CandidatesSchema {
			err = fmt.Errorf("its schema is %q, want %q", c.Schema, CandidatesSchema)
		}
		if err != nil {
			return File{}, fmt.Errorf("read candidates: %s:%d: %w", path, number, err)
		}
		file.Lines[c.Case] = c
		file.Spent.Add(c.Spent)
	}
}

// Writer appends lines to a candidates file.
type Writer struct{ f *os.File }

// Create creates a candidates file. If it exists, the error wraps fs.ErrExist,
// because its content cost money.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write candidates: %w", err)
	}
	return &Writer{f}, nil
}

// Resume opens or creates a candidates file to append after its last complete line, and returns its content.
func Resume(path string) (*Writer, File, error) {
	file, err := ReadCandidates(path)
	if errors.Is(err, fs.ErrNotExist) {
		w, err := Create(path)
		return w, File{Lines: map[string]Candidates{}}, err
	}
	if err != nil {
		return nil, File{}, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, File{}, fmt.Errorf("write candidates: %w", err)
	}
	if err := toLastLine(f); err != nil {
		return nil, File{}, errors.Join(fmt.Errorf("write candidates: %w", err), f.Close())
	}
	return &Writer{f}, file, nil
}

// toLastLine removes an incomplete last line and seeks to the end.
func toLastLine(f *os.File) error {
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	end := int64(bytes.LastIndexByte(data, '\n') + 1)
	if err := f.Truncate(end); err != nil {
		return err
	}
	_, err = f.Seek(end, io.SeekStart)
	return err
}

// Write appends a line.
func (w *Writer) Write(c Candidates) error {
	line, err := json.Marshal(c)
	if err == nil {
		_, err = w.f.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write candidates of %s: %w", c.Case, err)
	}
	return nil
}

// Close closes the file.
func (w *Writer) Close() error { return w.f.Close() }
