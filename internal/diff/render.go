package diff

import (
	"strconv"
	"strings"
)

// numberEvery is the distance of line numbers in a prompt. Each costs as much as a tenth of a line. A remark
// is located by its quote, so numbers only tell equal lines apart, and a reader can count to four.
const numberEvery = 5

// Numbered writes the hunk as unified text for a model. Of the context and added lines the first and every
// fifth carry their number in the new file; the text behind the sign is verbatim, so that it can be quoted. A
// hunk that only deletes carries the numbers of the old file, as its header says. Nothing is aligned: blanks
// are paid for, too.
//
//	@@ -8,2 +8,3 @@ func main() {
//	8  	a()
//	-	b()
//	+	c()
//	10 +	d()
func (h *Hunk) Numbered(w *strings.Builder) {
	w.WriteString(h.header())
	first := true
	for i := range h.Lines {
		l := &h.Lines[i]
		n := l.New
		if h.NewLines == 0 {
			n = l.Old
		}
		if n > 0 && (first || n%numberEvery == 0) {
			w.WriteString(strconv.Itoa(n) + " ")
			first = false
		}
		text := l.Text
		if h.Cut != "" { // it does not count as read, whatever is paid for
			text = text[:min(len(text), mostOfCut)]
		}
		w.WriteString(string(l.Op) + text + "\n")
		if l.NoEOL {
			w.WriteString("\\ No newline at end of file\n")
		}
	}
	if h.Cut != "" {
		w.WriteString("… cut: " + h.Cut + "\n")
	}
}

// mostOfCut is how much of a line is shown of a hunk that has too long lines, in bytes.
const mostOfCut = 4 << 10

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
