package lint

import (
	"errors"
	"fmt"
	"go/types"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// reason is why a Go file was not checked; empty if it was. The list is closed:
// messages of the compiler and of the go command contain text of the change, and
// reasons are posted.
type reason string

const (
	noModule     reason = "no go.mod in its folder or a parent folder"
	notFetched   reason = "a module that it needs is not downloaded: run go mod download"
	notRequired  reason = "go.mod or go.sum lacks a module that it imports: run go mod tidy"
	withheld     reason = "it needs a module, or a version of one, that the base does not require"
	outside      reason = "it needs a folder outside of the repository"
	newerGo      reason = "its module needs a newer version of Go"
	badModule    reason = "go.mod or go.work cannot be used"
	importCycle  reason = "import cycle"
	notCompiling reason = "it does not compile"
	badImport    reason = "a package that it imports does not compile"
	noGoFiles    reason = "the folder has no Go files for this system"
	notListed    reason = "the go command could not list its package"
	crashed      reason = "the checker crashed on it; if modules are missing, run go mod download"
	tooLarge     reason = "checking it needs too much memory"
	notStarted   reason = "the checker could not be started"
	failed       reason = "the checker failed"
	notInPackage reason = "not part of a package that could be loaded"
)

// otherSystem is the reason of a file that is only built on other systems.
var otherSystem = reason(fmt.Sprintf("not built on %s/%s without cgo", runtime.GOOS, runtime.GOARCH))

// ofFile reports whether a reason is about a file and not about its package.
func (r reason) ofFile() bool { return r == noModule || r == otherSystem || r == notInPackage }

// isFailure reports whether the checker is at fault, and not the package or what is
// installed.
func (r reason) isFailure() bool { return r == tooLarge || r == notStarted || r == failed }

// reasonOfError classifies an error of the checker's process; empty for nil. A program
// in Go that crashes says "panic:" or "fatal error:".
func reasonOfError(err error) reason {
	var e *checkerError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return notStarted
	case strings.Contains(e.said, needsMemory):
		return tooLarge
	case strings.Contains(e.said, "panic: ") || strings.Contains(e.said, "fatal error: "):
		return crashed
	}
	return failed
}

// reasonFor classifies a message of the go command.
func reasonFor(message string) reason {
	for _, known := range []struct {
		words string
		why   reason
	}{
		{"requires go >=", newerGo},
		{"toolchain not available", newerGo},
		{"errors parsing go.", badModule},
		{"go.work", badModule},
		{"missing go.sum entry", notRequired},
		{"no required module provides", notRequired},
		{"updates to go.mod needed", notRequired},
		{"GOPROXY=off", notFetched},
		{"read-only file system", notFetched}, // the module cache in the sandbox
		{"cannot find module providing", notFetched},
		{"inconsistent vendoring", badModule},
		{"import cycle", importCycle},
		{"build constraints exclude", noGoFiles},
		{"no Go files", noGoFiles},
	} {
		if strings.Contains(message, known.words) {
			return known.why
		}
	}
	return notListed
}

// listReason returns why the go command could not list a package completely; empty if
// it could.
func listReason(p *packages.Package) reason {
	for _, e := range p.Errors {
		if e.Kind == packages.ParseError {
			return notCompiling
		}
		if why := reasonFor(e.Msg); why != notListed {
			return why
		}
	}
	if len(p.Errors) > 0 {
		return notListed
	}
	return ""
}

// lacksTypes reports whether a package uses something whose type is not known, such as
// the result of a function that returns a type of a module which is not downloaded.
// This is not an error of the package, but analyzers crash on it.
func lacksTypes(info *types.Info) bool {
	for _, tv := range info.Types {
		if isInvalid(tv.Type) {
			return true
		}
	}
	for _, o := range info.Defs {
		switch o.(type) {
		case *types.Var, *types.Const, *types.Func, *types.TypeName: // names of packages and labels have no type
			if isInvalid(o.Type()) {
				return true
			}
		}
	}
	return false
}

// isInvalid reports whether a type, or a part that an expression can reach without a
// name, is invalid.
func isInvalid(t types.Type) bool {
	switch t := t.(type) {
	case *types.Basic:
		return t.Kind() == types.Invalid
	case *types.Pointer:
		return isInvalid(t.Elem())
	case *types.Slice:
		return isInvalid(t.Elem())
	case *types.Array:
		return isInvalid(t.Elem())
	case *types.Chan:
		return isInvalid(t.Elem())
	case *types.Map:
		return isInvalid(t.Key()) || isInvalid(t.Elem())
	case *types.Signature:
		return isInvalid(t.Params()) || isInvalid(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if isInvalid(v.Type()) {
				return true
			}
		}
	}
	return false
}

// notChecked lists what was not checked, by reason: packages by their folder, and
// files where only they are concerned. Tests that need modules which are not downloaded
// are only counted, because a build of the program alone does not download them.
func notChecked(reasons map[string]reason) string {
	byReason := map[reason][]string{}
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		why, shown := reasons[name], name
		if !why.ofFile() && !strings.HasSuffix(name, "_test.go") {
			shown = packageOf(name)
		}
		if !slices.Contains(byReason[why], shown) {
			byReason[why] = append(byReason[why], shown)
		}
	}
	const most = 5
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(byReason)) {
		var names []string
		tests := 0
		for _, name := range byReason[why] {
			switch test := strings.HasSuffix(name, "_test.go"); {
			case test && slices.Contains(byReason[why], packageOf(name)):
			case test && why == notFetched:
				tests++
			default:
				names = append(names, name)
			}
		}
		if tests == 1 {
			parts = append(parts, "1 test file (run go mod download)")
		} else if tests > 1 {
			parts = append(parts, fmt.Sprintf("%d test files (run go mod download)", tests))
		}
		if len(names) == 0 {
			continue
		}
		list := strings.Join(names[:min(len(names), most)], ", ")
		if n := len(names) - most; n > 0 {
			list += fmt.Sprintf(" and %d more", n)
		}
		parts = append(parts, list+" ("+string(why)+")")
	}
	return "not checked: " + strings.Join(parts, "; ")
}

// packageOf names the package of a file as the go command does.
func packageOf(name string) string {
	if dir := path.Dir(name); dir != "." {
		return "package ./" + dir
	}
	return "package ."
}
