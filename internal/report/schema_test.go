package report_test

import (
	"encoding"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/report"
)

// resultSchema is the contract that docs promise.
const resultSchema = "../../docs/result.schema.json"

// TestResultsFitTheSchema validates what JSON prints.
func TestResultsFitTheSchema(t *testing.T) {
	schema := needs.Value(jsonschema.NewCompiler().Compile(resultSchema))(t)
	for name, r := range samples() {
		if name == "empty" {
			r.Verdict, r.Scope = precedent.Clean, precedent.FullScope
			r.Findings = make([]precedent.Finding, 1) // its lists are printed as lists, never as null
			r.Memory.Hotspots = make([]precedent.Hotspot, 1)
			r.Findings[0].Category, r.Findings[0].Severity = precedent.Bugs, precedent.Low
		}
		if name == "full" {
			n := 7
			r.PullRequest, r.Gate = &n, &precedent.GateResult{Status: "ok"}
		}
		t.Run(name, func(t *testing.T) { validate(t, schema, printed(t, "json", r, report.Style{})) })
	}
	wrong := strings.Replace(string(printed(t, "json", broken(), report.Style{})), `"verdict": "failed"`, `"verdict": "fine"`, 1)
	if schema.Validate(needs.Value(jsonschema.UnmarshalJSON(strings.NewReader(wrong)))(t)) == nil {
		t.Error("the schema takes a verdict that is none")
	}
}

// node is a part of the schema.
type node struct {
	Description string
	Ref         string `json:"$ref"`
	Required    []string
	Properties  map[string]*node
	Items       *node
	AnyOf       []*node
	Enum        []any
	Defs        map[string]*node `json:"$defs"`
}

// TestSchemaHasEveryField: the schema has each field of a review with a description, demands those that are never left
// out, and has no other. Its words are those of the code.
func TestSchemaHasEveryField(t *testing.T) {
	var root node
	data := needs.Value(os.ReadFile(resultSchema))(t)
	needs.NoError(t, json.Unmarshal(data, &root))
	root.describes(t, "review", &root, reflect.TypeFor[precedent.Review]())
	for name := range root.Defs {
		if !strings.Contains(string(data), `"#/$defs/`+name+`"`) {
			t.Errorf("nothing refers to $defs/%s", name)
		}
	}
	finding := root.Defs["finding"]
	needs.Equal(t, words(precedent.Categories), finding.Properties["category"].Enum)
	needs.Equal(t, words(precedent.Severities), finding.Properties["severity"].Enum)
	needs.Equal(t, words([]precedent.Side{precedent.Right, precedent.Left, ""}), finding.Properties["side"].Enum)
	needs.Equal(t, words([]precedent.Verdict{
		precedent.Clean, precedent.Findings, precedent.NoFindings, precedent.Partial, precedent.Failed, precedent.Skipped,
	}), root.Properties["verdict"].Enum)
	needs.Equal(t, words([]precedent.Scope{precedent.FullScope, precedent.AnalyzersScope}), root.Properties["scope"].Enum)
}

func words[T ~string](list []T) []any {
	return needs.Each(list, func(v T) any { return string(v) })
}

// describes compares a part of the schema with the type of what is there.
func (n *node) describes(t *testing.T, at string, root *node, typ reflect.Type) {
	t.Helper()
	if len(n.AnyOf) > 0 { // the other one is null
		n = n.AnyOf[0]
	}
	if n.Ref != "" {
		n = root.Defs[strings.TrimPrefix(n.Ref, "#/$defs/")]
	}
	switch typ.Kind() {
	case reflect.Pointer:
		n.describes(t, at, root, typ.Elem())
		return
	case reflect.Slice:
		n.Items.describes(t, at+"[]", root, typ.Elem())
		return
	case reflect.Struct:
	default:
		return
	}
	if typ.Implements(reflect.TypeFor[json.Marshaler]()) || typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return
	}
	known := map[string]bool{}
	for _, field := range reflect.VisibleFields(typ) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || field.Anonymous || name == "precedent" && strings.Contains(at, ".learnings_") {
			continue // learnings cite no comment
		}
		known[name] = true
		p := n.Properties[name]
		if p == nil || p.Description == "" || slices.Contains(n.Required, name) == strings.Contains(options, "omit") {
			t.Errorf("%s.%s is missing, not described, or wrongly required: %+v", at, name, p)
			continue
		}
		p.describes(t, at+"."+name, root, field.Type)
	}
	for name := range n.Properties {
		if !known[name] {
			t.Errorf("%s has no field %s", at, name)
		}
	}
}
