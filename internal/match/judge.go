package match

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Answer is a judge's answer about one pair.
type Answer struct {
	Pair  string `json:"pair"` // PairID
	Same  bool   `json:"same"`
	Quote string `json:"quote"` // the words that prove it
}

// PairID names the pair with an index in a request to a judge.
func PairID(i int) string { return fmt.Sprintf("p%d", i+1) }

// ReadAnswers returns a judge's answers about n pairs, by index. Pairs without an
// answer are missing.
func ReadAnswers(raw json.RawMessage, n int) (map[int]Answer, error) {
	var all struct {
		Pairs []Answer `json:"pairs"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	said := map[int]Answer{}
	for i := range n {
		if at := slices.IndexFunc(all.Pairs, func(a Answer) bool { return a.Pair == PairID(i) }); at >= 0 {
			said[i] = all.Pairs[at]
		}
	}
	return said, nil
}

// SameRemark tells whether the answer says that two remarks are the same, and is
// valid: it needs no quote, but a quote must be in one of the remarks.
func (a Answer) SameRemark(x, y *precedent.Finding) bool {
	return a.Same && a.quotes(x.Title, x.Body, x.Quote, y.Title, y.Body, y.Quote)
}

// Covered tells whether the answer says that a dismissal covers a finding, and proves
// it with a quote of the claim or of the person's reason.
func (a Answer) Covered(claim, reason string) bool {
	return a.Same && a.Quote != "" && a.quotes(claim, reason)
}

// quotes tells whether the quote is in one of the texts, ignoring white space and
// surrounding punctuation.
func (a Answer) quotes(texts ...string) bool {
	quote := strings.Trim(text.Squeeze(a.Quote), "\"'`.…")
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(text.Squeeze(t), quote) })
}
