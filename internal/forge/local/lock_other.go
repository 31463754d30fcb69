//go:build !unix

package local

import "os"

// holdFile does not lock: the standard library has no file locks for this system.
func holdFile(*os.File) (held bool, err error) { return true, nil }

// syncFolder does nothing: folders cannot be opened like files on this system.
func syncFolder(*os.Root, string) error { return nil }
