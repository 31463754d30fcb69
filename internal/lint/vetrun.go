package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/child"
)

// VetEnv is the variable that tells main to call VetMain: if it is 1, the process was
// started to run the Go analyzers.
const VetEnv = "PRECEDENT_VETTOOL"

// vetRequest is the child's input, as JSON on standard input.
type vetRequest struct {
	Dir     string   // the module's folder
	Files   []string // the changed files, absolute
	Suites  []suite  // analyzers to run
	MaxHeap uint64   // memory limit of the child, in bytes
}

// vetReport is the child's output, as JSON on standard output.
type vetReport struct {
	Error       string // why nothing could be loaded; empty otherwise
	Packages    []vetPackage
	Diagnostics []vetDiagnostic
}

// vetPackage is the outcome for one package, or for its tests.
type vetPackage struct {
	Files   []string // absolute
	Ignored []string // files that build constraints leave out, absolute
	Dir     string
	Error   string // why it was not checked; empty otherwise
}

// vetDiagnostic is one result of an analyzer.
type vetDiagnostic struct {
	Suite                   suite
	Analyzer, Message, File string
	Line                    int // the reported line
	From, To                int // lines of the statement around it
}

func (r *vetReport) loadedNone() bool {
	return !slices.ContainsFunc(r.Packages, func(p vetPackage) bool { return p.Error == "" })
}

// reason returns why a file was not checked, "" if it was.
func (r *vetReport) reason(file string) string {
	if r.Error != "" {
		return r.Error
	}
	why := ""
	for _, p := range r.Packages {
		switch {
		case slices.Contains(p.Files, file):
			if p.Error == "" {
				return ""
			}
			why = p.Error
		case slices.Contains(p.Ignored, file) && why == "":
			why = fmt.Sprintf("not built on %s/%s without cgo", runtime.GOOS, runtime.GOARCH)
		}
	}
	if why != "" {
		return why
	}
	for _, p := range r.Packages {
		if p.Error != "" && p.Dir == filepath.Dir(file) {
			return p.Error
		}
	}
	return "not part of a package that could be loaded"
}

// maxReport limits the size of the child's report, in bytes.
const maxReport = 16 << 20

// runVet starts the child for one module and returns its report. work is the value of
// GOWORK.
func runVet(ctx context.Context, env GoEnv, work string, req vetRequest) (*vetReport, error) {
	scratch, err := os.MkdirTemp("", "precedent-vet-")
	if err != nil {
		return nil, fmt.Errorf("make temporary folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	in, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	res, err := child.Run(ctx, child.Program{
		Path: env.Tool, Dir: scratch, Env: vetEnv(env, work, scratch), Input: bytes.NewReader(in), Most: maxReport,
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("start the checker: %w", err)
	case res.Err != nil && res.Stderr != "":
		first, _, _ := strings.Cut(res.Stderr, "\n")
		return nil, fmt.Errorf("the checker failed: %w: %s", res.Err, first)
	case res.Err != nil:
		return nil, fmt.Errorf("the checker failed: %w", res.Err)
	}
	rep := new(vetReport)
	if err := json.Unmarshal(res.Output, rep); err != nil {
		return nil, fmt.Errorf("read the checker's report: %w", err)
	}
	return rep, nil
}

// vetEnv is the complete environment of the child and of the go command it starts: no
// downloads, no other toolchain, no cgo, and no setting of the user or the tree that
// could name a program.
func vetEnv(env GoEnv, work, scratch string) []string {
	dirs := slices.DeleteFunc(filepath.SplitList(env.Path), func(dir string) bool { return !filepath.IsAbs(dir) })
	vars := []string{
		VetEnv + "=1",
		"PATH=" + strings.Join(dirs, string(filepath.ListSeparator)),
		"TMPDIR=" + scratch, "TMP=" + scratch, "TEMP=" + scratch, "LC_ALL=C", "GOTRACEBACK=none",
		"GOWORK=" + work, "GOENV=off", "GOFLAGS=", "GO111MODULE=on", "GOTOOLCHAIN=local",
		"GOPROXY=off", "GOSUMDB=off", "GOVCS=*:off", "GOPACKAGESDRIVER=off", "CGO_ENABLED=0",
		"GOOS=" + runtime.GOOS, "GOARCH=" + runtime.GOARCH,
	}
	set := func(name, value, otherwise string) {
		if value != "" {
			vars = append(vars, name+"="+value)
		} else if env.Home == "" {
			vars = append(vars, name+"="+filepath.Join(scratch, otherwise))
		}
	}
	set("HOME", env.Home, "home")
	set("GOCACHE", env.Cache, "cache")
	set("GOMODCACHE", env.ModCache, "mod")
	return vars
}
