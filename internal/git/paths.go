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

// UnsafePath returns why no file may be written to the path; empty if it may. It
// refuses paths that leave a folder (T11) or enter a git folder (T13, T27) on any system.
func UnsafePath(p string) string {
	if !isPlain(p) {
		return "its path leads out of the tree"
	}
	for part := range strings.FieldsFuncSeq(p, isSlash) {
		switch dots := strings.TrimRight(part, " "); {
		case dots == "." || dots == "..":
			return "its path leads out of the tree"
		case sameName(part, ".git"):
			return "its path leads into a git folder"
		}
	}
	return ""
}

func isSlash(r rune) bool { return r == '/' || r == '\\' }

// sameName reports whether any file system takes the name for the hidden one, which is in
// lower case and starts with a dot. Windows treats backslashes as slashes, drops trailing
// dots and spaces, and has streams (.git::$INDEX_ALLOCATION) and short names (git~1, or
// gi7eba~1 with a hash). macOS ignores some invisible letters, and both ignore case.
func sameName(name, hidden string) bool {
	name, _, _ = strings.Cut(strings.Map(visible, name), ":")
	name = strings.ToLower(strings.TrimRight(name, ". "))
	stem, number, short := strings.Cut(strings.TrimPrefix(name, "."), "~")
	if !short || number == "" || strings.Trim(number, "0123456789") != "" {
		return name == hidden
	}
	hidden = hidden[1:min(len(hidden), 7)]
	return stem == hidden || len(stem) == 6 && stem[:2] == hidden[:2] && strings.Trim(stem[2:], "0123456789abcdef") == ""
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
