package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/precedent-dev/precedent/internal/engine/enginetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"precedent-eval": main, "scripted": enginetest.Main})
}

// TestScript plays the stories in testdata/script.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               needs.Home,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": needs.Exits, "expand": needs.Expand},
	})
}
