//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"runtime"
)

// Sandbox is a sandbox. This system has none.
type Sandbox struct{}

// Main does nothing on this system.
func Main() {}

// Probe always returns a *NoneError on this system.
func Probe(context.Context, string) (Sandbox, error) { return Sandbox{}, none() }

func none() *NoneError {
	return &NoneError{
		Why:  []string{"no sandbox on " + runtime.GOOS + "/" + runtime.GOARCH},
		Hint: "use Linux on amd64 or arm64, or a container or virtual machine with it",
	}
}

// Kind is empty on this system.
func (Sandbox) Kind() Kind { return "" }

// Run always returns an error on this system.
func (Sandbox) Run(context.Context, Job) (Result, error) { return Result{}, none() }

// SelfTest always returns an error on this system.
func (Sandbox) SelfTest(context.Context) ([]Trap, error) { return nil, none() }
