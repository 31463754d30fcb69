package memory

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
)

// Scope says how far a rejection of a pattern reaches.
type Scope string

// The scopes, narrowest first.
const (
	InSymbol    Scope = "symbol"     // the same symbol of the same file
	InDirectory Scope = "directory"  // files in the rejected one's folder and below it; of the root, in it alone
	InRepo      Scope = "repository" // everywhere
)

// What people write when they mean more than the place before them. Only plain
// phrases count: a doubtful one leaves the narrowest scope, because a rule that
// reaches too far hides what nobody has looked at.
var (
	repoWide = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(in|across|throughout|for|within) (this|the|our|that) (whole |entire )?(repo|repository|project|code ?base|monorepo)([\s.,;:!)]|$)|\b(repo|repository|project|codebase)-wide\b`)
	})
	dirWide = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(in|under|for|within|across) (this|the|our|that|these) (whole |entire )?(dir|directory|directories|folder|folders|package|packages|module)\b|` +
			`\bwe (do not|don['’]?t|never|deliberately do not|deliberately don['’]?t) [^.!?]*\bhere\b`)
	})
	// never is an order about the remark, as in "never in this repo", "never
	// flag this" or "never again". "The error is never nil here" is none.
	never = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\W*never\W*$|` +
			`\bnever (in|under|within|across|throughout|for) (this|the|our|that|these) (whole |entire )?(repo|repository|project|code ?base|monorepo|dir|directory|folder|package|module|file)s?\b|` +
			`\bnever (again|flag|report|raise|mention|show|warn|complain|comment|post|suggest|tell|say|bring|point out|remark)\b`)
	})
)

// ScopeOf reads from a person's reason how far it reaches: "intended here" means
// the symbol, "we don't do this here" the directory, "never in this repo" the
// repository. A reason that says nothing of it means the symbol.
func ScopeOf(reason string) Scope {
	switch {
	case repoWide().MatchString(reason):
		return InRepo
	case dirWide().MatchString(reason):
		return InDirectory
	}
	return InSymbol
}

// Never tells whether the reason is an explicit "never": then one rejection of
// the pattern is enough.
func Never(reason string) bool { return never().MatchString(reason) }

// includes tells whether a rejection with the scope, made of a finding in the
// file and symbol, speaks about f.
func (s Scope) includes(file, symbol string, f *precedent.Finding) bool {
	switch s {
	case InRepo:
		return true
	case InDirectory:
		if dir := path.Dir(file); dir != "." {
			return strings.HasPrefix(f.Path, dir+"/")
		}
		// Everything is below the root; somebody who said "here" meant less.
		return path.Dir(f.Path) == "."
	}
	return f.Path == file && f.Symbol == symbol
}
