package git

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Merge is the result of merging two commits, which exists only as objects: nothing is checked
// out, and no merge driver of the repository runs.
type Merge struct {
	// Tree is the merged tree. Files with conflicts have markers in it, with the full ids of the
	// commits as labels.
	Tree string
	// Conflicts are the stages of the files that could not be merged, by path: as they are in the
	// common ancestor (1), in ours (2) and in theirs (3).
	Conflicts []Stage
}

// Stage is one version of a file that could not be merged.
type Stage struct {
	Entry
	Stage int // 1 to 3
}

const opMerge = "merge"

// MergeCommits merges theirs into ours, both full ids of commits. Conflicts are a result, not an error.
func (r *Repo) MergeCommits(ctx context.Context, ours, theirs string) (Merge, error) {
	if !r.hash.valid(ours) || !r.hash.valid(theirs) {
		return Merge{}, &Error{Op: opMerge, Msg: "not two commit ids"}
	}
	out, err := r.run(ctx, call{
		op:   opMerge,
		args: []string{"merge-tree", "--write-tree", "-z", "--no-messages", "--end-of-options", ours, theirs},
		set: []string{
			"merge.conflictStyle=merge", "merge.directoryRenames=false", "merge.renameLimit=" + renameLimit,
			"merge.renormalize=false",
		},
	}, historyBytes)
	const conflicts = 1 // the exit status
	if err != nil && exitCode(err) != conflicts {
		return Merge{}, err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	m := Merge{Tree: fields[0]}
	if !r.hash.valid(m.Tree) {
		if err != nil {
			return Merge{}, err
		}
		return Merge{}, &Error{Op: opMerge, Msg: "git did not name a tree: " + printable(m.Tree)}
	}
	for _, line := range fields[1:] {
		s, wrong := parseStage(line)
		if wrong != nil {
			return Merge{}, &Error{Op: opMerge, Msg: wrong.Error()}
		}
		m.Conflicts = append(m.Conflicts, s)
	}
	if err != nil && len(m.Conflicts) == 0 {
		return Merge{}, &Error{Op: opMerge, Msg: "git found a conflict and did not say where"}
	}
	slices.SortStableFunc(m.Conflicts,
		func(a, b Stage) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Stage, b.Stage)) })
	return m, nil
}

// parseStage reads "mode id stage\tpath".
func parseStage(line string) (Stage, error) {
	head, path, ok := strings.Cut(line, "\t")
	f := strings.Fields(head)
	if !ok || len(f) != 3 || len(f[2]) != 1 || f[2] < "1" || f[2] > "3" {
		return Stage{}, fmt.Errorf("git wrote %q where a conflict was expected", printable(line))
	}
	e := Entry{Mode: f[0], Type: "blob", ID: f[1], Path: path}
	if e.Mode == submoduleMode {
		e.Type = "commit"
	}
	return Stage{e, int(f[2][0] - '0')}, nil
}

// Contains tells whether a commit has another one in its history, or is the same; both are full ids.
func (r *Repo) Contains(ctx context.Context, commit, ancestor string) (bool, error) {
	const op = "read history"
	if !r.hash.valid(commit) || !r.hash.valid(ancestor) {
		return false, &Error{Op: op, Msg: "not two commit ids"}
	}
	missing, err := r.line(ctx, op, "rev-list", "--max-count=1", "--end-of-options", ancestor, "^"+commit)
	return err == nil && missing == "", err
}
