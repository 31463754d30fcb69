package git

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// unknownRevision is the error for a revision that does not exist, with the nearest one that does.
func (r *Repo) unknownRevision(ctx context.Context, name, why string) *Error {
	e := &Error{Op: opRange, Msg: "unknown revision " + printable(strconv.Quote(name))}
	if why == "ambiguous" {
		e.Msg = printable(strconv.Quote(name)) + " is an ambiguous id"
		e.Hint = "add more digits"
		return e
	}
	if why != "" {
		e.Msg += ": " + why
	}
	// A suffix (~3, ^2, @{1}) is not part of the name.
	stem := name
	if i := strings.IndexAny(stem, "~^@:"); i > 0 {
		stem = stem[:i]
	}
	near := r.nearest(ctx, stem)
	switch {
	case near != "" && near != stem:
		e.Hint = "did you mean " + printable(near+name[len(stem):]) + "?"
	case r.Shallow():
		e.Hint = "the clone is shallow; " + r.deepen("--unshallow")
	case near == "":
		e.Hint = "list the names with: git branch --all; git tag"
	}
	return e
}

const refsRead = 5000

// nearest returns the branch or tag with the most similar name, or "".
func (r *Repo) nearest(ctx context.Context, text string) string {
	c := call{op: opRange, view: real, args: []string{
		"for-each-ref", "--format=%(refname:short)", "--count=" + strconv.Itoa(refsRead),
		"refs/heads", "refs/remotes", "refs/tags",
	}}
	names, err := r.start(ctx, c, configBytes)
	if err != nil {
		return "" // a suggestion is optional
	}
	best, least := "", max(2, len(text)/3)+1
	for name := range strings.Lines("HEAD\n" + names) {
		name = strings.TrimSuffix(name, "\n")
		d := distance(text, name, least)
		if strings.HasSuffix(name, "/"+text) {
			d = 1
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the edits between two names, ignoring case. It returns limit for limit or more.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit || len(a) > 200 {
		return limit
	}
	if a == b {
		return 0
	}
	x, y := strings.ToLower(a), strings.ToLower(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(x) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(y) {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
		if slices.Min(row) >= limit {
			return limit
		}
	}
	return row[len(y)]
}
