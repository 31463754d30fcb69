package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/needs"
)

// jsonSchemas is the file with the schema of what each command prints with --json; that of reviews is
// docs/result.schema.json.
const jsonSchemas = "../../docs/commands.schema.json"

// schemasVariable has the path of that file for the programs of a story.
const schemasVariable = "PRECEDENT_TEST_SCHEMAS"

// readSchemas reads the schemas in the file, by command.
func readSchemas(path string) (map[string]*jsonschema.Schema, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Defs map[string]*jsonschema.Schema `json:"$defs"`
	}
	err = json.Unmarshal(data, &file)
	return file.Defs, err
}

// schemaOf is the name of the schema of a command; empty if it has another one.
func schemaOf(c *cobra.Command) string {
	name := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "precedent "), " ", "-")
	if name == "review" || name == "pr" {
		return ""
	}
	return name
}

// fitsSchema compares what this program printed as JSON with the schema of the command.
func fitsSchema(a *app, out []byte) error {
	cmd, _, err := a.root().Find(os.Args[1:])
	if err != nil || schemaOf(cmd) == "" {
		return err
	}
	all, err := readSchemas(os.Getenv(schemasVariable))
	if err != nil {
		return err
	}
	schema := all[schemaOf(cmd)]
	if schema == nil {
		return fmt.Errorf("no schema in %s", jsonSchemas)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(out, &v); err != nil {
		return err
	}
	return resolved.Validate(v)
}

// TestJSONSchemas: each command with --json has a schema, and no other does.
func TestJSONSchemas(t *testing.T) {
	left := needs.Value(readSchemas(jsonSchemas))(t)
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		name := schemaOf(c)
		if f := c.Flags().Lookup("json"); f != nil && f.Value.Type() == "bool" && name != "" && !c.Hidden {
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
