//go:build !unix

package local

import "os"

// holdFile locks nothing where the standard library has no locks.
func holdFile(*os.File) (held bool, err error) { return true, nil }

// syncFolder does nothing where a folder cannot be opened like a file.
func syncFolder(*os.Root, string) error { return nil }
