package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/text"
)

// The kinds of notes: what a round of a server says about a pull request, apart from reviews. The
// cycles of the labels are counted from the markers of all kinds.
const (
	GateFailed  Kind = "gate"   // the build or a test failed, so that nothing was reviewed
	ChecksEnded Kind = "checks" // the checks of CI failed, or took too long
	Fixed       Kind = "fixed"  // a fix was pushed
	Unfixed     Kind = "nofix"  // an attempt to fix pushed nothing
	GivenUp     Kind = "giveup" // people have to look: the cycles are counted anew from here
	Remark      Kind = "note"   // anything else, which counts for nothing
)

// Notes are the kinds of notes.
var Notes = []Kind{GateFailed, ChecksEnded, Fixed, Unfixed, GivenUp, Remark}

// IsNote tells whether comments of the kind are notes.
func (k Kind) IsNote() bool { return slices.Contains(Notes, k) }

// Limits of a note.
const (
	maxItems   = 20
	maxName    = 100 // characters
	maxAddress = 300 // bytes; a longer one is left out
)

// Note is what a note says. Only Lead and End are words of ours, as Markdown.
type Note struct {
	Lead  string     `json:"lead"`
	After string     `json:"after,omitempty"` // a sentence from outside, on the line of Lead
	Text  string     `json:"text,omitempty"`  // prose from outside
	Items []NoteItem `json:"items,omitempty"` // a list; from the 21st on they are only counted
	Log   string     `json:"log,omitempty"`   // what a program printed
	// Suggestion are the lines to commit in place of those of the conversation; empty for none.
	Suggestion []string `json:"suggestion,omitempty"`
	Patch      string   `json:"patch,omitempty"` // as git prints it
	End        string   `json:"end,omitempty"`
}

// NoteItem is an item of a note. All of it is from outside.
type NoteItem struct {
	Name  string `json:"name"`
	Words string `json:"words,omitempty"`
	// URL is the address of a page. On a host that links must not lead to, it is shown as code.
	URL string `json:"url,omitempty"`
}

// Note writes a note, whose kind is the marker's.
func (w Writer) Note(n Note, m Marker) string {
	d := &draft{Writer: w, own: w.own()}
	if n.After != "" {
		n.Lead += " " + d.phrase(n.After)
	}
	d.block(n.Lead)
	if n.Text != "" {
		d.block(markdown.Body(sanitize(n.Text, d.own), w.Links)...)
	}
	var list []string
	for _, item := range n.Items[:min(len(n.Items), maxItems)] {
		list = append(list, d.item(item))
	}
	if more := len(n.Items) - maxItems; more > 0 {
		list = append(list, fmt.Sprintf("- … and %d more", more))
	}
	d.block(list...)
	if all := strings.Join(n.Suggestion, "\n"); len(n.Suggestion) > 0 {
		if block := d.committable(all); block != nil {
			d.block(block...)
		} else {
			d.block(d.changed(all)...)
		}
	}
	if n.Patch != "" {
		lines := strings.Split(strings.TrimRight(sanitize(n.Patch, d.own), "\n"), "\n")
		d.block(markdown.Fenced("diff", func(int) string { return "" }, lines)...)
		if len(n.Patch) > maxOutside {
			d.block("The rest of the change is left out.")
		}
	}
	if n.Log != "" { // a line that begins with a command is none behind a mark
		lines := strings.Split(strings.TrimRight(sanitize(n.Log, d.own), "\n"), "\n")
		d.block(markdown.Fenced("text", func(int) string { return "| " }, lines)...)
	}
	if n.End != "" {
		d.block(n.End)
	}
	return w.seal(strings.Join(d.blocks, "\n\n"), m, d.own)
}

func (d *draft) item(i NoteItem) string {
	name := d.code(text.Cut(i.Name, maxName))
	if len(i.URL) > maxAddress {
		i.URL = ""
	}
	linked := markdown.Link(name, i.URL, d.Links)
	line := "- " + linked
	if i.Words != "" {
		line += ": " + d.phrase(i.Words)
	}
	if i.URL != "" && linked == name {
		line += " (" + d.code(i.URL) + ")"
	}
	return line
}
