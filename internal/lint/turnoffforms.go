package lint

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// turnOffForm is a way in which a linter's comment turns rules off.
type turnOffForm struct {
	files string // endings of files, or whole names
	has   string // text that every such comment has
	form  func() *regexp.Regexp
	tools []string
	scope scope
	named bool // it needs names to count
	until string
}

// where is the place of a comment.
type where struct {
	lines []string
	i     int  // its line, from 0
	end   int  // the line, from 1, of the comment that ends it, or the last one
	alone bool // there is nothing else on its line
}

// scope returns the first and the last line, from 1, that a comment counts for.
type scope func(where) (from, to int)

func thisLine(w where) (from, to int) { return w.i + 1, w.i + 1 }

func wholeFile(w where) (from, to int) { return 1, len(w.lines) }

// nextLine counts for the next line with code: linters allow several comments in a row.
func nextLine(w where) (from, to int) {
	const most = 10 // lines in between
	n := w.i + 1
	for n < len(w.lines)-1 && n-w.i < most && (strings.TrimSpace(w.lines[n]) == "" || isComment(w.lines[n])) {
		n++
	}
	return w.i + 1, n + 1
}

// besideOrNext counts for its line if there is code on it, else for the next one.
func besideOrNext(w where) (from, to int) {
	if w.alone {
		return nextLine(w)
	}
	return thisLine(w)
}

// fromHere counts up to the comment that turns the rules on again, or the end. Beside
// code it counts for its line.
func fromHere(w where) (from, to int) {
	if w.alone {
		return w.i + 1, w.end
	}
	return thisLine(w)
}

// declaration counts for what an annotation stands before: up to the end of its
// braces, or to its semicolon. It ignores that braces can be in strings; a linter that
// knows better has already left the result out.
func declaration(w where) (from, to int) {
	const most = 256 << 10 // bytes of a class
	depth, size := 0, 0
	for n := w.i; n < len(w.lines) && size < most; n++ {
		line := w.lines[n]
		if size += len(line) + 1; n == w.i { // the annotation itself can have braces
			_, line, _ = strings.Cut(line, ")")
		}
		for _, r := range line {
			switch {
			case r == '{':
				depth++
			case r == '}':
				if depth--; depth <= 0 {
					return w.i + 1, n + 1
				}
			case r == ';' && depth == 0:
				return w.i + 1, n + 1
			}
		}
	}
	return w.i + 1, w.i + 1
}

func isComment(line string) bool {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"#", "//", "/*", "*", "<!--", "--"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

func lazily(form string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
}

const (
	pythonFiles = ".py .pyi"
	scriptFiles = ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte"
	shellFiles  = ".sh .bash .ksh .dash .bats .zsh"
	cFiles      = ".c .h .cc .cpp .cxx .hpp .hh .hxx .m .mm .cu"
	rubyFiles   = ".rb .rake .gemspec .ru Rakefile Gemfile"
	javaFiles   = ".java .kt .kts .scala .groovy"
)

var (
	noqaTools   = []string{"ruff", "flake8", "pycodestyle", "pyflakes"}
	typeTools   = []string{"mypy", "pyright", "pyre"}
	pylintTools = []string{"pylint"}
	eslintTools = []string{"eslint", "oxlint"}
	clangTools  = []string{"clang-tidy", "cpplint"}
	javaTools   = []string{"checkstyle", "pmd", "spotbugs", "errorprone", "detekt", "ktlint", "lint"}
)

// turnOffForms are the comments of linters for other languages than Go. Most linters
// read them themselves; this is for those that report anyway.
var turnOffForms = []turnOffForm{
	{files: pythonFiles, has: "noqa", form: lazily(`(?i)#\s*(?:ruff|flake8):\s*noqa(?::\s*([A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?`), tools: noqaTools, scope: wholeFile},
	{files: pythonFiles, has: "noqa", form: lazily(`(?i)#\s*noqa\b(?::\s*([A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?`), tools: noqaTools, scope: thisLine},
	{files: pythonFiles, has: "ignore", form: lazily(`#\s*(?:type|pyright):\s*ignore\b(?:\[([^\]]*)\])?`), tools: typeTools, scope: thisLine},
	{files: pythonFiles, has: "disable-next=", form: lazily(`#\s*pylint:\s*disable-next=([\w\-, ]+)`), tools: pylintTools, scope: nextLine, named: true},
	{files: pythonFiles, has: "disable=", form: lazily(`#\s*pylint:\s*disable=([\w\-, ]+)`), tools: pylintTools, scope: fromHere, named: true, until: "pylint: enable="},
	{files: pythonFiles, has: "nosec", form: lazily(`#\s*nosec\b(?:[:\s]+(B\d+(?:[,\s]+B\d+)*))?`), tools: []string{"bandit"}, scope: thisLine},
	{files: scriptFiles, has: "eslint-disable-line", form: lazily(`eslint-disable-line\b(?:\s+([^*]+))?`), tools: eslintTools, scope: thisLine},
	{files: scriptFiles, has: "eslint-disable-next-line", form: lazily(`eslint-disable-next-line\b(?:\s+([^*]+))?`), tools: eslintTools, scope: nextLine},
	{files: scriptFiles, has: "eslint-disable", form: lazily(`/\*\s*eslint-disable(?:\s+([^*]+?))?\s*\*/`), tools: eslintTools, scope: fromHere, until: "eslint-enable"},
	{files: scriptFiles, has: "@ts-", form: lazily(`@ts-(?:ignore|expect-error)\b`), tools: []string{"tsc"}, scope: nextLine},
	{files: shellFiles, has: "shellcheck", form: lazily(`#\s*shellcheck\s+(?:\S+\s+)*?disable=([\w,\-]+)`), tools: []string{"shellcheck"}, scope: besideOrNext, named: true},
	{files: cFiles, has: "NOLINTNEXTLINE", form: lazily(`NOLINTNEXTLINE(?:\(([^)]*)\))?`), tools: clangTools, scope: nextLine},
	{files: cFiles, has: "NOLINTBEGIN", form: lazily(`NOLINTBEGIN(?:\(([^)]*)\))?`), tools: clangTools, scope: fromHere, until: "NOLINTEND"},
	{files: cFiles, has: "NOLINT", form: lazily(`\bNOLINT\b(?:\(([^)]*)\))?`), tools: clangTools, scope: thisLine},
	{files: rubyFiles, has: "rubocop:", form: lazily(`#\s*rubocop:(?:disable|todo)\s+([\w/, ]+)`), tools: []string{"rubocop"}, scope: fromHere, named: true, until: "rubocop:enable"},
	{files: javaFiles, has: "@Suppress", form: lazily(`@Suppress(?:Warnings)?\(([^)]*)\)`), tools: javaTools, scope: declaration, named: true},
	{files: javaFiles, has: "NO", form: lazily(`//\s*(?:NOPMD|NOSONAR)\b`), tools: javaTools, scope: thisLine},
	{files: "Dockerfile .dockerfile", has: "hadolint", form: lazily(`#\s*hadolint\s+ignore=([\w, ]+)`), tools: []string{"hadolint"}, scope: nextLine, named: true},
	{files: ".yml .yaml", has: "disable-line", form: lazily(`#\s*yamllint\s+disable-line(?:\s+(rule:.*))?`), tools: []string{"yamllint"}, scope: thisLine},
	{files: ".md .markdown", has: "markdownlint-disable", form: lazily(`<!--\s*markdownlint-disable-line(?:\s+([\w, -]+?))?\s*-->`), tools: []string{"markdownlint"}, scope: thisLine},
	{files: ".md .markdown", has: "markdownlint-disable", form: lazily(`<!--\s*markdownlint-disable-next-line(?:\s+([\w, -]+?))?\s*-->`), tools: []string{"markdownlint"}, scope: nextLine},
	{files: ".md .markdown", has: "markdownlint-disable", form: lazily(`<!--\s*markdownlint-disable(?:\s+(\w[\w, -]*?))?\s*-->`), tools: []string{"markdownlint"}, scope: fromHere, until: "markdownlint-enable"},
}

// formsFor returns the forms for a file.
func formsFor(name string) []turnOffForm {
	base, ext := path.Base(name), strings.ToLower(path.Ext(name))
	var forms []turnOffForm
	for _, f := range turnOffForms {
		for file := range strings.FieldsSeq(f.files) {
			if file == base || file == ext {
				forms = append(forms, f)
				break
			}
		}
	}
	return forms
}
