package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Push is a commit to push to a branch.
type Push struct {
	// To has the address and the credentials, as for a fetch. Only URL, Folder, Token, Proxy, CAFile and
	// Timeout are used.
	To     Pull
	Branch string // the name of the branch, without refs/heads/
	// Expect is the commit that the branch must be at, and an ancestor of Commit.
	Expect, Commit string
	// Try pushes nothing: it only asks whether the token may push, and whether the branch is at Expect.
	Try bool
}

// Errors of a push that the server answered.
var (
	// ErrStale means that the branch is no longer at the expected commit: nothing was pushed.
	ErrStale = errors.New("the branch has moved")
	// ErrRejected means that the server refused the push, by a rule of its own: nothing was pushed.
	ErrRejected = errors.New("the server refused the push")
)

// busyRef is what a server says if another push is under way.
var busyRef = []string{"cannot lock ref", "Unable to create", "failed to update ref", "incorrect old value"}

const (
	opPush = "push"
	// tipBytes limits what git says about a branch.
	tipBytes = 64 << 10
)

// PushCommit moves a branch from one commit to a later one. It never forces: Expect must be an ancestor of
// Commit, which is checked here, and the server moves the branch only if it is at Expect, which
// --force-with-lease asks for. (A plain push would also move a branch that somebody reset to an ancestor, and
// create one that was deleted.) A branch that is at Commit already is left as it is. Nothing but the branch
// is pushed, and no hook or credential helper of this machine runs.
//
// Errors are of type *Error; they wrap ErrStale or ErrRejected if the server said so. After any
// other error it is not known whether the branch has moved.
func (r *Repo) PushCommit(ctx context.Context, p Push) error {
	to, u, err := p.check(r.hash)
	if err != nil {
		return err
	}
	forward, err := r.Contains(ctx, p.Commit, p.Expect)
	if err != nil {
		return err
	}
	if !forward || p.Commit == p.Expect && !p.Try {
		return &Error{Op: opPush, Msg: "the new commit does not follow the old one", Err: ErrRejected}
	}
	ref := "refs/heads/" + p.Branch
	c := call{
		op: opPush, env: []string{"GIT_ALLOW_PROTOCOL=" + u},
		set: append(p.To.fetchSettings(), "push.gpgSign=false", "push.negotiate=false", "pack.compression=-1"),
		args: []string{
			"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
			"--force-with-lease=" + ref + ":" + p.Expect,
			"--end-of-options", to, p.Commit + ":" + ref,
		},
	}
	if p.Try {
		c.args = slices.Insert(c.args, 1, "--dry-run")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.To.Timeout, errTimeout)
	defer cancel()
	var said tail
	var out bytes.Buffer
	cmd := r.command(ctx, c)
	cmd.Stderr = &said
	cmd.Stdout = &out // a line for the one ref
	err = cmd.Run()
	if err == nil {
		return nil
	}
	return p.failure(failure(context.Cause(ctx), opPush, err, said.String(), p.To.Timeout), out.String(), said.String())
}

// BranchTip asks the server which commit a branch is at; empty if it has no such branch. To has the
// address, as for a push.
func (r *Repo) BranchTip(ctx context.Context, to Pull, branch string) (string, error) {
	none := strings.Repeat("0", r.hash.size)
	push := Push{To: to, Branch: branch, Expect: none, Commit: none}
	address, scheme, err := push.check(r.hash)
	if err != nil {
		return "", err
	}
	ref := "refs/heads/" + branch
	ctx, cancel := context.WithTimeoutCause(ctx, push.To.Timeout, errTimeout)
	defer cancel()
	out, err := r.run(ctx, call{
		op: opPush, env: []string{"GIT_ALLOW_PROTOCOL=" + scheme}, set: push.To.fetchSettings(),
		args: []string{"ls-remote", "--refs", "--end-of-options", address, ref},
	}, tipBytes)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) { // others end in the same words: refs/x/refs/heads/main
		if id, name, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t"); ok && name == ref && r.hash.valid(id) {
			return id, nil
		}
	}
	return "", nil
}

// check checks a push, and returns the address and its scheme.
func (p *Push) check(h hash) (address, scheme string, err error) {
	p.To.Ref, p.To.Base, p.To.Head = "refs/heads/none", p.Expect, p.Commit // fields of a fetch, checked there
	if p.To, err = p.To.completed(h); err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			e.Op = opPush
		}
		return "", "", err
	}
	if !IsBranch(p.Branch) {
		return "", "", &Error{Op: opPush, Msg: "not the name of a branch: " + printable(p.Branch), Err: ErrRejected}
	}
	address, u, err := p.To.from()
	if err != nil {
		return "", "", err
	}
	return address, u.Scheme, nil
}

// IsBranch reports whether a name, which comes from a forge, is that of one branch: not a pattern,
// an option, a revision or a refspec. These are git's own rules, and no characters that are not shown.
func IsBranch(name string) bool {
	const longest = 255 // bytes: forges store no longer ones
	odd := func(c rune) bool { return c == ' ' || !unicode.IsPrint(c) || strings.ContainsRune(`~^:?*[\`, c) }
	if len(name) > longest || !utf8.ValidString(name) || name == "@" || name == "HEAD" || strings.HasPrefix(name, "-") ||
		strings.ContainsFunc(name, odd) || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.HasSuffix(name, ".") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// failure explains why a push failed. git prints a line for each ref: a flag, the refs, and a
// summary with the reason in parentheses, between tabs.
func (p Push) failure(e *Error, out, said string) error {
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(fields) != 3 || fields[0] != "!" {
			continue
		}
		why := fields[2]
		e.Err, e.Msg = ErrRejected, ErrRejected.Error()+": "+printable(why)+remoteWords(said)
		if containsAny(why, "(stale info)", "(non-fast-forward)", "(fetch first)", "(needs force)") ||
			containsAny(why, busyRef...) {
			e.Err, e.Msg = ErrStale, ErrStale.Error()+": "+printable(why)
			e.Hint = "run it again for the new head"
		}
		return e
	}
	switch {
	case containsAny(said, "returned error: 403", "returned error: 401", "Authentication failed",
		"could not read Username", "returned error: 404"):
		e.Err, e.Msg = ErrRejected, ErrRejected.Error()+": "+e.Msg
		e.Hint = "the token needs permission to write the contents of the repository"
	default:
		e.Hint = cmp.Or(e.Hint, "run it again: it finds out whether the push arrived")
	}
	return e
}

func containsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// remoteWords returns what the server said, with a colon in front; empty if it said nothing.
func remoteWords(said string) string {
	const most = 5 // lines
	var lines []string
	for l := range strings.Lines(said) {
		if words, ok := strings.CutPrefix(l, "remote: "); ok && len(lines) < most && strings.TrimSpace(words) != "" {
			lines = append(lines, strings.TrimSpace(words))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + printable(strings.Join(lines, " "))
}
