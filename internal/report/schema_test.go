package report_test

import (
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
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/report"
)

// resultSchema is the contract that docs promise.
const resultSchema = "../../docs/result.schema.json"

func readSchema(t *testing.T) (raw map[string]any) {
	t.Helper()
	needs.NoError(t, json.Unmarshal(needs.Value(os.ReadFile(resultSchema))(t), &raw))
	return raw
}

func compile(t *testing.T, raw map[string]any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	needs.NoError(t, c.AddResource("result.json", raw))
	return needs.Value(c.Compile("result.json"))(t)
}

// TestResultsFitTheSchema validates what JSON prints, golden files included.
func TestResultsFitTheSchema(t *testing.T) {
	schema, checked := compile(t, readSchema(t)), 0
	for _, file := range needs.Value(filepath.Glob("testdata/*.json"))(t) {
		data := needs.Value(os.ReadFile(file))(t)
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
	wrong := strings.Replace(string(printed(t, "json", broken(), report.Style{})), `"verdict": "failed"`, `"verdict": "fine"`, 1)
	if schema.Validate(needs.Value(jsonschema.UnmarshalJSON(strings.NewReader(wrong)))(t)) == nil {
		t.Error("the schema takes a verdict that is none")
	}
}

// TestSchemaHasEveryField compares the schema with what Review marshals to, with all fields and without those that may be
// left out: every field is in the schema with a description and a type that fits, and nothing else is.
func TestSchemaHasEveryField(t *testing.T) {
	for _, full := range []bool{true, false} {
		raw := readSchema(t)
		narrow(t, "review", raw, full)
		var r precedent.Review
		fill(reflect.ValueOf(&r).Elem(), full)
		r.Memory.LearningsUsed[0].Precedent, r.Memory.LearningsPending[0].Precedent = nil, nil // learnings cite no comment
		validate(t, compile(t, raw), needs.Value(json.Marshal(r))(t))
		hollow := &precedent.Review{
			Findings: make([]precedent.Finding, 1), Memory: precedent.MemoryUse{Hotspots: make([]precedent.Hotspot, 1)},
		}
		for _, r := range []*precedent.Review{{}, hollow} { // lists are printed as lists, never as null
			if !full {
				validate(t, compile(t, raw), printed(t, "json", r, report.Style{}))
			}
		}
		if hollow.Findings[0].Evidence != nil || hollow.Failures != nil {
			t.Error("JSON changed the review that it printed")
		}
	}
	raw := readSchema(t)
	defs, all := raw["$defs"].(map[string]any), string(needs.Value(json.Marshal(raw))(t))
	for name := range defs {
		if !strings.Contains(all, `"#/$defs/`+name+`"`) {
			t.Errorf("nothing refers to $defs/%s", name)
		}
	}
	properties := raw["properties"].(map[string]any)
	finding := defs["finding"].(map[string]any)["properties"].(map[string]any)
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

// narrow makes a schema demand all properties that it has, or have only those that it demands, and take any value
// of the right type.
func narrow(t *testing.T, at string, node map[string]any, full bool) {
	t.Helper()
	for _, key := range []string{"enum", "const", "format", "pattern", "minimum", "maximum"} {
		delete(node, key)
	}
	if properties, ok := node["properties"].(map[string]any); ok {
		for name, p := range properties {
			p := p.(map[string]any)
			if p["description"] == nil {
				t.Errorf("%s.%s has no description", at, name)
			}
			narrow(t, at+"."+name, p, full)
			if !full && !slices.Contains(node["required"].([]any), any(name)) {
				delete(properties, name)
			}
		}
		node["minProperties"], node["additionalProperties"] = len(properties), false
	}
	if items, ok := node["items"].(map[string]any); ok {
		narrow(t, at+"[]", items, full)
	}
	defs, _ := node["$defs"].(map[string]any)
	for name, def := range defs {
		narrow(t, name, def.(map[string]any), full)
	}
}

// fill sets all of a value, or all that is marshalled even if it is zero, with lists of one.
func fill(v reflect.Value, full bool) {
	switch kind := v.Kind(); {
	case v.Type() == reflect.TypeFor[time.Time]():
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), full)
	case kind == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), full)
	case kind == reflect.Struct:
		for field, value := range v.Fields() {
			if tag := field.Tag.Get("json"); tag != "-" && (full || !strings.Contains(tag, ",omit")) {
				fill(value, full)
			}
		}
	case !full:
	case kind == reflect.String:
		v.SetString("x")
	case kind == reflect.Bool:
		v.SetBool(true)
	case kind == reflect.Float64:
		v.SetFloat(0.5)
	default:
		v.SetInt(1)
	}
}
