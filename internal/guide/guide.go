// Package guide reads what a repository says about itself at the base commit: its
// guide files, the rules in them, and its review policy.
//
// The caller reads from the base commit, never from the change, so a change cannot
// rewrite the rules it is judged by. The texts are still untrusted: time and memory
// are limited, hidden characters are removed, nothing is included or expanded, and no
// policy value can name a URL, a secret, a model, or a program outside of the sandbox.
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

// Files are the guide files in a repository's top folder, most authoritative first.
// CLAUDE.md and AGENTS.md also count in any other folder, for that folder.
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

// Limits of guides. People read guides; longer files are something else.
const (
	maxFileBytes  = 256 << 10
	maxTotalBytes = 1 << 20
	maxFiles      = 50
)

// Guide is the content of a repository's guide files.
type Guide struct {
	Docs  []precedent.GuideDoc
	Rules []precedent.Rule
}

// nested are the guide files that count in any folder.
var nested = []string{"CLAUDE.md", "AGENTS.md"}

// vendored are folders whose guides are about third-party code.
var vendored = []string{"vendor", "node_modules", "third_party", "third-party", "bower_components"}

// The names by which coding agents and review bots find their instructions, settings and
// programs, in lower case, from their documentation. They count in any folder. A hidden
// folder of steeringDirs holds nothing else; steeringStems count as prose, and in upper case
// with any extension.
var (
	steeringDirs = []string{
		".precedent/", ".agent/", ".warp/", ".claude/", ".claude-plugin/", ".codex/", ".agents/", ".gemini/", ".qwen/",
		".cursor/", ".windsurf/", ".clinerules/", ".roo/", ".kiro/",
		".continue/", ".amazonq/", ".augment/", ".junie/", ".opencode/", ".openhands/", ".factory/", ".trae/",
		".github/instructions/", ".github/prompts/", ".github/agents/", ".github/chatmodes/", ".github/skills/",
	}
	steeringStems = []string{
		"claude", "claude.local", "agents", "agents.local", "agents.override", "gemini", "qwen",
		"copilot-instructions",
	}
	steeringFiles = []string{
		".mcp.json", ".lsp.json", ".claude.json", ".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".roomodes",
		".goosehints", ".continuerules", ".rules",
		".aider.conf.yml", "opencode.json", "opencode.jsonc", ".claudeignore", ".cursorignore", ".geminiignore", ".aiexclude",
		".aiderignore", ".codeiumignore",
		".coderabbit.yaml", ".coderabbit.yml", ".pr_agent.toml", ".sourcery.yaml", "greptile.json",
	}
)

// capitals are such names that are those of ordinary files in lower case, and the files of owners of Prow.
var capitals = []string{"AGENT", "WARP", "OWNERS", "OWNERS_ALIASES"}

// proseExts are the extensions of instructions: claude.go and agents.yaml belong to programs.
var proseExts = []string{".md", ".mdc", ".mdx", ".markdown", ".txt"}

// codeOwnerFiles are the paths where forges look for code owners, in lower case.
var codeOwnerFiles = []string{
	"codeowners", ".github/codeowners", ".gitlab/codeowners", ".gitea/codeowners",
	"docs/codeowners",
}

// IsPolicyPath reports whether an edit of the file can change how changes are
// reviewed: guide files, the policy, settings and tools of assistants, and code
// owners. Case is ignored, because some file systems ignore it.
func IsPolicyPath(p string) bool {
	written := path.Base(p)
	stem, ext := strings.TrimSuffix(path.Base(p), path.Ext(p)), strings.ToLower(path.Ext(p))
	prose := slices.Contains(proseExts, ext) || ext != "" && stem == strings.ToUpper(stem)
	p, stem = strings.ToLower(strings.TrimPrefix(path.Clean(p), "./")), strings.ToLower(stem)
	base := path.Base(p)
	switch {
	case slices.Contains(capitals, written), p == "agent.md", p == "warp.md",
		prose && slices.Contains(capitals, strings.TrimSuffix(written, path.Ext(written))):
		return true
	case p == PolicyFile, p == ".precedent.yml", p == "review.md", slices.Contains(steeringFiles, base):
		return true
	case prose && slices.Contains(steeringStems, stem):
		return true
	}
	return slices.ContainsFunc(Files, func(f string) bool { return strings.ToLower(f) == p }) ||
		slices.Contains(codeOwnerFiles, p) ||
		slices.ContainsFunc(steeringDirs, func(dir string) bool {
			return strings.HasPrefix(p, dir) || strings.Contains(p, "/"+dir)
		})
}

// Candidates lists the paths where guide files for the changed paths may be: the
// Files, and the nested ones in the outer 16 folders above each changed path, outer
// folders first. It lists at most 400.
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

// Load reads the guide files among the paths, in order, and extracts their rules. It
// ignores paths that are not guide files, and those for which read returns
// fs.ErrNotExist. A file that cannot be read completely is a failure; the others
// still count. A file that repeats another one, or only points to one, is left out.
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
			fail(p, "only the first %d KiB were read", maxFileBytes>>10)
			data = cutLine(data, maxFileBytes)
		}
		if total+len(data) > maxTotalBytes {
			fail(p, "not read: the guide files before it reach the limit of %d KiB", maxTotalBytes>>10)
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

// guideDir reports whether the path is a guide file, and the folder that it applies
// to, empty for all.
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

// isPointer reports whether the text is only the path of another file, such as a
// symbolic link in git, or an include such as "@AGENTS.md". Neither is followed: if
// the other file is a guide, it is read anyway.
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
	return bytes.ToValidUTF8(data, nil)
}
