package lint

import (
	"cmp"
	"errors"
	"fmt"
	"go/types"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/precedent-dev/precedent"
)

// reason is why a Go file was not checked; empty if it was. The list is closed:
// messages of the compiler and of the go command contain text of the change, and
// reasons are posted.
type reason string

const (
	noModule     reason = "no go.mod in its folder or a parent folder"
	notFetched   reason = "a needed module is not downloaded: run go mod download"
	notRequired  reason = "go.mod or go.sum lacks an imported module: run go mod tidy"
	withheld     reason = "needs a module, or a version of one, that the base does not require"
	newerGo      reason = "needs a newer version of Go"
	badModule    reason = "go.mod or go.work cannot be used"
	importCycle  reason = "import cycle"
	notCompiling reason = "compile error"
	badImport    reason = "compile error in an imported package"
	noGoFiles    reason = "the folder has no Go files for this system"
	notListed    reason = "the go command could not list the package"
	crashed      reason = "the checker crashed; if modules are missing, run go mod download"
	tooLarge     reason = "too little memory to check it"
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
// This is not an error of the package, but analyzers crash on it. Builtins have no type where their result is a
// constant, as in len("ab").
func lacksTypes(info *types.Info) bool {
	for _, tv := range info.Types {
		if !tv.IsBuiltin() && isInvalid(tv.Type) {
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

// notChecked lists what was not checked: packages, and files where only they are
// concerned. Tests of a package that is listed for the same reason are left out.
func notChecked(reasons map[string]reason) []precedent.NotChecked {
	all := map[precedent.NotChecked]bool{}
	add := func(tests bool) {
		for name, why := range reasons {
			isTest := strings.HasSuffix(name, "_test.go")
			pack := precedent.NotChecked{Kind: precedent.PackageKind, Path: path.Dir(name), Reason: string(why)}
			switch {
			case isTest != tests || isTest && all[pack]:
			case isTest || why.ofFile():
				all[precedent.NotChecked{Kind: precedent.FileKind, Path: name, Reason: string(why)}] = true
			default:
				all[pack] = true
			}
		}
	}
	add(false)
	add(true)
	return slices.SortedFunc(maps.Keys(all), func(a, b precedent.NotChecked) int {
		return cmp.Or(strings.Compare(a.Reason, b.Reason), -strings.Compare(a.Kind, b.Kind), strings.Compare(a.Path, b.Path))
	})
}
