package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent/internal/strict"
)

// Validator checks answers against one schema. It is safe for concurrent use.
type Validator struct {
	schema *schema
	// names has the properties that the schema knows, by their folded form.
	names map[string][]string
}

// Validate checks an answer as Repair returns it. The error is for the author of the
// answer, a model or a person: at most five problems with their places, in one line of
// at most a thousand characters that quotes nearly nothing of the answer.
func (v *Validator) Validate(answer []byte) error {
	value, err := decode(answer)
	if err != nil {
		return fmt.Errorf("read JSON: %w", err)
	}
	if err := v.exactCase(value); err != nil {
		return err
	}
	var p problems
	v.schema.check(value, nil, &p)
	return p.err()
}

// decode reads one JSON value and keeps numbers as they are written.
func decode(data []byte) (any, error) {
	var value any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err := d.Decode(&value)
	return value, err
}

// learn collects the names of all properties in the schema.
func (v *Validator) learn(s *schema) {
	for name := range s.Properties {
		v.names[strict.Fold(name)] = append(v.names[strict.Fold(name)], name)
	}
	for _, sub := range s.parts() {
		v.learn(sub)
	}
}

// exactCase refuses a key that differs from a known property only in case: the schema
// ignores it as unknown, but encoding/json reads it as the property.
func (v *Validator) exactCase(value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if known := v.names[strict.Fold(key)]; len(known) > 0 && !slices.Contains(known, key) {
				return fmt.Errorf("the key %s must be written %q", shown(key), known[0])
			}
			if err := v.exactCase(value[key]); err != nil {
				return err
			}
		}
	case []any:
		for _, element := range value {
			if err := v.exactCase(element); err != nil {
				return err
			}
		}
	}
	return nil
}

// problems are the problems of an answer in the order of their places: the first few
// as text, and their number.
type problems struct {
	first []string
	count int
}

func (p *problems) add(at []string, format string, args ...any) {
	const most, mostRunes = 5, 190
	if p.count++; p.count <= most {
		p.first = append(p.first, shorten(location(at)+": "+fmt.Sprintf(format, args...), mostRunes))
	}
}

func (p *problems) err() error {
	if p.count == 0 {
		return nil
	}
	if more := p.count - len(p.first); more > 0 {
		p.first = append(p.first, fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(p.first, "; "))
}

func compareSteps(a, b string) int {
	i, errA := strconv.Atoi(a)
	j, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(i, j)
	}
	return cmp.Compare(a, b)
}

// location formats a place like findings[2].severity.
func location(steps []string) string {
	if len(steps) == 0 {
		return "the answer"
	}
	var b strings.Builder
	for _, step := range steps {
		if _, err := strconv.Atoi(step); err == nil {
			b.WriteString("[" + step + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		if quoted := shown(step); quoted != `"`+step+`"` {
			step = quoted
		}
		b.WriteString(step)
	}
	return b.String()
}

// compiledSchemas caches compiled schemas: the tasks of a review use only a few.
var compiledSchemas struct {
	sync.Mutex
	m map[string]*Validator
}

func validator(schema json.RawMessage) (*Validator, error) {
	const most = 64 // the roles are about ten; a test or an evaluation may have more
	compiledSchemas.Lock()
	defer compiledSchemas.Unlock()
	if v := compiledSchemas.m[string(schema)]; v != nil {
		return v, nil
	}
	v, err := Compile(schema)
	if err != nil {
		return nil, err
	}
	if len(compiledSchemas.m) >= most || compiledSchemas.m == nil {
		compiledSchemas.m = map[string]*Validator{}
	}
	compiledSchemas.m[string(schema)] = v
	return v, nil
}
