package github

import (
	"errors"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// TestRoles: what a role may do is what it is based on, whatever its name, and the highest grant counts.
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
