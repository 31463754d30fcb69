package memory

import (
	"path"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Scope is the part of the repository in which a dismissal applies to similar findings.
type Scope string

// The scopes, narrowest first.
const (
	InSymbol    Scope = "symbol"     // the same symbol of the same file
	InDirectory Scope = "directory"  // files in the same folder and below it; for the root, in the root only
	InRepo      Scope = "repository" // everywhere
)

// Phrases for a wider scope. Only explicit ones count; anything else means the narrowest
// scope, because a scope that is too wide hides findings that nobody has seen.
var (
	repoWide = text.Pattern(`(?i)\b(in|across|throughout|for|within) (this|the|our|that) (whole |entire )?(repo|repository|project|code ?base|monorepo)([\s.,;:!)]|$)|\b(repo|repository|project|codebase)-wide\b`)
	dirWide  = text.Pattern(`(?i)\b(in|under|for|within|across) (this|the|our|that|these) (whole |entire )?(dir|directory|directories|folder|folders|package|packages|module)\b|` +
		`\bwe (do not|don['’]?t|never|deliberately do not|deliberately don['’]?t) [^.!?]*\bhere\b`)
	// never matches instructions about the remark, such as "never in this repo", "never flag
	// this" or "never again", but not "the error is never nil here".
	never = text.Pattern(`(?i)^\W*never\W*$|` +
		`\bnever (in|under|within|across|throughout|for) (this|the|our|that|these) (whole |entire )?(repo|repository|project|code ?base|monorepo|dir|directory|folder|package|module|file)s?\b|` +
		`\bnever (again|flag|report|raise|mention|show|warn|complain|comment|post|suggest|tell|say|bring|point out|remark)\b`)
)

// ScopeOf returns the scope that a reason asks for: "intended here" means the symbol, "we
// don't do this here" the directory, "never in this repo" the repository. The default is the
// symbol.
func ScopeOf(reason string) Scope {
	switch {
	case repoWide().MatchString(reason):
		return InRepo
	case dirWide().MatchString(reason):
		return InDirectory
	}
	return InSymbol
}

// Never reports whether the reason is an explicit "never": then one dismissal is enough to drop
// similar findings.
func Never(reason string) bool { return never().MatchString(reason) }

// includes reports whether a dismissal with the scope, of a finding in the file and symbol,
// applies to f.
func (s Scope) includes(file, symbol string, f *precedent.Finding) bool {
	switch s {
	case InRepo:
		return true
	case InDirectory:
		if dir := path.Dir(file); dir != "." {
			return strings.HasPrefix(f.Path, dir+"/")
		}
		// Everything is below the root; "here" means less than that.
		return path.Dir(f.Path) == "."
	}
	return f.Path == file && f.Symbol == symbol
}
