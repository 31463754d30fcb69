package match

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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

// ReadAnswers returns a judge's answers about n pairs, by index. Pairs without an answer are missing.
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

// SameRemark reports whether the answer says that two remarks are the same, and is valid: it needs no quote,
// but a quote must be in one of the texts of the remarks, as the judge read them.
func (a Answer) SameRemark(shown ...string) bool {
	return a.Same && (strings.TrimSpace(a.Quote) == "" || a.quotes(shown))
}

// Covered reports whether the answer says that a dismissal covers a finding, and proves
// it with a quote of the claim or of the person's reason, as the judge read them.
func (a Answer) Covered(shown ...string) bool { return a.Same && a.quotes(shown) }

// quotes reports whether the quote is in one of the texts, ignoring white space and
// surrounding punctuation, and says enough to prove something.
func (a Answer) quotes(texts []string) bool {
	quote := strings.Trim(text.Squeeze(a.Quote), "\"'`.…")
	return text.Proves(quote) && slices.ContainsFunc(texts,
		func(t string) bool { return strings.Contains(text.Squeeze(t), quote) })
}
