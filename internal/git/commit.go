package git

import (
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
