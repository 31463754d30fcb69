package prompt

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// Piece is a hunk that a prompt shows, or a part of one.
type Piece struct {
	File *diff.File
	Hunk *diff.Hunk
	// Also are the places, as path:line, of hunks elsewhere that delete and add
	// the same lines and are not shown.
	Also []string
}

// maxAlso bounds the places that are listed for one piece.
const maxAlso = 8

// Diff renders pieces for Input.Shards, those of one file one behind the other.
func Diff(pieces []Piece) string {
	var b strings.Builder
	for i, p := range pieces {
		if i == 0 || pieces[i-1].File != p.File {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString("=== " + name(p.File) + "\n")
		}
		p.Hunk.Numbered(&b)
		if n := len(p.Also); n > 0 {
			fmt.Fprintf(&b, "(the same edit in %d other places, not shown: ", n)
			for j, place := range p.Also[:min(n, maxAlso)] {
				if j > 0 {
					b.WriteString(", ")
				}
				b.WriteString(text.VisibleLine(place))
			}
			if n > maxAlso {
				b.WriteString(", …")
			}
			b.WriteString(")\n")
		}
	}
	return b.String()
}

// name is a file's path and what happened to it.
func name(f *diff.File) string {
	what := string(f.Status)
	if f.OldPath != "" && f.OldPath != f.Path {
		what += " from " + text.VisibleLine(f.OldPath)
	}
	return text.VisibleLine(f.Path) + " (" + what + ")"
}

// fileList lists the changed files, as many as fit into so many bytes.
func fileList(files []*diff.File, room int) string {
	var b strings.Builder
	for i, f := range files {
		added, deleted := 0, 0
		for h := range f.Hunks {
			for l := range f.Hunks[h].Lines {
				switch f.Hunks[h].Lines[l].Op {
				case diff.Add:
					added++
				case diff.Delete:
					deleted++
				}
			}
		}
		line := fmt.Sprintf("%s +%d -%d", name(f), added, deleted)
		if f.Skip != "" {
			line += ", not shown: " + text.VisibleLine(f.Skip)
		}
		if b.Len()+len(line) > room {
			fmt.Fprintf(&b, "and %d more files\n", len(files)-i)
			break
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
