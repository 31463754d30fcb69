//go:build !unix

package temp

import (
	"io/fs"
	"os"
)

// IsOwn reports true: on this system, files of other users are protected by access lists.
func IsOwn(fs.FileInfo) bool { return true }

// isPrivate reports true: on this system, the temporary folder is the user's own.
func isPrivate(fs.FileInfo) bool { return true }

// wait does nothing: an open file cannot be removed on this system.
func wait(*os.File) error { return nil }

// abandoned reports whether no living process has the file open. It removes the file then.
func abandoned(lock string) bool { return os.Remove(lock) == nil }
