package prompt

import (
	"fmt"
	"path"
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

// Diff renders pieces for Input.Shards; the pieces of a file must be adjacent.
func Diff(pieces []Piece) string {
	var b strings.Builder
	for i, p := range pieces {
		if i == 0 || pieces[i-1].File != p.File {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString("=== " + text.VisibleLine(p.File.Path) + kind(p.File) + "\n")
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

// kind returns what a file is besides modified, in parentheses.
func kind(f *diff.File) string {
	var what []string
	switch {
	case f.OldPath != "" && f.OldPath != f.Path:
		what = append(what, string(f.Status)+" from "+text.VisibleLine(f.OldPath))
	case f.Status != diff.Modified:
		what = append(what, string(f.Status))
	}
	if f.IsLink() {
		what = append(what, "a symbolic link")
	}
	if len(what) == 0 {
		return ""
	}
	return " (" + strings.Join(what, ", ") + ")"
}

// fileList lists as many changed files as fit into the given number of bytes: folder by
// folder, the one with the riskiest file first, and in each folder the riskiest first.
// A large change has hundreds of files, and every request contains the list.
func fileList(files []*diff.File, room int) string {
	var dirs []string
	inDir := map[string][]*diff.File{}
	for _, f := range files {
		dir := path.Dir(f.Path)
		if len(inDir[dir]) == 0 {
			dirs = append(dirs, dir)
		}
		inDir[dir] = append(inDir[dir], f)
	}
	var b strings.Builder
	listed := 0
	for _, dir := range dirs {
		line := ""
		if dir != "." {
			line = text.VisibleLine(dir) + "/: "
		}
		for i, f := range inDir[dir] {
			entry := entry(f)
			if b.Len()+len(line)+len(entry) > room {
				if i > 0 {
					b.WriteString(line + "\n")
				}
				fmt.Fprintf(&b, "and %d more files", len(files)-listed)
				return b.String()
			}
			if i > 0 {
				line += ", "
			}
			line += entry
			listed++
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// entry returns the line of one file in its folder.
func entry(f *diff.File) string {
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
	s := text.VisibleLine(path.Base(f.Path)) + kind(f)
	if added > 0 {
		s += fmt.Sprintf(" +%d", added)
	}
	if deleted > 0 {
		s += fmt.Sprintf(" -%d", deleted)
	}
	if f.Skip != "" {
		s += " not shown: " + text.VisibleLine(f.Skip)
	}
	return s
}
