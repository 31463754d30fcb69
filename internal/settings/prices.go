package settings

import (
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent/internal/llm"
)

// pricesKey is the key of the prices of models: a mapping from the beginning of a
// model's name to its price. It has no flag, because it is a table.
const pricesKey = "prices"

var priceKeys = []string{"input", "cached", "cache_write", "output"}

// pricesHint is the hint for an invalid price.
const pricesHint = "write prices: {MODEL: {input: 3, cached: 0.3, cache_write: 3.75, output: 15}}, in dollars per " +
	"million tokens; " +
	"cached and cache_write are optional"

// prices reads the prices of models into the file.
func (p parsing) prices(n *yaml.Node, file *configFile) error {
	if n.Kind != yaml.MappingNode {
		return hinted(fmt.Errorf("%s: %s wants a price for each model", p.at(n), pricesKey), pricesHint)
	}
	file.prices = llm.Prices{}
	return p.eachKey(n, " in "+pricesKey, nil, func(key, val *yaml.Node) error {
		if key.Kind != yaml.ScalarNode || strings.TrimSpace(key.Value) == "" || key.Tag == "!!merge" {
			return hinted(fmt.Errorf("%s: %s wants the beginning of a model's name", p.at(key), pricesKey), pricesHint)
		}
		price, err := p.price(key.Value, val)
		if err != nil {
			return err
		}
		file.prices[key.Value] = price
		file.priceLines = append(file.priceLines, Line{pricesKey + "." + key.Value, priceText(price), p.source(key)})
		return nil
	})
}

// price reads the price of one model.
func (p parsing) price(model string, n *yaml.Node) (llm.Price, error) {
	where := fmt.Sprintf(" in %s of %s", pricesKey, model)
	if n.Kind != yaml.MappingNode {
		return llm.Price{}, hinted(fmt.Errorf("%s: %s wants input and output", p.at(n), model), pricesHint)
	}
	given := map[string]float64{}
	err := p.eachKey(n, where, priceKeys, func(key, val *yaml.Node) error {
		var dollars float64
		if number := val.Tag == "!!int" || val.Tag == "!!float"; !number || val.Decode(&dollars) != nil {
			return hinted(fmt.Errorf("%s: %s%s is not a number", p.at(val), key.Value, where), pricesHint)
		}
		given[key.Value] = dollars
		return nil
	})
	if err != nil {
		return llm.Price{}, err
	}
	price, err := llm.NewPrice(given)
	if err != nil {
		return price, hinted(fmt.Errorf("%s: %s of %s: %w", p.at(n), pricesKey, model, err), pricesHint)
	}
	return price, nil
}

func priceText(p llm.Price) string {
	f := func(dollars float64) string { return "$" + strconv.FormatFloat(dollars, 'f', -1, 64) }
	return fmt.Sprintf("input %s, cached %s, cache_write %s, output %s per million tokens", f(p.Input), f(p.Cached),
		f(p.CacheWrite), f(p.Output))
}
