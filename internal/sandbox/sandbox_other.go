//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"runtime"
)

// Box is a sandbox. This system has none.
type Box struct{}

// Main does nothing on this system.
func Main() {}

// Probe always returns a *NoneError on this system.
func Probe(context.Context, string) (Box, error) {
	return Box{}, none()
}

func none() *NoneError {
	return &NoneError{
		Why:  []string{"no sandbox on " + runtime.GOOS + "/" + runtime.GOARCH},
		Hint: "use Linux on amd64 or arm64, or a container or virtual machine with it",
	}
}

// Kind is empty on this system.
func (Box) Kind() Kind { return "" }

// Run always returns an error on this system.
func (Box) Run(context.Context, Job) (Result, error) { return Result{}, none() }

// SelfTest always returns an error on this system.
func (Box) SelfTest(context.Context) ([]Trap, error) { return nil, none() }
