package text

import "testing"

func TestAlike(t *testing.T) {
	for _, same := range [][2]string{
		{".GITHUB/Workflows", ".github/workflows"},
		{".mcp.j\u017fon", ".mcp.json"},
		{"ma\u212aefile", "makefile"},
		{"\uff23ODEOWNERS", "codeowners"},
		{"cafe\u0301", "caf\u00e9"},
		{"\ufb01x.go", "fix.go"},
		{".g\u0131thub", ".github"},
	} {
		if a, b := Alike(same[0]), Alike(same[1]); a != b {
			t.Errorf("%q is %q, and %q is %q", same[0], a, same[1], b)
		}
	}
	if Alike("a.go") == Alike("b.go") || Alike("till.js") != "till.js" {
		t.Error("other names are alike")
	}
}
