package llm

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
)

// Price is what a model costs, in US dollars a million tokens.
type Price struct {
	Input      float64 `json:"input" yaml:"input"`
	Cached     float64 `json:"cached" yaml:"cached"`           // read from the cache
	CacheWrite float64 `json:"cache_write" yaml:"cache_write"` // written to it
	Output     float64 `json:"output" yaml:"output"`
}

// maxPrice bounds what can be meant, in dollars a million tokens: sixteen times
// the dearest that was ever listed.
const maxPrice = 10_000

// Check returns an error for a price that cannot be meant: not finite, negative,
// or beyond 10,000 dollars a million tokens.
func (p Price) Check() error {
	for _, part := range []struct {
		name    string
		dollars float64
	}{{"input", p.Input}, {"cached", p.Cached}, {"cache_write", p.CacheWrite}, {"output", p.Output}} {
		if !(part.dollars >= 0 && part.dollars <= maxPrice) { // which NaN is not either
			return fmt.Errorf("%s: %v is not a price from 0 to %d dollars a million tokens", part.name, part.dollars, maxPrice)
		}
	}
	return nil
}

// GivenPrice is a price as an operator writes it: input and output are needed;
// cached and cache_write are those of the input if they are left out.
type GivenPrice struct {
	Input      *float64 `json:"input" yaml:"input"`
	Cached     *float64 `json:"cached" yaml:"cached"`
	CacheWrite *float64 `json:"cache_write" yaml:"cache_write"`
	Output     *float64 `json:"output" yaml:"output"`
}

// Price fills in what was left out, and checks the whole.
func (g GivenPrice) Price() (Price, error) {
	if g.Input == nil || g.Output == nil {
		return Price{}, errors.New("input and output are needed, in dollars a million tokens")
	}
	p := Price{Input: *g.Input, Cached: *g.Input, CacheWrite: *g.Input, Output: *g.Output}
	if g.Cached != nil {
		p.Cached = *g.Cached
	}
	if g.CacheWrite != nil {
		p.CacheWrite = *g.CacheWrite
	}
	return p, p.Check()
}

// Prices are the prices of models by the beginning of their names; the longest
// beginning that fits counts. One that ends within a number does not fit: gpt-5
// is not the beginning of gpt-5.4, nor claude-opus-4 that of claude-opus-4-5.
type Prices map[string]Price

// With returns the prices with others over them. A beginning in over also
// replaces the longer ones that it fits.
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

// ListPrices returns the prices that providers list, as of the day that
// prices.json names. They move: configuration overrides them.
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
	// Routers put the vendor before the model, and some write versions with dots:
	// anthropic/claude-sonnet-4.5.
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

// goesOn matches what makes a number at the end of a beginning another one: a
// digit, a further part, or a part of a version after a hyphen, which a date is not.
var goesOn = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\d|\.\d|-\d{1,2}(?:$|[^0-9A-Za-z]))`) })

func begins(model, prefix string) bool {
	rest, ok := strings.CutPrefix(model, prefix)
	if !ok || prefix == "" {
		return ok
	}
	last := prefix[len(prefix)-1]
	return last < '0' || last > '9' || !goesOn().MatchString(rest)
}

// Cost is what the usage costs in US dollars.
func (p Price) Cost(u precedent.Usage) float64 {
	plain := max(0, u.InputTokens-u.CachedTokens-u.CacheWriteTokens)
	return (float64(plain)*p.Input + float64(u.CachedTokens)*p.Cached +
		float64(u.CacheWriteTokens)*p.CacheWrite + float64(u.OutputTokens)*p.Output) / 1e6
}
