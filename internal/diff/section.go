package diff

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

const devNull = "/dev/null"

// addSection adds the file of a section of a plain patch.
func (p *parser) addSection(h *header) error {
	g, err := h.parse()
	if err != nil {
		return err
	}
	f, err := fileOf(g)
	if err != nil {
		return err
	}
	if f.OldBlob, f.NewBlob = h.blobs(); f.Status == Added && p.retypes(f) {
		i := len(p.change.Files) - 1
		before := &p.change.Files[i]
		before.Status, before.NewMode, before.NewBlob = Retyped, f.NewMode, f.NewBlob
		p.setFile(i, h)
		return nil
	}
	if p.seen[f.Path] {
		return fmt.Errorf("%q occurs twice: this is a series of patches, not one", f.Path)
	}
	p.seen[f.Path] = true
	i, err := p.addFile(f)
	if err != nil {
		return err
	}
	p.setFile(i, h)
	return nil
}

// retypes reports whether an added file is the one that was just deleted: git writes
// a change of type as both.
func (p *parser) retypes(f File) bool {
	n := len(p.change.Files)
	return n > 0 && p.change.Files[n-1].Status == Deleted && p.change.Files[n-1].Path == f.Path
}

func (h *header) parse() (*gitdiff.File, error) {
	var text strings.Builder
	for _, l := range h.lines {
		// gitdiff misreads a quoted name that ends in an escaped backslash; written in octal it works.
		if strings.Contains(l, `"`) {
			l = strings.ReplaceAll(l, `\\`, `\134`)
		}
		text.WriteString(l + "\n")
	}
	files, _, err := gitdiff.Parse(strings.NewReader(text.String()))
	if err == nil && len(files) != 1 {
		err = errors.New("header does not name a file")
	}
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

func fileOf(g *gitdiff.File) (File, error) {
	f := File{Status: Modified, Path: g.NewName, OldPath: g.OldName, OldMode: mode(g.OldMode), NewMode: mode(g.NewMode)}
	f.NewMode = cmp.Or(f.NewMode, f.OldMode)
	switch {
	case g.IsNew:
		f.Status, f.OldPath, f.OldMode = Added, f.Path, absent
	case g.IsDelete:
		f.Status, f.Path, f.NewMode = Deleted, f.OldPath, absent
	case g.IsRename:
		f.Status = Renamed
	case g.IsCopy:
		f.Status = Copied
	}
	if f.Path == "" || f.OldPath == "" || f.Path == devNull || f.OldPath == devNull {
		return File{}, errors.New("header does not name a file")
	}
	if f.Path != f.OldPath && f.Status == Modified {
		return File{}, fmt.Errorf("header names two files, %q and %q, without a rename", f.OldPath, f.Path)
	}
	return f, nil
}

// mode formats a mode as in git's records. gitdiff keeps git's own bits.
func mode(m os.FileMode) string {
	if m == 0 {
		return ""
	}
	return fmt.Sprintf("%06o", uint32(m)&0o777777)
}
