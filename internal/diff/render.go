package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// Numbered writes the hunk as unified text for a model. Context and added
// lines carry their number in the new file, right-aligned; the text behind the
// sign is verbatim, so that it can be quoted. A hunk that only deletes carries
// the numbers of the old file, as its header says.
//
//	@@ -3,2 +3,2 @@ func main() {
//	3  	a()
//	  -	b()
//	4 +	c()
func (h *Hunk) Numbered(w *strings.Builder) {
	w.WriteString(h.header())
	last := h.NewStart + h.NewLines
	if h.NewLines == 0 {
		last = h.OldStart + h.OldLines
	}
	width := len(strconv.Itoa(last))
	for i := range h.Lines {
		l := &h.Lines[i]
		number := ""
		switch {
		case l.New > 0:
			number = strconv.Itoa(l.New)
		case h.NewLines == 0:
			number = strconv.Itoa(l.Old)
		}
		fmt.Fprintf(w, "%*s %c%s\n", width, number, l.Op, l.Text)
		if l.NoEOL {
			fmt.Fprintf(w, "%*s \\ No newline at end of file\n", width, "")
		}
	}
	if h.Cut != "" {
		fmt.Fprintf(w, "%*s … cut: %s\n", width, "", h.Cut)
	}
}

// header is the hunk's first line as git writes it.
func (h *Hunk) header() string {
	s := "@@ -" + lineRange(h.OldStart, h.OldLines) + " +" + lineRange(h.NewStart, h.NewLines) + " @@"
	if h.Section != "" {
		s += " " + h.Section
	}
	return s + "\n"
}

func lineRange(start, n int) string {
	if n == 1 {
		return strconv.Itoa(start)
	}
	return strconv.Itoa(start) + "," + strconv.Itoa(n)
}
