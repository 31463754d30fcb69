package github

import (
	"errors"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// TestRoles: what a role may do is what it is based on, whatever its name, and the highest
// grant counts.
func TestRoles(t *testing.T) {
	s, _, c, repo := open(t)
	who := func(id int64, login string) forge.Person {
		return forge.Person{ID: precedent.NumberID(id), Login: login}
	}
	maintainer, triager, custom, viewer, teammate, both := who(21, "mia"), who(22, "tim"), who(23, "cat"), who(24, "vic"),
		who(25, "tea"), who(26, "bob")
	s.World.Change(func() {
		r := shop(s)
		for person, level := range map[forge.Person]forge.Permission{
			maintainer: forge.Write, triager: forge.Read, custom: forge.Write, viewer: forge.Read, both: forge.Read,
		} {
			r.Members = append(r.Members, forgetest.Member{Person: person, Permission: level})
		}
		r.Roles = map[precedent.ForgeID]string{
			maintainer.ID: "maintain", triager.ID: "triage", custom.ID: "security-engineer", viewer.ID: "admin-of-words",
		}
		r.Teams = []forgetest.Team{{ID: 1, Name: "core", Level: forge.Write, Members: []forge.Person{teammate, both}}}
	})
	for p, want := range map[forge.Person]forge.Permission{
		maintainer: forge.Write, triager: forge.Read, custom: forge.Write, viewer: forge.Read, teammate: forge.Write,
		both: forge.Write, who(27, "nobody"): forge.None,
	} {
		if got, err := c.Permission(t.Context(), repo, p); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", p.Login, got, err, want)
		}
	}
	var e *forge.Error
	// "May not ask" is an error, "nobody with this name" is an answer.
	s.Script.Plan(forgetest.Fault{Status: 403, Body: `{"message":"Resource not accessible by personal access token"}`})
	if got, err := c.Permission(t.Context(), repo, who(28, "late")); got != forge.None || !errors.As(err, &e) ||
		e.Kind != forge.KindAuth {
		t.Errorf("%q, %v for a token without permission", got, err)
	}
}

// TestPlacesOfComments: GitHub clears the lines of an outdated comment, and keeps those at
// the commit that it was written on; a comment on a file has no line, whatever it says.
func TestPlacesOfComments(t *testing.T) {
	s, _, c, repo := open(t)
	at := func(start, end int) precedent.Span {
		return precedent.Span{Path: "src/till.go", Side: precedent.Right, Start: start, End: end}
	}
	const fields = `"id":1,"user":{"id":1,"login":"ann"},"created_at":"2026-03-04T05:06:07Z","updated_at":"2026-03-04T05:06:07Z","path":"src/till.go","commit_id":"n","original_commit_id":"o",`
	for name, test := range map[string]struct {
		json     string
		want     precedent.Span
		commit   string
		outdated bool
	}{
		"one line": {`"side":"RIGHT","line":7,"original_line":5,"position":3`, at(7, 7), "n", false},
		"a range":  {`"side":"RIGHT","start_line":5,"start_side":"RIGHT","line":7,"original_start_line":3,"original_line":5,"position":3`, at(5, 7), "n", false},
		"outdated": {
			`"side":"RIGHT","line":null,"original_line":5,"position":null,"subject_type":"line"`, at(5, 5), "o", true,
		},
		"an outdated range": {`"side":"RIGHT","start_line":null,"start_side":"RIGHT","line":null,"original_start_line":3,"original_line":5,"position":null`, at(3, 5), "o", true},
		"from another side": {
			`"side":"RIGHT","start_line":2,"start_side":"LEFT","line":7,"original_line":7,"position":3`, at(7, 7), "n", false,
		},
		"a file": {
			`"side":"RIGHT","line":null,"original_line":null,"subject_type":"file","position":1`, at(0, 0), "n", false,
		},
		"a file with a line": {
			`"side":"RIGHT","line":1,"original_line":1,"subject_type":"file","position":1`, at(0, 0), "n", false,
		},
	} {
		for _, list := range []string{"/issues/", "/reviews"} {
			s.Script.Plan(forgetest.Fault{On: list, Status: 200, Body: "[]"})
		}
		s.Script.Plan(forgetest.Fault{On: "/pulls/1/comments", Status: 200, Body: "[{" + fields + test.json + "}]"})
		all, err := c.Comments(t.Context(), repo, 1)
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		if m := all[0]; m.Span != test.want || m.Commit != test.commit || m.Outdated != test.outdated {
			t.Errorf("%s: %s of %s, outdated %v", name, m.Span, m.Commit, m.Outdated)
		}
	}
}
