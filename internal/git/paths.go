package git

import (
	"path"
	"strconv"
	"strings"
)

// isPlain reports whether p is a plain path of a file inside a tree.
func isPlain(p string) bool {
	return p != "" && p != "." && p != ".." && len(p) <= longestPath && !path.IsAbs(p) && !strings.HasPrefix(p, "../") &&
		path.Clean(p) == p && !strings.Contains(p, "\x00")
}

// unsafePath returns why no file may be written to the path; empty if it may. It
// refuses paths that leave a folder or enter a git folder on any system. Windows
// treats backslashes as slashes, drops trailing dots and spaces, and has short names
// (git~1) and streams (.git::$INDEX_ALLOCATION). macOS ignores some invisible
// letters.
func unsafePath(p string) string {
	if !isPlain(p) {
		return "its path leads out of the tree"
	}
	for part := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == '\\' }) {
		name := strings.Map(visible, part)
		if i := strings.IndexByte(name, ':'); i >= 0 {
			name = name[:i]
		}
		name = strings.ToLower(strings.TrimRight(name, ". "))
		switch dots := strings.TrimRight(part, " "); {
		case dots == "." || dots == "..":
			return "its path leads out of the tree"
		case name == ".git" || name == "git~1":
			return "its path leads into a git folder"
		}
	}
	return ""
}

// visible drops the letters that HFS+ ignores in names.
func visible(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// sizeText formats a number of bytes.
func sizeText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + " MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.FormatInt(n>>10, 10) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
