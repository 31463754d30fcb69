package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/precedent-dev/precedent/internal/text"
)

// DefaultWidth is the width in columns of output that is not for a terminal.
const DefaultWidth = 80

// minWidth is the minimum width of the layout. On narrower terminals lines overflow.
const minWidth = 40

// maxInk limits one piece of text, in bytes: the longest path that systems allow.
const maxInk = 4096

// tab replaces tabs, because their width in a terminal is not known.
const tab = "    "

// Ink is a colour or weight for terminal text.
type Ink string

// The inks, as the parameters of an SGR sequence: the 16 basic colours only,
// because every terminal and every theme has them.
const (
	Plain   Ink = ""
	Bold    Ink = "1"
	Faint   Ink = "2"
	Red     Ink = "31"
	Green   Ink = "32"
	Yellow  Ink = "33"
	Cyan    Ink = "36"
	BoldRed Ink = "1;31"
)

// Page lays out text for a terminal. Ink escapes all text, so that text from outside cannot
// move the cursor, change colours, reorder letters or start lines. The first error of the
// writer is kept for Err.
type Page struct {
	w     io.Writer
	width int
	hard  bool // no line is wider: a terminal would break it anywhere
	color bool
	err   error
}

// NewPage returns a page with the number of columns on w; a width of 0 means DefaultWidth.
func NewPage(w io.Writer, width int, color bool) *Page {
	hard := width > 0
	if width <= 0 {
		width = DefaultWidth
	}
	return &Page{w: w, width: max(width, minWidth), hard: hard, color: color}
}

// Err returns the first error of the writer.
func (p *Page) Err() error { return p.err }

// Ink escapes s, cuts it after 4 KiB and, if the page has colours, colours it.
func (p *Page) Ink(ink Ink, s string) string {
	s = visible(text.Head(s, maxInk))
	if !p.color || ink == Plain || s == "" {
		return s
	}
	return "\x1b[" + string(ink) + "m" + s + "\x1b[0m"
}

// Inkf is Ink of a formatted text.
func (p *Page) Inkf(ink Ink, format string, args ...any) string {
	return p.Ink(ink, fmt.Sprintf(format, args...))
}

// Line writes inked parts as one line, unwrapped. GitHub's runner reads commands from the log
// of a workflow, after two colons at the beginning of a line and after ##[ anywhere: neither
// is written.
func (p *Page) Line(parts ...string) {
	line := strings.TrimRight(strings.Join(parts, ""), " ")
	if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "::"); ok {
		line = line[:len(line)-len(rest)-2] + "<U+003A>:" + rest
	}
	if p.hard && ansi.StringWidth(line) > p.width {
		line = ansi.Hardwrap(line, p.width, true)
	}
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.ReplaceAll(line, "##[", "##<U+005B>")+"\n")
	}
}

// Para writes inked text behind a label, wrapped at spaces, with later lines indented by the
// width of the label. Words that are longer than a line, such as paths, stay whole, so that
// they can be copied.
func (p *Page) Para(label, inked string) {
	indent := ansi.StringWidth(label)
	room := max(p.width-indent, minWidth/2)
	line, used := label, 0
	for i, word := range strings.Split(inked, " ") {
		w := ansi.StringWidth(word)
		switch {
		case i == 0:
		case used > 0 && used+1+w > room:
			p.Line(line)
			line, used = strings.Repeat(" ", indent), 0
		default:
			line += " "
			used++
		}
		line += word
		used += w
	}
	p.Line(line)
}

// Say writes a plain text as a paragraph behind a label.
func (p *Page) Say(label, s string) { p.Para(label, p.Ink(Plain, s)) }

// Sayf is Say of a formatted text.
func (p *Page) Sayf(label, format string, args ...any) { p.Say(label, fmt.Sprintf(format, args...)) }

// Flow writes inked items side by side, three columns apart, as many as fit on a line. It never
// breaks an item.
func (p *Page) Flow(label string, items []string) {
	const gap = 3
	indent := ansi.StringWidth(label)
	line, used := label, indent
	for i, item := range items {
		w := ansi.StringWidth(item)
		if i > 0 && used > indent {
			if used+gap+w > p.width {
				p.Line(line)
				line, used = strings.Repeat(" ", indent), indent
			} else {
				line += strings.Repeat(" ", gap)
				used += gap
			}
		}
		line += item
		used += w
	}
	if used > indent {
		p.Line(line)
	}
}

// Table writes rows of inked cells in columns two apart. The last column is wrapped in the
// remaining width.
func (p *Page) Table(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row[:max(len(row)-1, 0)] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	for _, row := range rows {
		var label strings.Builder
		for i, cell := range row[:max(len(row)-1, 0)] {
			label.WriteString(cell)
			label.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2))
		}
		if len(row) > 0 {
			p.Para(label.String(), row[len(row)-1])
		}
	}
}

// clip cuts text to a number of columns and marks the cut with an ellipsis.
func clip(s string, columns int) string {
	return ansi.Truncate(visible(text.Head(s, maxInk)), max(columns, 1), "…")
}

func visible(s string) string {
	return text.VisibleLine(strings.ReplaceAll(s, "\t", tab))
}

// Plural is "1 file" or "2 files".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", thousands(n), noun)
}

// thousands writes n with commas: 1,204.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// visibleText is visible for text of several lines.
func visibleText(s string) string { return text.Visible(strings.ReplaceAll(s, "\t", tab)) }
