// Package guide reads what a repository says about itself at the base commit:
// its guide files, the rules in them, and its review policy.
//
// The caller reads from the base commit, never from the change, so that a
// change cannot rewrite the rules it is judged by. Even so the texts may be
// hostile: everything here is bounded in time and memory, hidden characters are
// removed, nothing is included or expanded, and no value of a policy can name a
// URL, a secret, a model or a program.
package guide

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Files are the guide files of a repository's top folder, the most binding
// first. CLAUDE.md and AGENTS.md also count in any other folder, for that folder.
var Files = []string{
	"CLAUDE.md",
	".claude/CLAUDE.md",
	"AGENTS.md",
	".cursorrules",
	".github/copilot-instructions.md",
	"ARCHITECTURE.md",
	"CONTRIBUTING.md",
}

// PolicyFile is where a repository keeps its review policy.
const PolicyFile = ".precedent.yaml"

// Bounds. A guide is read by people; one beyond these is not one.
const (
	maxFileBytes  = 256 << 10
	maxTotalBytes = 1 << 20
	maxFiles      = 50
)

// Guide is everything that the guide files of a repository say.
type Guide struct {
	Docs  []precedent.GuideDoc
	Rules []precedent.Rule
}

// nested are the names of guide files that count in any folder.
var nested = []string{"CLAUDE.md", "AGENTS.md"}

// vendored are names of folders whose guides speak for somebody else's code.
var vendored = []string{"vendor", "node_modules", "third_party", "third-party", "bower_components"}

// steering are folders, in lower case, whose every file steers an assistant or a review.
var steering = []string{".precedent/", ".claude/", ".cursor/rules/", ".github/instructions/"}

// owning are the places where forges look for the list of code owners, in lower case.
var owning = []string{"codeowners", ".github/codeowners", ".gitlab/codeowners", ".gitea/codeowners", "docs/codeowners"}

// IsPolicyPath tells whether an edit of the file can change how changes are
// reviewed: guide files, the policy, settings and tools of assistants, and code
// owners. Case does not matter, because it does not on every file system.
func IsPolicyPath(p string) bool {
	p = strings.ToLower(strings.TrimPrefix(path.Clean(p), "./"))
	switch base := path.Base(p); {
	case p == PolicyFile, p == ".precedent.yml", base == ".mcp.json", base == ".cursorrules":
		return true
	case slices.ContainsFunc(nested, func(n string) bool { return strings.ToLower(n) == base }):
		return true
	}
	return slices.ContainsFunc(Files, func(f string) bool { return strings.ToLower(f) == p }) ||
		slices.Contains(owning, p) ||
		slices.ContainsFunc(steering, func(dir string) bool {
			return strings.HasPrefix(p, dir) || strings.Contains(p, "/"+dir)
		})
}

// Candidates lists the paths at which guide files that speak to the changed
// paths may stand: the Files, and the nested ones of the outer 16 folders above
// each changed path, outer folders first. It lists at most 400.
func Candidates(changed []string) []string {
	const most, depth = 400, 16
	var dirs []string
	seen := map[string]bool{}
	for _, p := range changed {
		if !fs.ValidPath(p) {
			continue
		}
		parts := strings.Split(p, "/")
		for i := 1; i < min(len(parts), depth+1) && !slices.Contains(vendored, parts[i-1]); i++ {
			if dir := strings.Join(parts[:i], "/"); !seen[dir] {
				seen[dir] = true
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	list := slices.Clone(Files)
	for _, dir := range dirs {
		for _, name := range nested {
			if p := dir + "/" + name; len(list) < most && !slices.Contains(Files, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// Load reads the guide files among the paths, in their order, and the rules in
// them. Paths that are no guide files, and those for which read reports
// fs.ErrNotExist, are passed over. What could not be read whole is a failure,
// and the rest holds. A file that repeats another one or only points at it is
// left out.
func Load(read func(path string) ([]byte, error), list []string) (Guide, []precedent.Failure) {
	var g Guide
	var failures []precedent.Failure
	fail := func(p, format string, args ...any) {
		failures = append(failures, precedent.Failure{Step: "guide", Error: p + ": " + fmt.Sprintf(format, args...)})
	}
	total := 0
	seen := map[string]bool{}
	for _, p := range list {
		dir, ok := guideDir(p)
		if !ok || seen["path "+p] {
			continue
		}
		seen["path "+p] = true
		data, err := read(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			fail(p, "%v", err)
			continue
		}
		if len(g.Docs) == maxFiles {
			fail(p, "not read: there are more than %d guide files", maxFiles)
			break
		}
		if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
			fail(p, "not read: it is not UTF-8 text")
			continue
		}
		if len(data) > maxFileBytes {
			fail(p, "only its first %d KiB are read", maxFileBytes>>10)
			data = cutLine(data, maxFileBytes)
		}
		if total+len(data) > maxTotalBytes {
			fail(p, "not read: the guide files before it fill %d KiB", maxTotalBytes>>10)
			continue
		}
		total += len(data)
		sum := sha256.Sum256(data)
		hash := hex.EncodeToString(sum[:])
		clean := strings.TrimSpace(text.Clean(string(data)))
		if clean == "" || isPointer(clean) || seen[dir+" holds "+hash] {
			continue
		}
		seen[dir+" holds "+hash] = true
		g.Docs = append(g.Docs, precedent.GuideDoc{Path: p, Dir: dir, Text: clean, Hash: hash})
		g.Rules = append(g.Rules, Rules(p, string(data))...)
	}
	return g, failures
}

// guideDir tells whether the path is a guide file, and the folder that it
// speaks for, empty for all.
func guideDir(p string) (dir string, ok bool) {
	if slices.Contains(Files, p) {
		return "", true
	}
	if !fs.ValidPath(p) || !slices.Contains(nested, path.Base(p)) || isVendored(p) {
		return "", false
	}
	dir = path.Dir(p)
	if path.Base(dir) == ".claude" {
		dir = path.Dir(dir)
	}
	if dir == "." {
		dir = ""
	}
	return dir, true
}

func isVendored(p string) bool {
	return slices.ContainsFunc(strings.Split(p, "/"), func(part string) bool { return slices.Contains(vendored, part) })
}

// isPointer tells whether the text is nothing but the path of another file, as
// a symbolic link reads in git, or an include such as "@AGENTS.md". Neither is
// followed: the file that is meant speaks for itself if it is a guide.
func isPointer(s string) bool {
	return len(s) <= 255 && !strings.ContainsAny(s, " \t\n") &&
		(strings.HasPrefix(s, "@") || strings.HasSuffix(strings.ToLower(s), ".md"))
}

// cutLine returns at most n bytes of data, up to the end of a line.
func cutLine(data []byte, n int) []byte {
	data = data[:n]
	if i := bytes.LastIndexByte(data, '\n'); i >= 0 {
		return data[:i+1]
	}
	for len(data) > 0 && !utf8.Valid(data) {
		data = data[:len(data)-1]
	}
	return data
}
