package fix

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
)

// contextLines is how many unchanged lines a patch shows on each side, as git does.
const contextLines = 3

// Patch returns the plan as a patch for git apply.
func (p Plan) Patch() []byte {
	var b bytes.Buffer
	for _, f := range p.files {
		fmt.Fprintf(&b, "diff --git %s %s\n--- %s\n+++ %s\n", quoted("a/"+f.path), quoted("b/"+f.path), quoted("a/"+f.path),
			quoted("b/"+f.path))
		shift := 0
		for i := 0; i < len(f.edits); {
			n := i + 1
			for n < len(f.edits) && f.edits[n].Start-f.edits[n-1].End <= 2*contextLines {
				n++
			}
			shift = f.hunk(&b, f.edits[i:n], shift)
			i = n
		}
	}
	return b.Bytes()
}

// hunk writes edits that are near each other. shift is the number of lines by which
// earlier edits made the file longer; hunk returns the new shift.
func (f *file) hunk(b *bytes.Buffer, edits []Edit, shift int) int {
	first := max(edits[0].Start-contextLines, 1)
	last := min(edits[len(edits)-1].End+contextLines, len(f.lines))
	var body bytes.Buffer
	next, grown := first, 0
	for _, e := range edits {
		write(&body, ' ', f.lines[next-1:e.Start-1])
		write(&body, '-', f.lines[e.Start-1:e.End])
		lines := f.newLines(e)
		write(&body, '+', lines)
		grown += len(lines) - (e.End - e.Start + 1)
		next = e.End + 1
	}
	write(&body, ' ', f.lines[next-1:last])
	n := last - first + 1
	start := first + shift
	if n+grown == 0 {
		start--
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", first, n, start, n+grown)
	b.Write(body.Bytes())
	return shift + grown
}

func write(b *bytes.Buffer, sign byte, lines []string) {
	for _, l := range lines {
		b.WriteByte(sign)
		b.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// quoted returns a path as git writes it in a patch: in quotes only if it contains special characters.
func quoted(path string) string {
	q := precedent.QuotePath(path)
	if q == `"`+path+`"` {
		return path
	}
	return q
}
