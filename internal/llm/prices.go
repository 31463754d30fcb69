package llm

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
)

// Price is what a model costs, in US dollars a million tokens.
type Price struct {
	Input      float64 `json:"input" yaml:"input"`
	Cached     float64 `json:"cached" yaml:"cached"`           // read from the cache
	CacheWrite float64 `json:"cache_write" yaml:"cache_write"` // written to it
	Output     float64 `json:"output" yaml:"output"`
}

// Prices are the prices of models by the beginning of their names; the longest
// beginning that fits counts.
type Prices map[string]Price

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
	// Routers put the vendor before the model: anthropic/claude-…
	bare := model[strings.LastIndexByte(model, '/')+1:]
	best, found := "", false
	for prefix := range p {
		if (strings.HasPrefix(model, prefix) || strings.HasPrefix(bare, prefix)) && (!found || len(prefix) > len(best)) {
			best, found = prefix, true
		}
	}
	return p[best], found
}

// Cost is what the usage costs in US dollars.
func (p Price) Cost(u precedent.Usage) float64 {
	plain := max(0, u.InputTokens-u.CachedTokens-u.CacheWriteTokens)
	return (float64(plain)*p.Input + float64(u.CachedTokens)*p.Cached +
		float64(u.CacheWriteTokens)*p.CacheWrite + float64(u.OutputTokens)*p.Output) / 1e6
}

func sortedKeys(keys []string) []string {
	slices.Sort(keys)
	return keys
}
