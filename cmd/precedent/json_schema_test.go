package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/needs"
)

// jsonSchemas is the file with the schema of what each command prints with --json. It is made of what the stories print
// (go test -run '^TestScript$' -update); that of reviews is docs/result.schema.json.
const jsonSchemas = "../../docs/commands.schema.json"

// jsonFolder is where programs of a story leave what they print.
const jsonFolder = ".json"

// keepJSON keeps what a command printed for checkJSON.
func keepJSON(story string, a *app, out []byte) {
	cmd, _, err := a.root().Find(os.Args[1:])
	if err != nil {
		return
	}
	name := strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), "precedent "), " ", "-")
	dir := filepath.Join(story, jsonFolder)
	if err = os.MkdirAll(dir, 0o700); err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, name+".*"); err == nil {
			_, err = f.Write(out)
			_ = f.Close() // TestJSONSchemas misses what was not written
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// schemas are those in the file, by command.
var schemas = struct {
	sync.Mutex
	of map[string]map[string]any
}{of: map[string]map[string]any{}}

func readSchemas() error {
	data, err := os.ReadFile(jsonSchemas)
	if err != nil {
		return err
	}
	var file struct {
		Defs map[string]map[string]any `json:"$defs"`
	}
	err = json.Unmarshal(data, &file)
	schemas.of = file.Defs
	return err
}

// useSchemas reads the schemas, and writes them after the test if they are to be made.
func useSchemas(t *testing.T) {
	if err := readSchemas(); err != nil && !golden.Update() {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !golden.Update() {
			return
		}
		var b strings.Builder
		b.WriteString("{\n\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n" +
			"\"$comment\": \"What each command prints with --json, by command. Fields are added, never renamed.\",\n\"$defs\": {")
		for i, name := range slices.Sorted(maps.Keys(schemas.of)) {
			data, err := json.Marshal(schemas.of[name])
			if err != nil {
				t.Error(err)
			}
			b.WriteString(strings.Repeat(",", min(i, 1)) + "\n\"" + name + "\": " + string(data))
		}
		b.WriteString("\n}\n}\n")
		if err := os.WriteFile(jsonSchemas, []byte(b.String()), 0o644); err != nil {
			t.Error(err)
		}
	})
}

// checkJSON compares what the programs of a story printed with the schemas, or makes them.
func checkJSON(e *testscript.Env) {
	files, _ := filepath.Glob(filepath.Join(e.WorkDir, jsonFolder, "*")) // the pattern is well formed
	schemas.Lock()
	defer schemas.Unlock()
	for _, path := range files {
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		if name == "review" || name == "pr" {
			continue
		}
		var v any
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &v)
		}
		if err == nil && golden.Update() {
			schemas.of[name] = widen(schemas.of[name], v)
		} else if err == nil {
			err = validate(schemas.of[name], v)
		}
		if err != nil {
			e.T().Log(fmt.Sprintf("precedent %s --json: %v\n%s", name, err, data))
			e.T().FailNow()
		}
	}
}

func validate(schema map[string]any, v any) error {
	if schema == nil {
		return fmt.Errorf("no schema in %s", jsonSchemas)
	}
	data, err := json.Marshal(schema)
	if err != nil {
		return err
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(data, s); err != nil {
		return err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	return resolved.Validate(v)
}

// counts are fields that have only what there is to count, so no story shows which of their fields can be missing.
var counts = []string{"hidden", "outcomes", "shown", "threads", "verdicts"}

// widen returns the schema so that it also describes v: each type that was seen, each field, and as required those that no
// object lacked.
func widen(s map[string]any, v any) map[string]any {
	first := s == nil
	if first {
		s = map[string]any{}
	}
	typ := "null"
	switch v := v.(type) {
	case bool:
		typ = "boolean"
	case float64:
		typ = "number"
	case string:
		typ = "string"
	case []any:
		typ = "array"
		for _, item := range v {
			old, _ := s["items"].(map[string]any)
			s["items"] = widen(old, item)
		}
	case map[string]any:
		typ = "object"
		fields, seen := s["properties"].(map[string]any)
		if !seen {
			fields = map[string]any{}
		}
		required := slices.Sorted(maps.Keys(v))
		if seen {
			required = slices.DeleteFunc(required, func(k string) bool { return !slices.Contains(list(s["required"]), k) })
		}
		for k, field := range v {
			old, _ := fields[k].(map[string]any)
			of := widen(old, field)
			if slices.Contains(counts, k) {
				delete(of, "required")
			}
			fields[k] = of
		}
		s["properties"], s["required"] = fields, required
	}
	if types := list(s["type"]); !slices.Contains(types, typ) {
		types = append(types, typ)
		slices.Sort(types)
		s["type"] = types
	}
	return s
}

// list are the strings of a list, as it is made here or read.
func list(v any) (all []string) {
	switch v := v.(type) {
	case []string:
		return v
	case []any:
		for _, s := range v {
			all = append(all, fmt.Sprint(s))
		}
	}
	return all
}

// TestJSONSchemas: each command with --json has a schema, and no other does.
func TestJSONSchemas(t *testing.T) {
	needs.NoError(t, readSchemas())
	left := maps.Clone(schemas.of)
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		name := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "precedent "), " ", "-")
		if f := c.Flags().Lookup("json"); f != nil && f.Value.Type() == "bool" && name != "review" && name != "pr" && !c.Hidden {
			if left[name] == nil {
				t.Errorf("%s has no schema", name)
			}
			delete(left, name)
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look((&app{}).root())
	for name := range left {
		t.Errorf("the schema of %s is about no command", name)
	}
}
