package fix

import (
	"bytes"
	"fmt"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/precedent-dev/precedent"
)

// Patch returns the plan as a patch for git apply.
func (p Plan) Patch() []byte {
	var b bytes.Buffer
	for _, f := range p.files {
		was, is := quoted("a/"+f.path), quoted("b/"+f.path)
		// git's own first line instead of that of diff -u, which git apply cannot read if the path contains spaces.
		if _, rest, ok := bytes.Cut(diff.Diff(was, f.data, is, f.content()), []byte("\n")); ok {
			fmt.Fprintf(&b, "diff --git %s %s\n%s", was, is, rest)
		}
	}
	return b.Bytes()
}

// quoted returns a path as git writes it in a patch: in quotes only if it contains special characters.
func quoted(path string) string {
	q := precedent.QuotePath(path)
	if q == `"`+path+`"` {
		return path
	}
	return q
}
