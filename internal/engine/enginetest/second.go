package enginetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/precedent-dev/precedent"
)

// Ruling is what a scripted verifier says of the claims that hold some words:
// the ids of claims are not known when a script is written.
type Ruling struct {
	About      string               `json:"about"` // words of the claim; every claim if empty
	Verdict    precedent.Check      `json:"verdict"`
	Confidence *int                 `json:"confidence,omitempty"`
	Reason     string               `json:"reason"`
	Evidence   []precedent.Evidence `json:"evidence,omitempty"`
}

// Opinion is what a scripted judge says of the pairs that hold some words.
type Opinion struct {
	About []string `json:"about"` // words of the pair, all of them; every pair if empty
	Same  bool     `json:"same"`
	Quote string   `json:"quote,omitempty"`
}

// given finds what a prompt asks about: the blocks that begin with an id.
var given = regexp.MustCompile(`(?s)<data-[0-9a-f]{16} kind="(?:claim|pair)">\nid: (\S+)\n(.*?)\n</data-[0-9a-f]{16}>`)

// fill makes the answer of a reply with rulings or opinions. What none of them is
// about is left out of the answer; of several the first one counts.
func (r *Reply) fill(prompt string) error {
	if r.Verdicts == nil && r.Pairs == nil {
		return nil
	}
	verdicts, pairs := []map[string]any{}, []map[string]any{}
	for _, block := range given.FindAllStringSubmatch(prompt, -1) {
		id, text := block[1], block[2]
		if v, ok := r.ruling(text); ok {
			one := map[string]any{"finding": id, "verdict": v.Verdict, "reason": v.Reason, "evidence": v.Evidence}
			if v.Confidence != nil {
				one["confidence"] = *v.Confidence
			}
			verdicts = append(verdicts, one)
		}
		if o, ok := r.opinion(text); ok {
			pairs = append(pairs, map[string]any{"pair": id, "same": o.Same, "quote": o.Quote})
		}
	}
	answer := map[string]any{"pairs": pairs}
	if r.Verdicts != nil {
		answer = map[string]any{"verdicts": verdicts}
	}
	var err error
	if r.Answer, err = json.Marshal(answer); err != nil {
		return fmt.Errorf("make answer: %w", err)
	}
	return nil
}

func (r *Reply) ruling(claim string) (Ruling, bool) {
	for _, v := range r.Verdicts {
		if strings.Contains(claim, v.About) {
			return v, true
		}
	}
	return Ruling{}, false
}

func (r *Reply) opinion(pair string) (Opinion, bool) {
next:
	for _, o := range r.Pairs {
		for _, words := range o.About {
			if !strings.Contains(pair, words) {
				continue next
			}
		}
		return o, true
	}
	return Opinion{}, false
}
