package diff

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Modes of files that are not regular files.
const (
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// Classify sets Skip, the reason not to review a file: binary, deleted, generated,
// vendored and minified files, lock files, links, submodules, and files of which only
// the mode or the path changed. Their hunks are kept, because analyzers read the
// added lines of all text. A rule's reason replaces that of a limit. It also sets
// Content.
//
// A change must not exempt itself, so the base decides: attributes is its root
// .gitattributes, and read returns its other files, by old path; both may be nil.
// Only for a file that the change adds, its own content counts. A moved file is
// skipped if the rule matches both paths. A file that cannot be read is reviewed.
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
		f.Content = f.content(read)
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
		return "renamed without other changes"
	case same && f.Status == Copied:
		return "copied without other changes"
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

// skipPath returns the reason from a file's path and attributes, "" for none.
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
	case a.diff == unset:
		return "binary (.gitattributes)"
	case isLock(name):
		return "lock file"
	case minifiedName().MatchString(name):
		return Minified
	case isGenerated(name):
		return "generated"
	}
	return ""
}

// skipText returns the reason from a file's content, "" for none.
func (f *File) skipText(a attribute, read func(string) ([]byte, error)) string {
	if f.looksBinary(a.text == unset) {
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
		return Minified
	}
	return ""
}

// Minified is the reason to skip a minified file.
const Minified = "minified"

// maxSniff is how much of the start of a file is checked, in bytes.
const maxSniff = 64 << 10

// hasHeader reports whether the old file has a generator's header that the new one
// keeps. For a new file (no old lines), its own header counts.
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

// addedTop returns the added lines among the first lines of the file.
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

// A script is minified if its lines are longer on average than anyone writes
// (github-linguist's measure), and one is too long for any screen.
const (
	minifiedMean = 110
	minifiedLine = 500
)

var (
	minifiedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)[.-]min\.(js|mjs|cjs|css|html|svg)$`) })
	minifiable   = map[string]bool{".js": true, ".mjs": true, ".cjs": true, ".css": true}
)

// isMinified reports whether the old file, or a new one, is minified.
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

// binaryShare is the share of non-text bytes, in percent, from which a file with a
// NUL counts as binary. One NUL is not enough: it would be a way to avoid review.
const binaryShare = 10

// oddBytes counts the characters of lines that do not belong in text.
type oddBytes struct {
	nul, controls, invalid, all int
}

func (o oddBytes) many() bool {
	return (o.nul+o.controls+o.invalid)*100 >= o.all*binaryShare
}

// mixed reports whether the lines have control characters and invalid bytes. Text in
// an old encoding has only the latter.
func (o oddBytes) mixed() bool { return o.controls > 0 && o.invalid > 0 }

// looksBinary reports whether the lines are binary. git shows them if it is told to
// treat everything as text, and if there is no NUL near the start. If the attributes
// say that line endings must not be converted, any bytes that are no text count.
func (f *File) looksBinary(exact bool) bool {
	o := f.oddBytes()
	return (o.nul > 0 || o.mixed() || exact && o.controls+o.invalid > 0) && o.many()
}

// oddBytes reads the first maxSniff characters of the lines.
func (f *File) oddBytes() (o oddBytes) {
	for h := range f.Hunks {
		for _, l := range f.Hunks[h].Lines {
			for i, r := range l.Text {
				switch {
				case r == 0:
					o.nul++
				case r < ' ' && r != '\t' && r != '\f' && r != '\r' && r != 0x1b:
					o.controls++
				case r == utf8.RuneError && !strings.HasPrefix(l.Text[i:], string(utf8.RuneError)):
					o.invalid++
				}
				o.all++
			}
			if o.all > maxSniff {
				return o
			}
		}
	}
	return o
}
