//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"runtime"
)

// Box makes boxes; there is none here.
type Box struct{}

// Main does nothing here.
func Main() {}

// Probe always returns a *NoneError here.
func Probe(context.Context, string) (Box, error) {
	return Box{}, none()
}

func none() *NoneError {
	return &NoneError{Why: []string{"no sandbox on " + runtime.GOOS + "/" + runtime.GOARCH}, Hint: "use Linux on amd64 or arm64, or a container or virtual machine with it"}
}

// Kind is empty here.
func (Box) Kind() Kind { return "" }

// Run refuses.
func (Box) Run(context.Context, Job) (Result, error) { return Result{}, none() }

// SelfTest has nothing to test here.
func (Box) SelfTest(context.Context) ([]Trap, error) { return nil, none() }
