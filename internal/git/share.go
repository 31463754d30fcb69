package git

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Shared is a ref of a remote that has files of its own, and no code. Its methods work on
// objects only: index, work tree, refs and objects of the clone do not change.
type Shared struct {
	// Remote is its name in the configuration. Address takes its place where there is no clone:
	// an https address, or the absolute path of a folder.
	Remote, Address string
	Ref             string // the full name: refs/precedent/memory
	// Token is sent to the remote over https, or to this machine; empty to use only the user's
	// own configuration of git.
	Token string
}

// Errors of a push.
var (
	// ErrBehind means that the ref has changed since it was fetched.
	ErrBehind = errors.New("the ref has changed")
	// ErrRefused means that the remote does not accept the push.
	ErrRefused = errors.New("the remote refused the push")
)

const (
	opShare      = "share memory"
	opRemote     = "find remote"
	shareBytes   = 64 << 20
	shareTimeout = 5 * time.Minute
	// sharedRef is where the shadow has the fetched commit.
	sharedRef = "refs/shared/tip"
)

// remoteAddress returns the address of a remote as the configuration has it, which must be
// http, https, ssh, or a folder.
func (r *Repo) remoteAddress(name string) (string, error) {
	raw := ""
	r.config.sub("remote", "url", func(remote, value string) {
		if remote == name && raw == "" {
			raw = value
		}
	})
	refuse := &Error{
		Op: opRemote, Msg: "the address of the remote " + printable(name) + " is not one of https, ssh or a folder",
	}
	switch scheme, _, found := strings.Cut(raw, "://"); {
	case raw == "":
		return "", hinted(opRemote, "there is no remote "+printable(name), "name one with --remote")
	case strings.HasPrefix(raw, "-") || strings.ContainsFunc(raw, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "", refuse
	case found:
		if !slices.Contains(lazySchemes, scheme) {
			return "", refuse
		}
	case isLocalPath(raw):
		return r.address(raw), nil
	case strings.Contains(raw, "::"):
		if host, _, _ := strings.Cut(raw, "/"); net.ParseIP(strings.Trim(host, "[]:")) == nil {
			return "", refuse // ext::COMMAND runs it (T13)
		}
	}
	return raw, nil
}

// call prepares a command that uses the network as the user would: with the user's
// configuration, keys and credential helpers, and with the token if there is one.
func (s Shared) call(address string) call {
	c := call{op: opShare, asUser: true, set: append(slices.Clone(userFetch),
		"fetch.fsckObjects=true", "transfer.fsckObjects=true", "pack.compression=-1", "push.gpgSign=false")}
	if u, err := url.Parse(address); err == nil && s.Token != "" &&
		(u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())) &&
		!strings.ContainsAny(s.Token, "\x00\r\n") {
		c.set = append(c.set, tokenSetting(u, s.Token), "http.followRedirects=false")
	}
	return c
}

func (r *Repo) sharedAddress(s Shared) (string, error) {
	if !pullRef().MatchString(s.Ref) || strings.HasSuffix(s.Ref, ".lock") {
		return "", hinted(opShare, "not the full name of a ref: "+printable(s.Ref),
			"use refs/precedent/memory, or a branch: refs/heads/precedent-memory")
	}
	if s.Address == "" {
		return r.remoteAddress(s.Remote)
	}
	if filepath.IsAbs(s.Address) {
		return s.Address, nil
	}
	_, err := fetchURL(s.Address)
	return s.Address, err
}

// FetchShared fetches the last commit of the ref into a temporary folder, and returns its id;
// empty if the remote does not have the ref.
func (r *Repo) FetchShared(ctx context.Context, s Shared) (string, error) {
	from, err := r.sharedAddress(s)
	if err != nil {
		return "", err
	}
	c := s.call(from)
	c.args = append(slices.Clone(fetchArgs), "--depth=1", "--end-of-options", from, "+"+s.Ref+":"+sharedRef)
	said, cause, ended := r.fetchWithin(ctx, c, r.shadowObjects(), shareBytes, shareTimeout)
	switch {
	case errors.Is(cause, errTooMuch):
		return "", &Error{
			Op: opShare, Msg: printable(s.Ref) + " is larger than " + sizeText(shareBytes),
			Err: errTooMuch, Hint: "look at who wrote it, and delete it on the remote if it is not a memory",
		}
	case ended == nil && cause == nil:
	case cause == nil && strings.Contains(said, "couldn't find remote ref"):
		return "", nil
	case cause == nil && fsckFlaw(said) != "":
		return "", &Error{
			Op: opShare, Msg: printable(s.Ref) + " contains an object that attacks git: " + fsckFlaw(said),
			Err: ErrFlawed, Hint: "look at who wrote it, and delete it on the remote",
		}
	default:
		return "", s.failure(cause, ended, said)
	}
	id, err := r.line(ctx, opShare, "rev-parse", "--verify", "--end-of-options", sharedRef+"^{commit}")
	if err != nil || r.hash.valid(id) {
		return id, err
	}
	return "", &Error{Op: opShare, Msg: printable(s.Ref) + " is not a commit"}
}

// SharedFiles lists the files of a fetched commit with their sizes, at most the given number:
// more are an error.
func (r *Repo) SharedFiles(ctx context.Context, commit string, most int) (map[string]int64, error) {
	entries, err := r.list(ctx, commit, most, true)
	if err != nil {
		return nil, err
	}
	files := map[string]int64{}
	for _, e := range entries {
		if e.Mode != plainMode {
			return nil, &Error{Op: opShare, Msg: printable(e.Path) + " is not a regular file"}
		}
		files[e.Path] = e.size
	}
	return files, nil
}

// SharedFile is a file of a commit to make.
type SharedFile struct {
	Name string
	Data []byte
}

// CommitShared makes a commit with these files and no others, in a temporary folder. An
// empty parent makes the first one.
func (r *Repo) CommitShared(
	ctx context.Context, parent, message string, at time.Time, files []SharedFile,
) (string, error) {
	tree, err := r.build(ctx, head{}, func(w *builder) error {
		for _, f := range files {
			if err := w.add(f.Name, plainMode, f.Data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	c := Commit{Tree: tree, Name: "precedent", Email: "precedent@localhost", Message: message, At: at}
	if parent != "" {
		c.Parents = []string{parent}
	}
	return r.WriteCommit(ctx, c)
}

// PushShared moves the ref from the fetched commit to a new one; an empty one stands for no ref. The error
// wraps ErrBehind if somebody else has moved it, and ErrRefused if the remote does not accept the push.
func (r *Repo) PushShared(ctx context.Context, s Shared, from, to string) error {
	address, err := r.sharedAddress(s)
	if err != nil {
		return err
	}
	c := s.call(address)
	c.args = []string{
		"push", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
		"--force-with-lease=" + s.Ref + ":" + from, "--end-of-options", address, to + ":" + s.Ref,
	}
	said, cause, ended := r.fetchWithin(ctx, c, r.shadowObjects(), shareBytes, shareTimeout)
	if ended == nil && cause == nil {
		return nil
	}
	if cause != nil || !strings.Contains(said, "rejected]") && !strings.Contains(said, "failed to push") {
		return s.failure(cause, ended, said)
	}
	if now, err := r.FetchShared(ctx, s); err != nil || now != from {
		return errors.Join(err, fmt.Errorf("%s: %w", opShare, ErrBehind))
	}
	if containsAny(said, busyRef...) { // another push is under way
		return fmt.Errorf("%s: %w", opShare, ErrBehind)
	}
	e := &Error{
		Op: opShare, Msg: "the remote does not accept " + printable(s.Ref) + ": " + dismissal(said),
		Err: ErrRefused, Hint: "you need write permission there; to only read, use --read-only",
	}
	if !strings.HasPrefix(s.Ref, "refs/heads/") {
		e.Hint = "if the remote allows branches only, use --ref refs/heads/precedent-memory; " + e.Hint
	}
	return e
}

// dismissal returns the reason for which a push was refused.
func dismissal(said string) string {
	for line := range strings.Lines(said) {
		if _, why, ok := strings.Cut(line, "rejected] "); ok {
			return printable(strings.TrimSpace(why))
		}
	}
	return errorLine(said)
}

func (s Shared) failure(cause, err error, said string) error {
	e := failure(cause, opShare, err, said, shareTimeout)
	e.Hint = hintFor(said, []knownFailure{
		{
			"returned error: 403",
			"the token needs write permission for the contents of the repository; to only read, use --read-only",
		},
		{"Permission to", "you need write permission there; to only read, use --read-only"},
		{"could not read Username", "log in with git, or set the forge's token (GITHUB_TOKEN, GITEA_TOKEN)"},
		{"Authentication failed", "log in with git, or set the forge's token (GITHUB_TOKEN, GITEA_TOKEN)"},
		{"returned error: 401", "log in with git, or set the forge's token (GITHUB_TOKEN, GITEA_TOKEN)"},
		{
			"Could not read from remote repository",
			"check that git fetch works with this remote without asking for a password",
		},
		{"does not appear to be a git repository", "name another remote with --remote"},
		{"Could not resolve host", "check the network connection"},
		{"Failed to connect", "check the network connection"},
	})
	return e
}
