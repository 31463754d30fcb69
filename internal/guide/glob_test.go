package guide

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent/internal/needs"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		glob, path string
		want       bool
	}{
		{"*.go", "a/b/main.go", true},
		{"*.go", "a/main.goo", false},
		{"Makefile", "a/Makefile", true},
		{"a/*.go", "a/b/main.go", false},
		{"a/*.go", "x/a/main.go", false},
		{"a/**", "a/b/c", true},
		{"a/", "a/b/c", true},
		{"a/", "b/a/c", false},
		{"a", "a/b/c", true},
		{"a/b", "a/b/c", true},
		{"**/gen/**", "x/gen/y", true},
		{"**/*.{pb,gen}.go", "x/y.pb.go", true},
		{"**/*.{pb,gen}.go", "x/y.go", false},
		{"[a-c].txt", "b.txt", true},
		{"../x", "x", false},
		{"/etc/**", "etc/passwd", false},
		{"[", "[", false},
		{"", "", false},
	} {
		if got := Match(test.glob, test.path); got != test.want {
			t.Errorf("Match(%q, %q) = %v", test.glob, test.path, got)
		}
	}
}

// TestLiteral: the glob of a path matches the path, and no other one.
func TestLiteral(t *testing.T) {
	for _, p := range []string{
		"pages/[id].tsx", "a/[...all]/b.js", "a/{x}/y", "a/**", "*", "a?", "a/b.go", "main.go", "[", "]a", "}{",
	} {
		if g := Literal(p); CheckGlob(g) != nil || !Match(g, p) || !Match(Literal("d/"+p)+"/**", "d/"+p+"/f") {
			t.Errorf("%q: %q, %v", p, g, CheckGlob(g))
		}
	}
	for glob, p := range map[string]string{
		"pages/[id].tsx": "pages/i.tsx", "a/**": "a/b.go", "a/{b,c}": "a/b", "main.go": "cmd/main.go",
	} {
		if Match(Literal(glob), p) {
			t.Errorf("%q matches %q", Literal(glob), p)
		}
	}
}

// TestMatchBounded: no glob that a policy may hold is slow on any path.
func TestMatchBounded(t *testing.T) {
	paths := []string{strings.Repeat("a/", 2000) + "b", strings.Repeat("a", 4000) + "b", strings.Repeat("a/aa", 1000)}
	rapid.Check(t, func(t *rapid.T) {
		glob := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "*", "**/", "/", "?", "{a,*a}", "{*,a*}",
			"{**,a}/", "[a-b]", "*a",
		}), 1, 60).Draw(t, "parts"), "")
		if CheckGlob(glob) != nil {
			t.Skip("refused")
		}
		for _, p := range paths {
			if took := needs.Busy(func() { match(glob, p) }); took > time.Second {
				t.Fatalf("%q took %v", glob, took)
			}
		}
	})
}
