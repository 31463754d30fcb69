package diff

import (
	"path"
	"strings"
	"unicode/utf8"
)

// Modes of files that are not regular files.
const (
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// Classify sets Skip, the reason not to review a file: binary, deleted, generated, vendored and minified
// files, lock files, links, submodules, and files of which only the mode or the path changed. Their hunks are
// kept, because analyzers read the added lines of all text. A rule's reason replaces that of a limit. It also
// sets Content.
//
// A change must not exempt itself (T5), so the base decides: by its attributes, or because it has a file of
// the same kind in the folder. Otherwise a new file that its own name or content calls generated or minified
// is reviewed, or Excused if it is long, and new third-party code is Excused. A moved file is skipped if the
// rule matches both paths. A file that cannot be read is reviewed. Pipelines, hooks and build files are
// always reviewed if they are text, whole if the change moves them there, and so is what a move makes code. Text that
// git takes for binary gets its hunks.
func (c *Change) Classify(at Trees) {
	if at.Base == nil {
		at.Base = func(string) ([]byte, error) { return nil, nil }
	}
	attrs := newAttributes(at.Attributes, at.Base)
	base := &known{read: at.Base, list: at.List}
	base.setInstalled(c)
	c.readEncoded(at, attrs)
	c.readMoved(at, attrs)
	for i := range c.Files {
		f := &c.Files[i]
		if why, itself := f.skip(attrs, base); why != "" {
			f.Skip, f.TooLarge, f.Excused = why, false, itself
		}
		f.Content = f.content(at.Base)
	}
}

// Trees are the files from which Classify decides. Any of them may be missing.
type Trees struct {
	Base, Head func(path string) ([]byte, error) // a file before the change, and after it
	List       func() ([]string, error)          // the paths of the base
	Attributes []byte                            // the base's root .gitattributes
}

// skip returns the reason not to review the file, "" for none, and whether only the file itself gives it.
func (f *File) skip(attrs *attributes, base *known) (why string, itself bool) {
	if why := f.skipKind(); why != "" {
		return why, false
	}
	a := attrs.get(f.Path)
	switch always := alwaysRead().MatchString(f.Path); {
	case f.Binary || f.looksBinary(a.text == unset):
		return "binary", a.diff != unset && (always || isCode(f.Path) || f.NewMode == "100755")
	case always:
		return "", false
	case a.vendored != unset && base.isInstalled(f.Path):
		return vendored, false
	}
	why, named := skipPath(f.Path, a)
	if why != "" && f.isNew() && named && !IsLock(f.Path) {
		return f.skipNamed(why, base)
	}
	if was, _ := skipPath(f.OldPath, attrs.get(f.OldPath)); why != "" && (f.OldPath == f.Path || was != "") {
		return why, false
	}
	return f.skipText(a, base)
}

// isNew reports whether the base has nothing at the file's path.
func (f *File) isNew() bool { return f.Status == Added || f.Status == Retyped }

// mostClaimed is how much of a new file is reviewed that calls itself generated or minified,
// in bytes of added lines. What generators write is longer than what people read.
const mostClaimed = 64 << 10

// claimed returns the reason to skip a new file that says it of itself.
func (f *File) claimed(why string, alike bool) (string, bool) {
	if alike {
		return why, false
	}
	n := 0
	for l := range f.AddedLines() {
		n += len(l.Text) + 1
	}
	if n <= mostClaimed {
		return "", false
	}
	return why, true
}

// skipNamed is skip for a new file whose path is the reason.
func (f *File) skipNamed(why string, base *known) (string, bool) {
	if why == vendored {
		return why, !base.vendored(f.Path)
	}
	return f.claimed(why, base.alike(f.Path, func(name string, _ []string) bool {
		there, _ := skipPath(name, attribute{})
		return there == why
	}))
}

// vendored is the reason to skip third-party code.
const vendored = "vendored"

// IsVendored reports whether the file is in a folder in which the base has third-party code.
func (f *File) IsVendored() bool { return f.Skip == vendored && !f.Excused }

// IsLink reports whether the file is a symbolic link after the change. Its only line is where it leads.
func (f *File) IsLink() bool { return f.NewMode == modeLink }

// skipKind returns the reason from the kind of change, "" for none.
func (f *File) skipKind() string {
	same := len(f.Hunks) == 0 && f.OldBlob == f.NewBlob
	switch {
	case f.Status == Deleted:
		return "deleted"
	case f.NewMode == modeSubmodule:
		return "submodule"
	case f.IsLink() && !alwaysRead().MatchString(f.Path) && !isCode(f.Path):
		return "symbolic link"
	case same && f.Status == Renamed && f.Skip != movedUnread:
		return "renamed without other changes"
	case same && f.Status == Copied:
		return "copied without other changes"
	case same && f.OldMode != f.NewMode && f.Status == Modified:
		return "only its mode changed"
	}
	return ""
}

// skipPath returns the reason from a file's path and attributes, "" for none, and whether it is the path.
func skipPath(name string, a attribute) (why string, named bool) {
	switch {
	case a.generated == set:
		return "generated (.gitattributes)", false
	case a.vendored == set:
		return "vendored (.gitattributes)", false
	case a.vendored != unset && isVendored(name):
		return vendored, true
	case a.generated == unset:
		return "", false
	case a.diff == unset:
		return "binary (.gitattributes)", false
	case IsLock(name):
		return "lock file", true
	case minifiedName().MatchString(name):
		return Minified, true
	case isGenerated(name):
		return "generated", true
	}
	return "", false
}

// skipText returns the reason from a file's content, "" for none, and whether only the
// content of a new file gives it.
func (f *File) skipText(a attribute, base *known) (why string, itself bool) {
	const generated = "generated (its header says so)"
	if a.generated == unset {
		return "", false
	}
	whole := len(f.Hunks) > 0 && f.Hunks[0].OldStart == 0 // what readMoved made of a moved file
	if f.isNew() || whole && f.OldPath != f.Path {
		top := f.addedTop()
		switch at := generatedHeader(f.Path, top); {
		case at >= 0:
			return f.claimed(generated, base.alike(f.Path, func(name string, lines []string) bool {
				there := generatedHeader(name, lines)
				return there >= 0 && generator(lines[there]) == generator(top[at])
			}))
		case f.isMinified(nil):
			return f.claimed(Minified, base.alike(f.Path, func(name string, lines []string) bool {
				return minifiedName().MatchString(name) || (&File{Path: name}).isMinified(lines)
			}))
		}
		return "", false
	}
	b, err := base.read(f.OldPath)
	if err != nil || len(b) == 0 {
		return "", false
	}
	old := strings.SplitAfter(string(b[:min(len(b), maxSniff)]), "\n")
	switch {
	case f.keepsHeader(old):
		return generated, false
	case f.isMinified(old):
		return Minified, false
	}
	return "", false
}

// isCode reports whether a file is code by its name, which no compiler reads if it is binary.
func isCode(name string) bool { return codeName().MatchString(name) }

var codeName = pattern(`(?i)\.(go|py[iw]?|rb|php|[cm]?[jt]sx?|vue|svelte|java|kts?|scala|groovy|cs|fs|vb|c|h|cc` +
	`|cpp|cxx|hh|hpp|hxx|inl|m|mm|s|asm|cu|d|mli?|nim|f90|pas|v|sv|swift|rs|zig|dart|exs?|erl|elm|hs|clj[cs]?|el|lua` +
	`|p[lm]|r|jl|ipynb|pyx|rake|phtml|php\d|inc|erb|ejs|jsp|aspx?|cshtml|razor|sql|(ba|z|k|fi|c)?sh|ps[dm]?1|bat` +
	`|cmd|vbs|awk|tcl|vim|coffee|html?|css|s[ac]ss|less|tf|hcl|nix|rego|bicep|graphql|proto|sol|ya?ml|toml|json|xml|ini)$`)

// Minified is the reason to skip a minified file.
const Minified = "minified"

// maxSniff is how much of the start of a file is checked, in bytes.
const maxSniff = 64 << 10

// keepsHeader reports whether the old file has a generator's header that the new one keeps.
func (f *File) keepsHeader(old []string) bool {
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
	minifiedName = pattern(`(?i)[.-]min\.(js|mjs|cjs|css|html|svg)$`)
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
type oddBytes struct{ nul, controls, invalid, all int }

func (o oddBytes) many() bool { return (o.nul+o.controls+o.invalid)*100 >= o.all*binaryShare }

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
				case r < ' ' && !strings.ContainsRune("\t\n\f\r\x1b", r):
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
