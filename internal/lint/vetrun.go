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
	Reason      reason // why nothing could be loaded; empty otherwise
	Packages    []vetPackage
	Diagnostics []vetDiagnostic
}

// vetPackage is the outcome for one package, or for its tests.
type vetPackage struct {
	Files   []string // absolute
	Ignored []string // files that build constraints leave out, absolute
	Dir     string
	Reason  reason // why it was not checked; empty otherwise
}

// vetDiagnostic is one result of an analyzer.
type vetDiagnostic struct {
	Suite                   suite
	Analyzer, Message, File string
	Line                    int // the reported line
	From, To                int // lines of the statement around it
}

func (r *vetReport) loadedNone() bool {
	return !slices.ContainsFunc(r.Packages, func(p vetPackage) bool { return p.Reason == "" })
}

// reason returns why a file was not checked; empty if it was.
func (r *vetReport) reason(file string) reason {
	if r.Reason != "" {
		return r.Reason
	}
	var why reason
	for _, p := range r.Packages {
		switch {
		case slices.Contains(p.Files, file):
			if p.Reason == "" {
				return ""
			}
			why = p.Reason
		case slices.Contains(p.Ignored, file) && why == "":
			why = otherSystem
		}
	}
	if why != "" {
		return why
	}
	for _, p := range r.Packages {
		if p.Reason != "" && p.Dir == filepath.Dir(file) {
			return p.Reason
		}
	}
	return notInPackage
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
	case res.Err != nil:
		return nil, &checkerError{res.Err, res.Stderr}
	}
	rep := new(vetReport)
	if err := json.Unmarshal(res.Output, rep); err != nil {
		return nil, &checkerError{err, ""}
	}
	return rep, nil
}

// checkerError is the bad end of the child. What it said may contain text of the
// reviewed tree.
type checkerError struct {
	err  error
	said string
}

func (e *checkerError) Error() string { return "the checker failed: " + e.err.Error() }
func (e *checkerError) Unwrap() error { return e.err }

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
