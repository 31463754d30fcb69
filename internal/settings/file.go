package settings

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/llm"
	words "github.com/precedent-dev/precedent/internal/text"
)

// maxConfig is the largest configuration file, in bytes.
const maxConfig = 64 << 10

// configFile is what the operator's configuration file says.
type configFile struct {
	scalars     map[string]scalar
	prices      llm.Prices
	priceLines  []Line // the prices in their order, each with its line
	linters     []lint.Linter
	linterLines []Line // the linters in their order, each with its line
}

// scalar is a single value of the file.
type scalar struct {
	text string
	from Source
}

// tables lists what the file holds beside single values.
func (f *configFile) tables() []Line {
	prices, linters := f.priceLines, f.linterLines
	if len(prices) == 0 {
		prices = []Line{{pricesKey, "", "default: list prices of the providers"}}
	}
	if len(linters) == 0 {
		linters = []Line{{lintersKey, "", "default: the linters of the policy"}}
	}
	return slices.Concat(prices, linters)
}

// readFile reads the configuration file; nil if it does not exist. An unknown key or
// form is an error with line and column, so that no setting is silently ignored.
func readFile(path string) (*configFile, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, hinted(fmt.Errorf("read configuration: %w", err), "make the file readable, or remove it")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if len(data) > maxConfig {
		return nil, fmt.Errorf("read configuration: %s is larger than %d KiB", path, maxConfig>>10)
	}
	return parseFile(path, data)
}

func parseFile(path string, data []byte) (*configFile, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, hinted(fmt.Errorf("%s: %w", path, err), "the file is YAML, one “key: value” per line")
	}
	file := &configFile{scalars: map[string]scalar{}}
	if len(doc.Content) == 0 {
		return file, nil
	}
	top, in := doc.Content[0], parsing{path}
	if top.Kind != yaml.MappingNode {
		return nil, hinted(fmt.Errorf("%s: want “key: value” lines", in.at(top)), "known keys: %s",
			strings.Join(FileKeys(), ", "))
	}
	err := in.eachKey(top, "", FileKeys(), func(key, val *yaml.Node) error {
		if key.Value == pricesKey {
			return in.prices(val, file)
		}
		if key.Value == lintersKey {
			return in.linters(val, file)
		}
		if parts := partsOf(key.Value); len(parts) > 0 {
			return in.group(key.Value, parts, val, file)
		}
		return in.scalar(key.Value, key, val, file)
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// listKeys are the settings that the file may also have as a list.
var listKeys = []string{"repositories", "owners", "reviews"}

// scalar reads a single value, or a list of them.
func (p parsing) scalar(name string, key, val *yaml.Node, file *configFile) error {
	if val.Kind == yaml.SequenceNode && slices.Contains(listKeys, name) {
		var all []string
		for _, n := range val.Content {
			if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || strings.Contains(n.Value, ",") {
				return hinted(fmt.Errorf("%s: %s wants a list of names", p.at(n), name), "write %s: [NAME, NAME]", key.Value)
			}
			all = append(all, n.Value)
		}
		file.scalars[name] = scalar{strings.Join(all, ","), Source{File, p.source(key)}}
		return nil
	}
	if val.Kind != yaml.ScalarNode || val.Tag == "!!null" {
		return hinted(fmt.Errorf("%s: %s wants a single value", p.at(val), name), "write %s: VALUE", key.Value)
	}
	file.scalars[name] = scalar{val.Value, Source{File, p.source(key)}}
	return nil
}

// group reads the settings GROUP.PART, which the file has as a mapping.
func (p parsing) group(name string, parts []string, val *yaml.Node, file *configFile) error {
	if val.Kind != yaml.MappingNode {
		return hinted(fmt.Errorf("%s: %s wants %s", p.at(val), name, strings.Join(parts, ", ")), "write %s: {%s: VALUE}",
			name, strings.Join(parts, ": VALUE, "))
	}
	return p.eachKey(val, " in "+name, parts, func(key, val *yaml.Node) error {
		return p.scalar(name+"."+key.Value, key, val, file)
	})
}

// partsOf returns the parts of a group of settings; none for a single setting.
func partsOf(group string) []string {
	var parts []string
	for _, d := range All {
		if before, part, ok := strings.Cut(d.Key, "."); ok && before == group && d.InFile {
			parts = append(parts, part)
		}
	}
	return parts
}

// FileKeys lists the keys of the operator's file.
func FileKeys() []string {
	var keys []string
	for _, d := range All {
		if key, _, _ := strings.Cut(d.Key, "."); d.InFile && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return append(keys, pricesKey, lintersKey)
}

// parsing reports positions in a configuration file.
type parsing struct{ path string }

func (p parsing) at(n *yaml.Node) string     { return fmt.Sprintf("%s:%d:%d", p.path, n.Line, n.Column) }
func (p parsing) source(n *yaml.Node) string { return fmt.Sprintf("file %s:%d", p.path, n.Line) }

// eachKey visits the entries of a mapping, whose keys are among the known ones, or any if known is nil, and
// stand there once. Where names the mapping in messages: " in …", or nothing for the whole file.
func (p parsing) eachKey(mapping *yaml.Node, where string, known []string,
	visit func(key, val *yaml.Node) error,
) error {
	seen := map[string]bool{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, val := mapping.Content[i], mapping.Content[i+1]
		switch {
		case known != nil && !slices.Contains(known, key.Value):
			err := fmt.Errorf("%s: unknown key %q%s", p.at(key), key.Value, where)
			if near := words.Closest(key.Value, known); near != "" {
				return hinted(err, "did you mean %s?", near)
			}
			return hinted(err, "known keys: %s", strings.Join(known, ", "))
		case seen[key.Value]:
			return hinted(fmt.Errorf("%s: %s is set twice%s", p.at(key), key.Value, where), "keep one of them")
		}
		seen[key.Value] = true
		if err := visit(key, val); err != nil {
			return err
		}
	}
	return nil
}
