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

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Validator checks answers against one compiled schema. It is safe for
// concurrent use.
type Validator struct {
	schema *jsonschema.Schema
	// names has the properties that the schema knows, by their folded form.
	names map[string][]string
}

// Compile compiles a JSON Schema (draft 2020-12 unless it names another). A
// reference that leaves the schema is an error: nothing is ever fetched.
func Compile(schema json.RawMessage) (*Validator, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	const name = "answer:///schema.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("add schema: %w", err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	v := &Validator{schema: compiled, names: map[string][]string{}}
	v.learn(doc)
	return v, nil
}

// nowhere loads no schema from anywhere.
type nowhere struct{}

func (nowhere) Load(string) (any, error) {
	return nil, errors.New("a schema may only refer to itself")
}

// learn collects the names of all properties that the schema speaks of.
func (v *Validator) learn(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		if properties, ok := doc["properties"].(map[string]any); ok {
			for name := range properties {
				v.names[fold(name)] = append(v.names[fold(name)], name)
			}
		}
		for _, sub := range doc {
			v.learn(sub)
		}
	case []any:
		for _, sub := range doc {
			v.learn(sub)
		}
	}
}

// Validate checks an answer as Repair returns it. The error is for its author,
// model or person: at most five problems, each with its place, in one line of
// at most a thousand characters, and nearly nothing of the answer in it.
func (v *Validator) Validate(answer []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer))
	if err != nil {
		return fmt.Errorf("read JSON: %w", err)
	}
	if err := v.exactCase(value); err != nil {
		return err
	}
	err = v.schema.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return summary(invalid)
	}
	return err
}

// exactCase refuses a key that is a known property but for its case: the schema
// takes it for an unknown one and lets it pass unchecked, and encoding/json
// takes it for the property.
func (v *Validator) exactCase(value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if known := v.names[fold(key)]; len(known) > 0 && !slices.Contains(known, key) {
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

// summary puts the problems in order, for the validator finds them in the
// random order of a map, and keeps the first few.
func summary(invalid *jsonschema.ValidationError) error {
	const mostProblems, mostRunes = 5, 190
	var leaves []*jsonschema.ValidationError
	var collect func(*jsonschema.ValidationError)
	collect = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			leaves = append(leaves, e)
		}
		for _, cause := range e.Causes {
			collect(cause)
		}
	}
	collect(invalid)
	slices.SortStableFunc(leaves, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, compareSteps),
			cmp.Compare(strings.Join(a.ErrorKind.KeywordPath(), "/"), strings.Join(b.ErrorKind.KeywordPath(), "/")))
	})
	var problems []string
	for _, leaf := range leaves[:min(len(leaves), mostProblems)] {
		problems = append(problems, shorten(location(leaf.InstanceLocation)+": "+problem(leaf), mostRunes))
	}
	if more := len(leaves) - mostProblems; more > 0 {
		problems = append(problems, fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(problems, "; "))
}

func compareSteps(a, b string) int {
	i, errA := strconv.Atoi(a)
	j, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(i, j)
	}
	return cmp.Compare(a, b)
}

// location writes a place as a programmer would: findings[2].severity.
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

// problem says what is wrong at a place. Kinds whose text would repeat the
// answer's own words have a text of ours.
func problem(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Pattern:
		return "must match the pattern " + k.Want
	case *kind.Format:
		return "must be a " + k.Want
	case *kind.PropertyNames:
		return "the key " + shown(k.Property) + " is not allowed"
	case *kind.AdditionalProperties:
		return "the key " + shown(slices.Min(k.Properties)) + " is not allowed"
	case *kind.MinLength:
		return fmt.Sprintf("has %d characters, fewer than %d", k.Got, k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("has %d characters, more than %d", k.Got, k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("has %d elements, fewer than %d", k.Got, k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %d elements, more than %d", k.Got, k.Want)
	}
	alone := jsonschema.ValidationError{SchemaURL: e.SchemaURL, ErrorKind: e.ErrorKind}
	return strings.TrimPrefix(alone.Error(), "at '': ")
}

// compiledSchemas keeps what was compiled: a review sends the same few schemas
// with all its tasks.
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
