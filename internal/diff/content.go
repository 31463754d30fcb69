package diff

import (
	"path"
	"strings"
)

// Content is what the lines of a file hold. It decides which characters belong in
// them, not whether they are reviewed.
type Content string

// The contents that are neither code nor prose.
const (
	Catalogue Content = "catalogue" // texts of a program in the languages of its users
	Data      Content = "data"      // bytes that are not text
)

// content returns the content of a file after its name, its first line and its bytes.
// For a file that the base has, the first line is the base's.
func (f *File) content(read func(string) ([]byte, error)) Content {
	switch {
	case isCatalogue(f.Path) && isCatalogue(f.OldPath):
		return Catalogue
	case isQtSource(f.Path) && f.isQt(read):
		return Catalogue
	case f.oddBytes().mixed():
		return Data
	}
	return ""
}

// catalogueNames match catalogues whatever their folder: gettext, XLIFF, Apple, .NET,
// Flutter, Fluent, Android, Java.
var catalogueNames = pattern(`\.(po|pot|xlf|xliff|strings|stringsdict|xcstrings|resx|resw|arb|ftl)$` +
	`|(^|/)values-[a-z]{2,3}(-r[A-Z]{2})?/[^/]+\.xml$` +
	`|_[a-z]{2}(_[A-Z]{2})?\.properties$` +
	`|(^|/)messages/[a-z]{2}([-_][a-zA-Z]{2,4})?(/[^/]+)?\.json$` +
	`|(^|/)strings/[a-z]{2,3}([-_]\w{2,4})?\.json$`)

// catalogueDirs are folders with a file or a folder for each language. Those of Windows' pseudo-languages, whose texts
// look like English in other alphabets, begin with qps-plo.
var catalogueDirs = nameSet("locale locales i18n l10n lang langs languages translation translations nls localization localizations nativelang moko-resources")

// catalogueData matches data, which can be a catalogue only in such a folder.
var catalogueData = pattern(`\.(json|json5|jsonc|ya?ml|toml|xml|properties|ini|csv|tsv|lang)$`)

func isCatalogue(name string) bool {
	if catalogueNames().MatchString(name) {
		return true
	}
	if !catalogueData().MatchString(name) {
		return false
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		if catalogueDirs[strings.ToLower(strings.TrimLeft(dir, "_"))] || strings.HasSuffix(dir, ".lproj") || strings.HasPrefix(dir, "qps-plo") {
			return true
		}
	}
	return false
}

// isQtSource reports whether a file can be a catalogue of Qt: TypeScript uses the same ending.
func isQtSource(name string) bool { return path.Ext(name) == ".ts" }

// isQt reports whether the first line is XML of Qt, which no TypeScript begins with.
func (f *File) isQt(read func(string) ([]byte, error)) bool {
	top := ""
	if f.Status == Added || f.Status == Retyped {
		top = strings.Join(f.addedTop(), "\n")
	} else if b, err := read(f.OldPath); err == nil && isQtSource(f.OldPath) {
		top = string(b[:min(len(b), headerLineBytes)])
	}
	top = strings.TrimLeft(strings.TrimPrefix(top, "\ufeff"), " \t\r\n")
	return strings.HasPrefix(top, "<?xml ") || strings.HasPrefix(top, "<!DOCTYPE TS>") || strings.HasPrefix(top, "<TS ")
}
