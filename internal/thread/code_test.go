package thread

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestCodeChanged: only a change of what a compiler reads can fix a finding of high or critical severity.
func TestCodeChanged(t *testing.T) {
	const then = "package a\n\nfunc check(given string) bool {\n\tif given == token || given == \"\" {\n\t\treturn " +
		"true\n\t}\n\treturn false\n}\n"
	const hole = "\tif given == token || given == \"\" {"
	replace := func(old, by string) string { return strings.Replace(then, old, by, 1) }
	for _, test := range []struct {
		name          string
		now           string
		changed, code bool
	}{
		{"unchanged", then, false, false},
		{"a comment behind it", replace(hole, hole+" // fixed"), true, false},
		{"a comment in it", replace(" || given", " /* checked */ || given"), true, false},
		{"a comment of several lines in it", replace(" || given", " /* checked\n twice */ || given"), true, false},
		{"white space in it", replace(" || given", "  ||  given"), false, false},
		{"a line end in it", replace(" || given", " ||\n\t\tgiven"), true, false},
		{"a comment behind it, and more around", replace(hole, "\tx := 1\n"+hole+" // fixed\n\tx++"), true, false},
		{"far from where it was", replace(hole, strings.Repeat("\t// no\n", 60)+hole+" // fixed"), true, false},
		{"moved, with a comment", replace(hole, "\tif false {") + "\nfunc other(given string) bool {\n" + hole +
			" // fixed\n\t\treturn true\n\t}\n\treturn false\n}\n", true, false},
		{
			"what only looks like a comment before it", replace("package a\n", "package a\n\nvar marks = '`/*'\n") + "// */ '\n",
			false, false,
		},
		{"fixed", replace(" || given == \"\"", ""), true, true},
		{"deleted", replace(hole+"\n", ""), true, true},
		{"its file is gone", "", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"then a.go": then, "head a.go": test.now}
			if test.now == "" {
				delete(files, "head a.go")
			}
			one := at(4, 4)
			one.Severity = precedent.Critical
			ts := []precedent.Thread{one}
			Relocate(ts, trees(files))
			if ts[0].Changed != test.changed || ts[0].CodeChanged != test.code || ts[0].ProvenChange() != test.code {
				t.Errorf("changed %v, code %v, proven %v", ts[0].Changed, ts[0].CodeChanged, ts[0].ProvenChange())
			}
			got := Outcomes(ts, OutcomeInput{
				Trees:   trees(files),
				Answers: []precedent.ThreadAnswer{{Thread: "t1", State: precedent.Addressed}},
			})
			needs.Equal(t, test.code, got[0].Kind == precedent.Fixed)
		})
	}
	for what, test := range map[string]struct {
		severity  precedent.Severity
		then, now string
	}{
		"a mild finding":    {precedent.Low, hole, hole + " // fixed"},
		"one about no code": {precedent.Critical, "\t// safe", "\t// not safe for an empty token"},
	} {
		about := at(4, 4)
		about.Severity = test.severity
		ts := []precedent.Thread{about}
		Relocate(ts, trees(map[string]string{"then a.go": replace(hole, test.then), "head a.go": replace(hole, test.now)}))
		if !ts[0].ProvenChange() {
			t.Errorf("%s can be about a comment", what)
		}
	}
}
