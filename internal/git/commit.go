package git

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Commit is a commit object.
type Commit struct {
	Tree        string
	Parents     []string
	Name, Email string // those of the author and of the committer
	Message     string
	At          time.Time

	encoded bool // the message is not in UTF-8
}

const opCommit = "commit"

// WriteCommit makes a commit, which no ref points to, and returns its id. It is not signed. Like
// its tree it is in the shadow, which is temporary, until it is pushed.
func (r *Repo) WriteCommit(ctx context.Context, c Commit) (string, error) {
	for _, id := range append(slices.Clone(c.Parents), c.Tree) {
		if !r.hash.valid(id) {
			return "", &Error{Op: opCommit, Msg: "not the id of an object: " + printable(id)}
		}
	}
	if strings.ContainsAny(c.Name+c.Email, "<>\n\x00") || c.Name == "" || strings.Contains(c.Message, "\x00") {
		return "", &Error{Op: opCommit, Msg: "not the name of a committer, or not a message"}
	}
	args := []string{"commit-tree", "--no-gpg-sign"}
	for _, p := range c.Parents {
		args = append(args, "-p", p)
	}
	at := fmt.Sprintf("%d +0000", c.At.Unix())
	out, err := r.run(ctx, call{
		op: opCommit, args: append(args, c.Tree), stdin: strings.NewReader(c.Message), env: []string{
			"GIT_AUTHOR_NAME=" + c.Name, "GIT_AUTHOR_EMAIL=" + c.Email, "GIT_AUTHOR_DATE=" + at,
			"GIT_COMMITTER_NAME=" + c.Name, "GIT_COMMITTER_EMAIL=" + c.Email, "GIT_COMMITTER_DATE=" + at,
		},
	}, configBytes)
	id := strings.TrimSpace(string(out))
	if err == nil && !r.hash.valid(id) {
		err = &Error{Op: opCommit, Msg: "git did not name a commit: " + printable(id)}
	}
	return id, err
}

// commitBytes limits a commit that is read here: 1 MiB. Messages have a few hundred bytes.
const commitBytes = 1 << 20

// ReadCommit reads a commit by its full id. Name, Email and At are those of the committer. A
// commit of more than 1 MiB is an error.
func (r *Repo) ReadCommit(ctx context.Context, id string) (Commit, error) {
	const op = "read commit"
	if !r.hash.valid(id) {
		return Commit{}, &Error{Op: op, Msg: "not a commit id: " + printable(id)}
	}
	o, data, err := r.objects().read(ctx, op, id, "commit", commitBytes)
	if err == nil && o.id == "" {
		err = &Error{Op: op, Msg: printable(id) + " is not a commit of this clone", Err: ErrNotFound}
	}
	if err != nil {
		return Commit{}, err
	}
	head, message, _ := strings.Cut(string(data), "\n\n")
	c := Commit{}
	c.Message, _, _ = strings.Cut(message, "\x00")
	for line := range strings.SplitSeq(head, "\n") {
		switch key, value, _ := strings.Cut(line, " "); key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "encoding":
			c.encoded = true
		case "committer":
			name, rest, _ := strings.Cut(value, " <")
			email, when, _ := strings.Cut(rest, "> ")
			c.Name, c.Email = name, email
			var seconds int64
			if _, err := fmt.Sscan(when, &seconds); err == nil {
				c.At = time.Unix(seconds, 0).UTC()
			}
		}
	}
	return c, nil
}

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

const ours = 2 // the stage

const opMerge = "merge"

// MergeCommits merges theirs into another one, both full ids of commits. Conflicts are a result, not an error.
func (r *Repo) MergeCommits(ctx context.Context, into, theirs string) (Merge, error) {
	if !r.hash.valid(into) || !r.hash.valid(theirs) {
		return Merge{}, &Error{Op: opMerge, Msg: "not two commit ids"}
	}
	out, err := r.run(ctx, call{
		op:   opMerge,
		args: []string{"merge-tree", "--write-tree", "-z", "--no-messages", "--end-of-options", into, theirs},
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
