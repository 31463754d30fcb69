package llm

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Cached     float64 `json:"cached"`      // read from the cache
	CacheWrite float64 `json:"cache_write"` // written to it
	Output     float64 `json:"output"`
}

// maxPrice is the highest plausible price, in dollars per million tokens: sixteen times
// the highest ever listed.
const maxPrice = 10_000

// NewPrice returns the price that an operator gives by the names of its parts: input and output are required; cached and
// cache_write default to the input's. An implausible one is an error: not finite, negative, or above 10,000 dollars per
// million tokens.
func NewPrice(given map[string]float64) (Price, error) {
	input, hasInput := given["input"]
	output, hasOutput := given["output"]
	if !hasInput || !hasOutput {
		return Price{}, errors.New("input and output are required, in dollars per million tokens")
	}
	p := Price{Input: input, Cached: input, CacheWrite: input, Output: output}
	for part, dollars := range given {
		if !(dollars >= 0 && dollars <= maxPrice) { // also refuses NaN
			return p, fmt.Errorf("%s: %v is not a price from 0 to %d dollars per million tokens", part, dollars, maxPrice)
		}
		switch part {
		case "cached":
			p.Cached = dollars
		case "cache_write":
			p.CacheWrite = dollars
		}
	}
	return p, nil
}

// Prices are the prices of models by prefix of their names; the longest matching prefix
// counts. A prefix that ends within a version does not match: gpt-5 is not a prefix of
// gpt-5.4, nor claude-opus-4 of claude-opus-4-5.
type Prices map[string]Price

// With returns the prices overridden by others. A prefix in over also replaces the
// longer ones that it matches.
func (p Prices) With(over Prices) Prices {
	out := maps.Clone(over)
	if out == nil {
		out = Prices{}
	}
	for prefix, price := range p {
		replaced := false
		for begin := range over {
			replaced = replaced || begins(prefix, begin)
		}
		if !replaced {
			out[prefix] = price
		}
	}
	return out
}

//go:embed prices.json
var pricesFile []byte

// ListPrices returns the list prices of providers as of the day in prices.json. They
// change, so configuration overrides them.
func ListPrices() Prices {
	var file struct {
		Models Prices `json:"models"`
	}
	if err := json.Unmarshal(pricesFile, &file); err != nil {
		panic(fmt.Sprintf("prices.json is embedded and must parse: %v", err))
	}
	return file.Models
}

// Find returns the price of a model, and whether it is known.
func (p Prices) Find(model string) (Price, bool) {
	// Routers prepend the vendor, and some write versions with dots: anthropic/claude-sonnet-4.5.
	bare := model[strings.LastIndexByte(model, '/')+1:]
	hyphens := strings.ReplaceAll(bare, ".", "-")
	best, found := "", false
	for prefix := range p {
		fits := begins(model, prefix) || begins(bare, prefix) || begins(hyphens, prefix)
		if fits && (!found || len(prefix) > len(best)) {
			best, found = prefix, true
		}
	}
	return p[best], found
}

// goesOn matches what continues a version at the end of a prefix: a digit, a further
// part, or a part after a hyphen that is not a date.
var goesOn = text.Pattern(`^(?:\d|\.\d|-\d{1,2}(?:$|[^0-9A-Za-z]))`)

func begins(model, prefix string) bool {
	rest, ok := strings.CutPrefix(model, prefix)
	if !ok || prefix == "" {
		return ok
	}
	last := prefix[len(prefix)-1]
	return last < '0' || last > '9' || !goesOn().MatchString(rest)
}

// Cost returns what the usage costs in US dollars.
func (p Price) Cost(u precedent.Usage) float64 {
	plain := max(0, u.InputTokens-u.CachedTokens-u.CacheWriteTokens)
	return (float64(plain)*p.Input + float64(u.CachedTokens)*p.Cached +
		float64(u.CacheWriteTokens)*p.CacheWrite + float64(u.OutputTokens)*p.Output) / 1e6
}
