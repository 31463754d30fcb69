package diff

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Modes of what is not a regular file.
const (
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// Classify gives every file that no reviewer should read the reason, in Skip:
// binary, deleted, generated, vendored and minified files, lock files, links,
// submodules, and files of which only the mode or the path changed. Their hunks
// stay, because analyzers look at the added lines of all text. A rule's reason
// replaces that of a limit.
//
// A change may not excuse itself. What decides comes from the base: attributes
// is its root .gitattributes and read returns its other files, by the old path;
// both may be nil. Only a file that the change adds speaks for itself. A file
// that was moved is skipped if the rule holds for both its paths. A file that
// cannot be read is reviewed.
func (c *Change) Classify(read func(path string) ([]byte, error), attributes []byte) {
	if read == nil {
		read = func(string) ([]byte, error) { return nil, nil }
	}
	attrs := newAttributes(attributes, read)
	for i := range c.Files {
		f := &c.Files[i]
		if why := f.skip(attrs, read); why != "" {
			f.Skip, f.TooLarge = why, false
		}
	}
}

// skip returns the reason not to review the file, "" for none.
func (f *File) skip(attrs *attributes, read func(string) ([]byte, error)) string {
	same := len(f.Hunks) == 0 && f.OldBlob == f.NewBlob
	switch {
	case f.Status == Deleted:
		return "deleted"
	case f.NewMode == modeSubmodule:
		return "submodule"
	case f.NewMode == modeLink:
		return "symbolic link"
	case same && f.Status == Renamed:
		return "renamed without another change"
	case same && f.Status == Copied:
		return "copied without another change"
	case same && f.OldMode != f.NewMode && f.Status == Modified:
		return "only its mode changed"
	case f.Binary:
		return "binary"
	}
	a := attrs.get(f.Path)
	why := skipPath(f.Path, a)
	if why != "" && (f.OldPath == f.Path || skipPath(f.OldPath, attrs.get(f.OldPath)) != "") {
		return why
	}
	return f.skipText(a, read)
}

// skipPath returns the reason that a file's path and attributes give, "" for
// none.
func skipPath(name string, a attribute) string {
	switch {
	case a.generated == set:
		return "generated (.gitattributes)"
	case a.vendored == set:
		return "vendored (.gitattributes)"
	case a.vendored != unset && isVendored(name):
		return "vendored"
	case a.generated == unset:
		return ""
	case isLock(name):
		return "lock file"
	case minifiedName().MatchString(name):
		return "minified"
	case isGenerated(name):
		return "generated"
	}
	return ""
}

// skipText returns the reason that a file's content gives, "" for none.
func (f *File) skipText(a attribute, read func(string) ([]byte, error)) string {
	if f.looksBinary() {
		return "binary"
	}
	if a.generated == unset {
		return ""
	}
	var old []string
	if f.Status != Added && f.Status != Retyped {
		b, err := read(f.OldPath)
		if err != nil || len(b) == 0 {
			return ""
		}
		old = strings.SplitAfter(string(b[:min(len(b), maxSniff)]), "\n")
	}
	switch {
	case f.hasHeader(old):
		return "generated (its header says so)"
	case f.isMinified(old):
		return "minified"
	}
	return ""
}

// maxSniff bounds how much of a file is looked at, in bytes: what matters
// stands at its beginning.
const maxSniff = 64 << 10

// hasHeader tells whether a generator's header stands in the old file and
// stays in the new one. Without old lines, the file is new and its own header
// is read.
func (f *File) hasHeader(old []string) bool {
	if old == nil {
		return generatedHeader(f.Path, f.addedTop()) >= 0
	}
	at := generatedHeader(f.OldPath, old)
	if at < 0 {
		return false
	}
	for h := range f.Hunks {
		for _, l := range f.Hunks[h].Lines {
			if l.Op == Delete && l.Old == at+1 {
				return generatedHeader(f.Path, f.addedTop()) >= 0
			}
		}
	}
	return true
}

// addedTop returns the lines that the change adds among the file's first ones.
func (f *File) addedTop() []string {
	var lines []string
	for l := range f.AddedLines() {
		if l.New > headerLines {
			break
		}
		lines = append(lines, l.Text)
	}
	return lines
}

// What makes a script minified: longer lines on average than anyone writes
// (the measure of github-linguist), and one that no screen shows.
const (
	minifiedMean = 110
	minifiedLine = 500
)

var (
	minifiedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)[.-]min\.(js|mjs|cjs|css|html|svg)$`) })
	minifiable   = map[string]bool{".js": true, ".mjs": true, ".cjs": true, ".css": true}
)

// isMinified tells whether the old file, or a new one, is minified.
func (f *File) isMinified(old []string) bool {
	if !minifiable[strings.ToLower(path.Ext(f.Path))] {
		return false
	}
	lines, bytes, longest := 0, 0, 0
	count := func(s string) {
		lines++
		bytes += len(s)
		longest = max(longest, len(s))
	}
	for _, l := range old {
		count(l)
	}
	if old == nil {
		for l := range f.AddedLines() {
			count(l.Text)
		}
	}
	return lines > 0 && bytes/lines > minifiedMean && longest > minifiedLine
}

// binaryShare is the share of bytes that no text has, in percent, from which
// on a file with a NUL is binary. One NUL does not make it so: that would be
// a way not to be read.
const binaryShare = 10

// looksBinary tells whether the lines are no text, which git shows when it is
// told to take everything for text.
func (f *File) looksBinary() bool {
	nul, odd, all := false, 0, 0
	for h := range f.Hunks {
		for _, l := range f.Hunks[h].Lines {
			for i, r := range l.Text {
				switch {
				case r == 0:
					nul = true
					odd++
				case r < ' ' && r != '\t' && r != '\f' && r != '\r' && r != 0x1b:
					odd++
				case r == utf8.RuneError && !strings.HasPrefix(l.Text[i:], string(utf8.RuneError)):
					odd++
				}
				all++
			}
			if all > maxSniff {
				return nul && odd*100 >= all*binaryShare
			}
		}
	}
	return nul && odd*100 >= all*binaryShare
}
