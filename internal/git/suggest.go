package git

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
)

// unknown explains that a revision does not exist, with the nearest that does.
func (r *Repo) unknown(ctx context.Context, name, why string) *Error {
	e := &Error{Op: opRange, Msg: "unknown revision " + printable(strconv.Quote(name))}
	if why == "ambiguous" {
		e.Msg = printable(strconv.Quote(name)) + " is the beginning of more than one id"
		e.Hint = "write more digits of it"
		return e
	}
	if why != "" {
		e.Msg += ": " + why
	}
	// Whatever stands behind a name (~3, ^2, @{1}) is not a part of it.
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
		e.Hint = "git branch --all and git tag list the names"
	}
	return e
}

// refsRead caps the names looked at for a suggestion.
const refsRead = 5000

// nearest returns the branch or tag whose name is nearest to the text, or "".
func (r *Repo) nearest(ctx context.Context, text string) string {
	c := call{op: opRange, view: real, args: []string{
		"for-each-ref", "--format=%(refname:short)", "--count=" + strconv.Itoa(refsRead),
		"refs/heads", "refs/remotes", "refs/tags",
	}}
	var out []byte
	err := r.stream(ctx, c, func(names io.Reader) error {
		var err error
		out, err = io.ReadAll(io.LimitReader(names, configBytes))
		return err
	})
	if err != nil {
		return "" // a suggestion is a courtesy
	}
	best, least := "", max(2, len(text)/3)+1
	for name := range strings.Lines("HEAD\n" + string(out)) {
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

// distance counts the edits between two names, without regard to case; counts
// of limit and more are not told apart.
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
