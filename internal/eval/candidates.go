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

// CandidatesSchema names the version of a line of a candidates file.
const CandidatesSchema = "precedent.candidates/1"

// Candidates is what a review said about one case: a line of a candidates file.
type Candidates struct {
	Schema    string            `json:"schema"` // CandidatesSchema
	Case      string            `json:"case"`
	Sum       string            `json:"patch_sha256"` // of the change that was reviewed
	Engine    string            `json:"engine"`       // what reviewed it
	Verdict   precedent.Verdict `json:"verdict"`
	Threshold int               `json:"threshold"` // percent
	// Findings are all findings, the dropped ones included, in the review's order.
	Findings []Candidate           `json:"findings"`
	Finders  []precedent.FinderRun `json:"finders"`
	Coverage precedent.Coverage    `json:"coverage"`
	Failures []precedent.Failure   `json:"failures"`
	Judged   *Judgement            `json:"judged"` // nil if no judge was asked
	// Dismissed says which rejections cover which findings; nil if nobody asked.
	Dismissed *Dismissed `json:"dismissed"`
	// Spent is what making this line took; a line that only judges anew what an
	// earlier one found took no more than the judge.
	Spent Spent `json:"spent"`
}

// Spent is what engines took.
type Spent struct {
	precedent.Usage
	CostUSD float64 `json:"cost_usd"`
}

// Add adds o to s.
func (s *Spent) Add(o Spent) {
	s.Usage.Add(o.Usage)
	s.CostUSD += o.CostUSD
}

// Candidate is a finding with what memory would need to know it again.
type Candidate struct {
	precedent.Finding
	Place    string `json:"place"`
	Analyzer bool   `json:"analyzer"`
}

// finding is the finding as the review had it.
func (c *Candidate) finding() precedent.Finding {
	f := c.Finding
	f.Place, f.Analyzer = c.Place, c.Analyzer
	return f
}

// Complete tells whether the review came to its end, so that it can be scored.
// One that could not pay for a later step, which a review survives, did not.
func (c *Candidates) Complete() bool {
	return c.Verdict != precedent.Partial && c.Verdict != precedent.Failed && c.unpaid() == ""
}

// unpaid is the step that a bound of what may be spent ended, if one did.
func (c *Candidates) unpaid() string {
	for _, f := range c.Failures {
		if f.Status == precedent.StatusOverBudget {
			return f.Step + ": " + f.Error
		}
	}
	return ""
}

// OverBudget tells whether a bound of what may be spent was reached.
func (c *Candidates) OverBudget() bool {
	for _, f := range c.Finders {
		if f.Status == precedent.StatusOverBudget {
			return true
		}
	}
	return c.unpaid() != "" || c.Judged != nil && c.Judged.Status == precedent.StatusOverBudget
}

// problem says in one line what kept the review from its end.
func (c *Candidates) problem() string {
	for _, f := range c.Finders {
		if f.Status.Bad() {
			return fmt.Sprintf("%s %s: %s", f.Name, f.Status, f.Error)
		}
	}
	if n := len(c.Coverage.Truncated); n > 0 {
		return fmt.Sprintf("%d hunks were not read: %s", n, c.Coverage.Truncated[0].Reason)
	}
	return c.unpaid()
}

// File is what a candidates file holds.
type File struct {
	Lines map[string]Candidates // the newest of each case
	Spent Spent                 // of all lines
}

// ReadCandidates reads a candidates file. A last line without its end, as a
// killed run leaves it, is not there.
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

// Writer adds lines to a candidates file.
type Writer struct{ f *os.File }

// Create makes a new candidates file; one that is there already is an error that
// wraps fs.ErrExist, because what it holds was paid for.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write candidates: %w", err)
	}
	return &Writer{f}, nil
}

// Resume opens a candidates file, or a new one, to go on behind its last whole
// line, and returns what it holds.
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

// toLastLine cuts off a line without its end and goes there.
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

// Write adds a line.
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
