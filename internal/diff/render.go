package diff

import (
	"strconv"
	"strings"
)

// Numbered writes the hunk as unified text for a model. Context and added
// lines carry their number in the new file; the text behind the sign is verbatim,
// so that it can be quoted. A hunk that only deletes carries the numbers of the
// old file, as its header says. Nothing is aligned: blanks are paid for, too.
//
//	@@ -3,2 +3,2 @@ func main() {
//	3  	a()
//	-	b()
//	4 +	c()
func (h *Hunk) Numbered(w *strings.Builder) {
	w.WriteString(h.header())
	for i := range h.Lines {
		l := &h.Lines[i]
		switch {
		case l.New > 0:
			w.WriteString(strconv.Itoa(l.New) + " ")
		case h.NewLines == 0:
			w.WriteString(strconv.Itoa(l.Old) + " ")
		}
		w.WriteString(string(l.Op) + l.Text + "\n")
		if l.NoEOL {
			w.WriteString("\\ No newline at end of file\n")
		}
	}
	if h.Cut != "" {
		w.WriteString("… cut: " + h.Cut + "\n")
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
