package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/precedent-dev/precedent"
)

// falsePer is the number of added lines to which the rate of false serious findings
// refers: what a team of five changes in a week or two.
const falsePer = 20_000

// NoiseScore is the score of a judged sample.
type NoiseScore struct {
	Population
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`
	Right    int `json:"right"`
	// Precision is the share of the judged findings that are right, with a Wilson interval.
	Precision Ratio           `json:"precision"`
	Rules     []RulePrecision `json:"rules"` // the most judged first
	// SeriousJudged counts the judged findings of high or critical severity, and
	// SeriousWrong those of them that are wrong.
	SeriousJudged int `json:"serious_judged"`
	SeriousWrong  int `json:"serious_wrong"`
	// FalseSerious is the number of wrong high or critical findings in 20,000 added
	// lines: the share of wrong ones, times all that were shown. It is nil if serious
	// findings were shown and none was judged, or if no lines were added.
	FalseSerious Ratio `json:"false_serious_per_20000_lines"`
}

// RulePrecision is the precision of one rule.
type RulePrecision struct {
	Analyzer  string `json:"analyzer"`
	Rule      string `json:"rule"`
	Judged    int    `json:"judged"`
	Right     int    `json:"right"`
	Precision Ratio  `json:"precision"`
}

// maxSampleLine is the longest line of a sample, in bytes.
const maxSampleLine = 1 << 20

// ScoreNoise scores a judged sample. A file may hold several samples one after the other.
func ScoreNoise(path string) (NoiseScore, error) {
	j, err := readJudged(path)
	return j, fault(err, "use a file that --out wrote, with \"right\" set to true or false")
}

func readJudged(path string) (NoiseScore, error) {
	f, err := os.Open(path)
	if err != nil {
		return NoiseScore{}, fmt.Errorf("read judged sample: %w", err)
	}
	defer f.Close()
	j := NoiseScore{Rules: []RulePrecision{}}
	rules := map[RulePrecision]*RulePrecision{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxSampleLine)
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var one struct {
			Population
			NoiseFinding
		}
		if err := json.Unmarshal(line, &one); err != nil {
			return NoiseScore{}, fmt.Errorf("read judged sample: %s:%d: %w", path, number, err)
		}
		switch {
		case one.Schema == NoiseSchema:
			j.Population.add(one.Population)
		case one.Schema != "" || one.Path == "":
			return NoiseScore{}, fmt.Errorf("read judged sample: %s:%d: neither a finding nor the first line of a %s", path, number, NoiseSchema)
		default:
			j.add(&one.NoiseFinding, rules)
		}
	}
	if err := lines.Err(); err != nil {
		return NoiseScore{}, fmt.Errorf("read judged sample: %w", err)
	}
	if j.Judged+j.Unjudged == 0 {
		return NoiseScore{}, fmt.Errorf("read judged sample: %s has no findings", path)
	}
	j.complete(rules)
	return j, nil
}

func (p *Population) add(o Population) {
	p.Schema, p.Seed = o.Schema, o.Seed
	p.Ranges += o.Ranges
	p.Added += o.Added
	p.Shown += o.Shown
	p.Serious += o.Serious
}

func (j *NoiseScore) add(f *NoiseFinding, rules map[RulePrecision]*RulePrecision) {
	if f.Right == nil {
		j.Unjudged++
		return
	}
	key := RulePrecision{Analyzer: f.Analyzer, Rule: f.Rule}
	r := rules[key]
	if r == nil {
		r = &RulePrecision{Analyzer: f.Analyzer, Rule: f.Rule}
		rules[key] = r
	}
	serious := f.Severity.AtLeast(precedent.High)
	j.Judged++
	r.Judged++
	if serious {
		j.SeriousJudged++
	}
	switch {
	case *f.Right:
		j.Right++
		r.Right++
	case serious:
		j.SeriousWrong++
	}
}

// complete computes the shares.
func (j *NoiseScore) complete(rules map[RulePrecision]*RulePrecision) {
	j.Precision = wilson(j.Right, j.Judged)
	for _, r := range rules {
		r.Precision = wilson(r.Right, r.Judged)
		j.Rules = append(j.Rules, *r)
	}
	slices.SortFunc(j.Rules, func(a, b RulePrecision) int {
		return cmp.Or(b.Judged-a.Judged, cmp.Compare(a.Analyzer, b.Analyzer), cmp.Compare(a.Rule, b.Rule))
	})
	if j.Added == 0 || j.Serious > 0 && j.SeriousJudged == 0 {
		return
	}
	wrong := Ratio{new(float64), nil, nil}
	if j.SeriousJudged > 0 {
		wrong = wilson(j.SeriousWrong, j.SeriousJudged)
	}
	rate := func(share *float64) *float64 {
		if share == nil {
			return nil
		}
		v := *share * float64(j.Serious) * falsePer / float64(j.Added)
		return &v
	}
	j.FalseSerious = Ratio{rate(wrong.Value), rate(wrong.Low), rate(wrong.High)}
}
