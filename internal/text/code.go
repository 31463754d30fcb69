package text

import (
	"path"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// syntax says how comments begin and end in a family of languages.
type syntax struct {
	line   []string    // begin a comment up to the end of the line
	spaced bool        // but only after white space or at the start of the line
	block  [][2]string // begin and end a comment of any length
	triple bool        // three quotes begin a string of several lines: a comment if nothing is before it
	ticks  bool        // a backtick begins a string of several lines
	script bool        // in such a string, a backslash hides a backtick; and there are regular expressions between slashes
	here   bool        // a label behind <<~, <<- or <<< begins a string up to the line with the label
}

var (
	slashes = syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, ticks: true}
	script  = syntax{line: slashes.line, block: slashes.block, ticks: true, script: true}
	hashes  = syntax{line: []string{"#"}}
	ruby    = syntax{line: []string{"#"}, here: true}
	shell   = syntax{line: []string{"#"}, spaced: true}
	python  = syntax{line: []string{"#"}, triple: true}
	mixed   = syntax{line: []string{"//", "#"}, block: slashes.block, here: true} // PHP, Terraform
	sql     = syntax{line: []string{"--"}, block: slashes.block}
	lua     = syntax{line: []string{"--"}, block: [][2]string{{"--[[", "]]"}}}
	haskell = syntax{line: []string{"--"}, block: [][2]string{{"{-", "-}"}}}
	lisp    = syntax{line: []string{";"}}
	percent = syntax{line: []string{"%"}}
	markup  = syntax{block: [][2]string{{"<!--", "-->"}}}
	page    = syntax{
		line: []string{"//"}, block: [][2]string{{"/*", "*/"}, {"<!--", "-->"}}, ticks: true, script: true,
	} // scripts in markup
	anything = syntax{line: []string{"//", "#", "--", ";"}, spaced: true, block: page.block}
)

// syntaxes are the languages by extension.
var syntaxes = sync.OnceValue(func() map[string]*syntax {
	all := map[string]*syntax{}
	for extensions, s := range map[string]*syntax{
		"go c h cc cpp cxx hh hpp hxx m mm cu java kt kts scala groovy gradle swift rs cs": &slashes,
		"dart proto zig css scss less sol v":                                               &slashes,
		"js jsx mjs cjs ts tsx mts cts":                                                    &script,
		"rb rake gemspec ru":                                                               &ruby,
		"toml r pl pm tcl awk cmake":                                                       &hashes,
		"sh bash zsh ksh bats fish yaml yml mk conf properties ps1":                        &shell,
		"py pyi pyx bzl star ex exs nim jl":                                                &python,
		"php tf hcl":                                                                       &mixed,
		"sql":                                                                              &sql,
		"lua":                                                                              &lua,
		"hs elm adb ads vhd":                                                               &haskell,
		"lisp el clj cljs scm asm s ini":                                                   &lisp,
		"tex erl hrl":                                                                      &percent,
		"xml svg md markdown xaml plist":                                                   &markup,
		"html htm xhtml vue svelte astro jsp":                                              &page,
	} {
		for e := range strings.FieldsSeq(extensions) {
			all[e] = s
		}
	}
	return all
})

// CodeLines returns what is left of each line of a file without comments. The name of
// the file says which language it is. It knows strings and comments and no grammar.
func CodeLines(name string, lines []string) []string { return codeLines(name, lines, false) }

// BareLines is CodeLines without what strings contain: of a string, the quotes are left on the line that it begins on.
func BareLines(name string, lines []string) []string { return codeLines(name, lines, true) }

func codeLines(name string, lines []string, bare bool) []string {
	base := strings.ToLower(path.Base(name))
	s := syntaxes()[strings.TrimPrefix(path.Ext(base), ".")]
	switch {
	case strings.HasSuffix(base, "makefile"), strings.HasPrefix(base, "dockerfile"):
		s = &shell
	case s == nil:
		s = &anything
	}
	r := codeReader{syntax: s, bare: bare}
	code := make([]string, len(lines))
	for i, l := range lines {
		code[i] = r.read(l)
	}
	return code
}

// keywords are words of programming languages that are no names.
var keywords = sync.OnceValue(func() map[string]bool {
	return wordSet(`
if else elif elsif unless for foreach while until do loop switch case match when default break continue goto
return yield try catch except finally raise throw throws defer go func function fn def fun lambda class struct
interface enum trait impl type typedef union namespace package module import from include require use using
extern public private protected internal static final const let var val mut pub readonly volatile new delete
del this self super in is as of not and or xor nil null none undefined true false pass with async await end
begin then fi done esac void int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 long short char byte
bool boolean float float32 float64 double string str any chan map range select error auto register sizeof
typeof instanceof echo set
`)
})

// Names returns the identifiers in code of one line, keywords and strings aside.
func Names(code string) []string {
	var names []string
	open := "" // quotes that nothing on the rest of the line closes
	for i := 0; i < len(code); {
		n := 0
		if strings.IndexByte("\"'`", code[i]) >= 0 {
			if strings.IndexByte(open, code[i]) < 0 {
				if n = stringLen(code[i:], false); n == 1 {
					open += code[i : i+1]
				}
			}
		} else if n = wordLen(code[i:]); n > 0 {
			w := strings.Trim(code[i:i+n], "'’")
			if r, _ := utf8.DecodeRuneInString(w); !unicode.IsDigit(r) && !keywords()[strings.ToLower(w)] {
				names = append(names, w)
			}
		}
		i += max(n, 1)
	}
	return names
}

// codeReader is what the next line begins in.
type codeReader struct {
	*syntax
	bare  bool   // what strings contain is left out
	until string // ends the comment or string of several lines; empty outside of one
	kept  bool   // it is a string, which is code
	label string // ends the string of several lines on a line of its own; empty outside of one
}

// label begins a string up to the line with the label.
var label = Pattern(`^<<[<~-]["'\x60]?([A-Za-z_]\w*)["'\x60]?`)

// read returns the code of a line.
func (r *codeReader) read(l string) string {
	if r.label != "" {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(l, " \t"), r.label); ok && (rest == "" || !isWord(rune(rest[0]))) {
			r.label = ""
		}
		if r.bare {
			return ""
		}
		return l
	}
	var b strings.Builder
	open := "" // quotes that nothing on the rest of the line closes
	first := true
	for i := 0; i < len(l); {
		rest := l[i:]
		if r.until != "" {
			end := strings.Index(rest, r.until)
			if r.until == "`" {
				end = stringLen("`"+rest, r.script) - 2
			}
			part := rest
			if end >= 0 {
				part = rest[:end+len(r.until)]
				r.until = ""
			}
			if r.kept && !r.bare {
				b.WriteString(part)
			}
			i += len(part)
			continue
		}
		n := r.comment(l, i, first)
		if n < 0 {
			break
		}
		if n > 0 {
			if r.kept && r.until != "" {
				b.WriteString(rest[:n])
			}
			i += n
			continue
		}
		if r.here && strings.HasPrefix(rest, "<<") {
			if m := label().FindStringSubmatch(rest); m != nil {
				r.label = m[1]
				b.WriteString(m[0])
				i += len(m[0])
				continue
			}
		}
		switch n = 1; {
		case strings.IndexByte(open, rest[0]) >= 0:
		case strings.IndexByte("\"'`", rest[0]) >= 0 || r.script && rest[0] == '/' && mayBeLiteral(l[:i]):
			if n = stringLen(rest, r.script); n == 1 {
				open += rest[:1]
			}
			if n == 1 && rest[0] == '`' && r.ticks {
				r.until, r.kept = "`", true
			}
		default:
			_, n = utf8.DecodeRuneInString(rest)
		}
		if part := rest[:n]; r.bare && n > 1 && part[0] == part[n-1] {
			b.WriteString(part[:1] + part[n-1:])
		} else {
			b.WriteString(part)
		}
		first = first && strings.TrimSpace(rest[:n]) == ""
		i += n
	}
	return b.String()
}

// mayBeLiteral reports whether a slash behind code can begin a regular expression. Elsewhere, it divides or closes a tag.
func mayBeLiteral(before string) bool {
	before = strings.TrimRight(before, " \t")
	if before == "" || strings.HasSuffix(before, "=>") {
		return true
	}
	name, returns := strings.CutSuffix(before, "return")
	return strings.IndexByte("(,=:[!&|?{;+", before[len(before)-1]) >= 0 ||
		returns && (name == "" || !isWord(rune(name[len(name)-1])))
}

// comment returns the length of the mark at an index that begins a comment or string of several lines, -1 if
// the rest of the line is a comment, and 0 otherwise. first tells that no code is before it.
func (r *codeReader) comment(l string, i int, first bool) int {
	rest := l[i:]
	if r.triple {
		for _, mark := range []string{`"""`, `'''`} {
			if strings.HasPrefix(rest, mark) {
				r.until, r.kept = mark, !first
				return len(mark)
			}
		}
	}
	for _, m := range r.block {
		if strings.HasPrefix(rest, m[0]) {
			r.until, r.kept = m[1], false
			return len(m[0])
		}
	}
	before, _ := utf8.DecodeLastRuneInString(l[:i])
	if r.spaced && i > 0 && !unicode.IsSpace(before) {
		return 0
	}
	for _, mark := range r.line {
		if strings.HasPrefix(rest, mark) {
			return -1
		}
	}
	return 0
}

// stringLen returns the length of the string that a quote at the start of s begins, 1 if it does not end in s. In a
// script, a backslash hides a backtick, too, and a slash begins a regular expression.
func stringLen(s string, script bool) int {
	class := false // within brackets, a slash is one of the characters
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && (script || s[0] != '`'):
			i++
		case s[0] == '/' && (class || s[i] == '['):
			class = s[i] != ']'
		case s[i] == s[0]:
			return i + 1
		}
	}
	return 1
}
