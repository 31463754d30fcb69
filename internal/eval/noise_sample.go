package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
)

// NoiseSchema names the version of a sample of findings.
const NoiseSchema = "precedent.noise/1"

// Population is what a sample was drawn from: the first line of its file.
type Population struct {
	Schema  string `json:"schema"`
	Seed    uint64 `json:"seed"`
	Ranges  int    `json:"ranges"`
	Added   int    `json:"added_lines"`
	Shown   int    `json:"shown"`
	Serious int    `json:"shown_serious"` // high or critical
}

func (n *Noise) population() Population {
	return Population{NoiseSchema, n.Seed, n.Ranges, n.Added, n.Shown, n.Serious}
}

// NoiseFinding is a shown finding with what a judge needs: one line of a sample.
type NoiseFinding struct {
	Repo       string             `json:"repo"`
	Base       string             `json:"base"`
	Commit     string             `json:"commit"`
	Path       string             `json:"path"`
	Side       precedent.Side     `json:"side"`
	Line       int                `json:"line"` // 0 for the whole file
	Analyzer   string             `json:"analyzer"`
	Rule       string             `json:"rule"`
	Category   precedent.Category `json:"category"`
	Severity   precedent.Severity `json:"severity"`
	Confidence int                `json:"confidence"`
	Title      string             `json:"title"`
	Body       string             `json:"body"`
	Code       []string           `json:"code"` // the lines around, numbered, the flagged ones marked
	// Right says whether a team would want the finding, with this severity; nil until
	// somebody judged it. Why is the judge's reason.
	Right *bool  `json:"right"`
	Why   string `json:"why,omitempty"`
}

// The lines of code before and after a finding in a sample, and the length of one.
const (
	linesAround  = 6
	maxCodeWidth = 400
)

func newNoiseFinding(f *precedent.Finding, r noiseRange, read func(precedent.Side, string) ([]byte, error)) NoiseFinding {
	out := NoiseFinding{
		Base: r.base, Commit: r.head, Path: f.Path, Side: f.Side, Line: f.Start, Analyzer: f.Finder,
		Rule: f.Rule, Category: f.Category, Severity: f.Severity, Confidence: f.Confidence, Title: f.Title,
		Body: f.Body, Code: []string{},
	}
	data, err := read(f.Side, f.Path)
	if err != nil {
		return out // the judge has the commit and the path
	}
	first, last := max(f.Start-linesAround, 1), max(f.End, f.Start)+linesAround
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if number < first {
			continue
		}
		if number > last || len(out.Code) >= 4*linesAround {
			break
		}
		mark := " "
		if number >= f.Start && number <= f.End {
			mark = ">"
		}
		line = bytes.TrimRight(line, "\r\n")
		code := strings.ToValidUTF8(string(line[:min(len(line), maxCodeWidth)]), "\uFFFD")
		out.Code = append(out.Code, fmt.Sprintf("%s%d %s", mark, number, code))
	}
	return out
}

// drawSample draws n findings, each with an equal chance, and keeps their order.
func drawSample(shown []NoiseFinding, n int, seed uint64) []NoiseFinding {
	drawn := seeded(seed, "sample").Perm(len(shown))[:min(n, len(shown))]
	slices.Sort(drawn)
	sample := make([]NoiseFinding, 0, len(drawn))
	for _, i := range drawn {
		sample = append(sample, shown[i])
	}
	return sample
}

// writeSample writes a sample for a judge. It never replaces a file, which may hold somebody's judgement.
// Only the user can read it, because the code in it may have credentials.
func writeSample(path string, p Population, sample []NoiseFinding) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fault(fmt.Errorf("write sample: %w", err), "name another file: it may be judged already")
	}
	if err != nil {
		return fmt.Errorf("write sample: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return fmt.Errorf("write sample: %w", err)
	}
	for i := range sample {
		if err := e.Encode(&sample[i]); err != nil {
			return fmt.Errorf("write sample: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write sample: %w", err)
	}
	return nil
}
