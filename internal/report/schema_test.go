package report_test

import (
	"encoding"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
)

// resultSchema is the contract that docs promise.
const resultSchema = "../../docs/result.schema.json"

func loadResultSchema(t *testing.T) (compiled *jsonschema.Schema, raw map[string]any) {
	t.Helper()
	data, err := os.ReadFile(resultSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if compiled, err = c.Compile(resultSchema); err != nil {
		t.Fatal(err)
	}
	return compiled, raw
}

// TestResultsFitTheSchema validates what JSON prints, golden files included.
func TestResultsFitTheSchema(t *testing.T) {
	schema, _ := loadResultSchema(t)
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `"schema": "`+precedent.ResultSchema+`"`) {
			checked++
			validate(t, schema, data)
		}
	}
	if checked == 0 {
		t.Error("no golden file is a result")
	}
	for name, r := range samples() {
		if name == "empty" {
			continue // has no verdict
		}
		if name == "full" {
			n := 7
			r.PullRequest, r.Gate = &n, &precedent.GateResult{Status: "ok"}
		}
		t.Run(name, func(t *testing.T) { validate(t, schema, printed(t, "json", r, report.Style{})) })
	}
	wrong, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(string(printed(t, "json", broken(),
		report.Style{})), `"verdict": "failed"`, `"verdict": "fine"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(wrong) == nil {
		t.Error("the schema takes a verdict that is none")
	}
}

// TestSchemaHasEveryField walks through what Review marshals to: every field stands in the schema with a description,
// a type that fits and as required unless it may be left out, and nothing else does.
func TestSchemaHasEveryField(t *testing.T) {
	_, raw := loadResultSchema(t)
	w := walker{t: t, defs: raw["$defs"].(map[string]any), used: map[string]bool{}}
	w.walk("review", reflect.TypeFor[precedent.Review](), raw)
	for name := range w.defs {
		if !w.used[name] {
			t.Errorf("nothing refers to $defs/%s", name)
		}
	}
	properties := raw["properties"].(map[string]any)
	finding := w.defs["finding"].(map[string]any)["properties"].(map[string]any)
	for _, e := range []struct {
		of   map[string]any
		name string
		want []string
	}{
		{finding, "category", words(precedent.Categories)},
		{finding, "severity", words(precedent.Severities)},
		{finding, "side", words([]precedent.Side{precedent.Right, precedent.Left, ""})},
		{properties, "verdict", words([]precedent.Verdict{
			precedent.Clean, precedent.Findings, precedent.NoFindings,
			precedent.Partial, precedent.Failed, precedent.Skipped,
		})},
		{properties, "scope", words([]precedent.Scope{precedent.FullScope, precedent.AnalyzersScope})},
	} {
		var got []string
		for _, v := range e.of[e.name].(map[string]any)["enum"].([]any) {
			got = append(got, v.(string))
		}
		if !slices.Equal(got, e.want) {
			t.Errorf("%s may be %q in the schema and %q in the code", e.name, got, e.want)
		}
	}
}

func words[T ~string](list []T) []string {
	var all []string
	for _, v := range list {
		all = append(all, string(v))
	}
	return all
}

type walker struct {
	t    *testing.T
	defs map[string]any
	used map[string]bool
}

// resolve follows a reference, and the alternative to null.
func (w *walker) resolve(node map[string]any) map[string]any {
	if either, ok := node["anyOf"].([]any); ok {
		node = either[0].(map[string]any)
	}
	ref, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	name := strings.TrimPrefix(ref, "#/$defs/")
	w.used[name] = true
	def, ok := w.defs[name].(map[string]any)
	if !ok {
		w.t.Fatalf("there is no %s", ref)
	}
	return def
}

func (w *walker) walk(at string, typ reflect.Type, node map[string]any) {
	w.t.Helper()
	if s, _ := node["description"].(string); s == "" && !strings.HasSuffix(at, "[]") {
		w.t.Errorf("%s has no description", at)
	}
	node = w.resolve(node)
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	want := kind(typ)
	got := node["type"]
	if list, ok := got.([]any); ok {
		got = list[0]
	}
	if _, ok := node["const"]; !ok && got != want {
		w.t.Errorf("%s is %v in the schema and %s in the code", at, got, want)
	}
	switch want {
	case "array":
		w.walk(at+"[]", typ.Elem(), node["items"].(map[string]any))
	case "object":
		properties := node["properties"].(map[string]any)
		fields, optional := map[string]reflect.Type{}, map[string]bool{}
		flatten(typ, fields, optional)
		for name, field := range fields {
			if p, ok := properties[name].(map[string]any); ok {
				w.walk(at+"."+name, field, p)
			} else if !optional[name] {
				w.t.Errorf("%s.%s is not in the schema", at, name)
			}
			if slices.Contains(node["required"].([]any), any(name)) == optional[name] {
				w.t.Errorf("%s.%s may be left out: %t, but the schema says otherwise", at, name, optional[name])
			}
		}
		for name := range properties {
			if _, ok := fields[name]; !ok {
				w.t.Errorf("%s.%s is in the schema alone", at, name)
			}
		}
	}
}

// kind is the JSON type that a Go type marshals to.
func kind(typ reflect.Type) string {
	if typ == reflect.TypeFor[time.Time]() ||
		reflect.PointerTo(typ).Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return "string"
	}
	switch typ.Kind() {
	case reflect.Struct:
		return "object"
	case reflect.Slice:
		return "array"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "boolean"
	default:
		return typ.Kind().String()
	}
}

// flatten lists the JSON fields of a struct, those of embedded ones included, and tells which may be left out.
func flatten(typ reflect.Type, fields map[string]reflect.Type, optional map[string]bool) {
	for field := range typ.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		optional[name] = options == "omitempty"
		switch {
		case name == "-" || !field.IsExported():
		case field.Anonymous && name == "":
			flatten(field.Type, fields, optional)
		case name == "":
			fields[field.Name] = field.Type
		default:
			fields[name] = field.Type
		}
	}
}
