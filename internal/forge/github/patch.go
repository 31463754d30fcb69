package github

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

const (
	// acceptDiff is the media type of a diff.
	acceptDiff = "application/vnd.github.v3.diff"
	// maxFiles is how many files GitHub lists ("List pull requests files").
	maxFiles = 3000
)

// Patch returns the diff of a pull request as GitHub computes it. GitHub returns none
// with more than 300 files or 20,000 lines. In that case it is built from the list of
// files, which has the hunks of files that are not too large.
func (c *Client) Patch(ctx context.Context, repo precedent.Repo, number int) ([]byte, []precedent.SkippedFile, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read diff of pull request %s#%d", repo, number))
	diff, err := do.Accept(acceptDiff, "pulls/%d", number)
	if wire.Status(err) == http.StatusNotAcceptable {
		return listedPatch(do, number)
	}
	return diff, nil, err
}

// changedFile is a file of a pull request.
type changedFile struct {
	Filename, Status, SHA, Patch string
	Previous                     string `json:"previous_filename"`
	Changes                      int
}

// listedPatch builds the diff from the list of files.
func listedPatch(do wire.Call, number int) ([]byte, []precedent.SkippedFile, error) {
	files, err := wire.List[changedFile](do, "pulls/%d/files", number)
	if err != nil && !forge.IsPartial(err) {
		return nil, nil, err
	}
	var diff strings.Builder
	var skipped []precedent.SkippedFile
	seen := map[string]bool{} // pages shift while they are read
	for _, f := range files {
		if seen[f.Filename] {
			continue
		}
		seen[f.Filename] = true
		section, why := fileDiff(f)
		if why != "" {
			skipped = append(skipped, precedent.SkippedFile{Path: f.Filename, Reason: why})
		}
		diff.WriteString(section)
	}
	if len(seen) >= maxFiles || err != nil {
		var p wire.Pull
		if err := do.Get(&p, "pulls/%d", number); err != nil {
			return nil, nil, err
		}
		if n := p.ChangedFiles - len(seen); n > 0 {
			skipped = append(skipped, precedent.SkippedFile{
				Path: fmt.Sprintf("(%d more files)", n), Reason: fmt.Sprintf("GitHub lists only %d files of a pull request",
					len(seen)),
			})
		}
	}
	return []byte(diff.String()), skipped, nil
}

// emptyBlob is git's id of an empty file, in SHA-1 and SHA-256.
var emptyBlob = map[string]bool{
	"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391":                         true,
	"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813": true,
}

// fileDiff returns the diff of a file, or why there is none. GitHub does not tell
// file modes, so new and deleted files get the usual one.
func fileDiff(f *changedFile) (section, why string) {
	name, before := f.Filename, f.Filename
	var head, old, now string
	old, now = precedent.QuotePath("a/"+before), precedent.QuotePath("b/"+name)
	whole := f.Changes == 0 // the header is the whole diff
	switch f.Status {
	case "added":
		head, old = "new file mode 100644\n", "/dev/null"
		whole = whole && emptyBlob[f.SHA]
	case "removed":
		head, now = "deleted file mode 100644\n", "/dev/null"
		whole = whole && emptyBlob[f.SHA]
	case "renamed", "copied":
		verb := map[string]string{"renamed": "rename", "copied": "copy"}[f.Status]
		before = f.Previous
		old = precedent.QuotePath("a/" + before)
		head = fmt.Sprintf("%s from %s\n%s to %s\n", verb, precedent.QuotePath(before), verb, precedent.QuotePath(name))
	case "modified", "changed":
		whole = false
	default:
		return "", fmt.Sprintf("GitHub reports the unknown status %q", f.Status)
	}
	if !fs.ValidPath(name) || !fs.ValidPath(before) || strings.Contains(name+before, "\x00") {
		return "", "the path is not valid in git"
	}
	first := fmt.Sprintf("diff --git %s %s\n%s", precedent.QuotePath("a/"+before), precedent.QuotePath("b/"+name), head)
	hunks := f.Patch
	switch {
	case hunks == "" && whole:
		return first, ""
	case hunks == "" && f.Changes == 0:
		return "", "the file is binary, or only its mode changed"
	case hunks == "":
		return "", "the diff is too large for GitHub to return"
	}
	if !strings.HasSuffix(hunks, "\n") {
		hunks += "\n"
	}
	section = fmt.Sprintf("%s--- %s\n+++ %s\n%s", first, old, now, hunks)
	// Nothing in the hunks may be taken for another file's diff, or be passed over as text around a diff is.
	read, err := diff.ParsePatch(strings.NewReader(section), diff.DefaultLimits)
	left := strings.Count(hunks, "\n") - strings.Count("\n"+hunks, "\n\\")
	for i := 0; err == nil && len(read.Files) == 1 && i < len(read.Files[0].Hunks); i++ {
		left -= 1 + len(read.Files[0].Hunks[i].Lines)
	}
	if left != 0 {
		return "", "GitHub returned only part of the diff"
	}
	return section, ""
}
