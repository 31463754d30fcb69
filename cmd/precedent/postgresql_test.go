package main

import (
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestScriptPostgreSQL plays the stories in testdata/postgresql, each with a database of its
// own in DATABASE_URL.
func TestScriptPostgreSQL(t *testing.T) {
	server := needs.SharedPostgreSQL(t)
	empty := needs.Value(store.OpenMemory(t.Context(), store.Options{}))(t)
	defer empty.Close()
	schema := needs.Value(empty.Check(t.Context()))(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/postgresql",
		Setup: func(e *testscript.Env) error {
			e.Setenv(databaseVariable, server.WithPassword(t, server.Database(t)))
			e.Setenv("SCHEMA", strconv.FormatInt(schema, 10))
			return setup(e)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": needs.Exits, "expand": needs.Expand},
	})
}
