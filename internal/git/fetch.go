package git

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// PullRequest is the kind of a fetched range: what a pull request adds to the
// branch that it is for.
const PullRequest Kind = "pull-request"

// Pull says which pull request to fetch, and from where.
type Pull struct {
	// URL is the base repository's: https, or http of this very machine. It
	// holds no user and no password.
	URL string
	// Folder is the base repository's on this machine, as an absolute path, in
	// place of URL. It comes from the operator, never from a forge.
	Folder string
	// Token is sent to the URL's own host and to nobody else, in the environment
	// of one run of git. Empty: none is sent.
	Token string
	// Proxy is the address of the proxy that leads to the URL's host, the operator's:
	// http://HOST:PORT. It may hold a user and a password. Empty: none.
	Proxy string
	// Ref holds the head in the base repository, forks included: refs/pull/7/head.
	Ref string
	// Base and Head are the ids that the forge announced.
	Base, Head string
	// CAFile holds the certificates of authorities that are trusted, as PEM.
	// Empty: the system's.
	CAFile string
	// MaxBytes bounds what is fetched. Zero: 4 GiB.
	MaxBytes int64
	// Timeout bounds the fetch. Zero: ten minutes.
	Timeout time.Duration
}

// ErrMoved says that the head is no more what the forge announced.
var ErrMoved = errors.New("the head has moved")

const (
	opFetch      = "fetch pull request"
	fetchBytes   = 4 << 30
	fetchTimeout = 10 * time.Minute
	// mostHaves is how many branches of a clone the remote is told of, newest
	// first. What they hold is not sent again.
	mostHaves = 500
)

// pullRef is a ref that a forge may name: a few plain words, none of which can
// be an option, a pattern or a way out of refs/.
var pullRef = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^refs(?:/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*){2,}$`) })

// completed checks a pull request and fills in what was left out.
func (p Pull) completed(h hash) (Pull, error) {
	if p.MaxBytes <= 0 {
		p.MaxBytes = fetchBytes
	}
	if p.Timeout <= 0 {
		p.Timeout = fetchTimeout
	}
	if _, _, err := p.from(); err != nil {
		return p, err
	}
	if !pullRef().MatchString(p.Ref) {
		return p, &Error{Op: opFetch, Msg: "not the ref of a pull request: " + printable(p.Ref)}
	}
	for _, id := range []string{p.Base, p.Head} {
		if !h.valid(id) {
			return p, &Error{Op: opFetch, Msg: "not the id of a commit in this repository's format: " + printable(id)}
		}
	}
	if strings.ContainsAny(p.Token, "\x00\r\n") {
		return p, &Error{Op: opFetch, Msg: "the token has more than one line"}
	}
	if strings.ContainsFunc(p.Proxy, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return p, &Error{Op: opFetch, Msg: "the proxy's address is no URL"}
	}
	return p, nil
}

// from is where to fetch, as git takes it, and what that goes by.
func (p Pull) from() (address string, u *url.URL, err error) {
	if p.Folder == "" {
		u, err = fetchURL(p.URL)
		return p.URL, u, err
	}
	if !filepath.IsAbs(p.Folder) || strings.ContainsAny(p.Folder, "\x00\r\n") || p.URL != "" || p.Token != "" {
		return "", nil, &Error{Op: opFetch, Msg: "not a folder to fetch from: " + printable(p.Folder)}
	}
	return p.Folder, &url.URL{Scheme: "file"}, nil
}

// fetchURL reads the address of a repository on the network. Everything but
// https is refused, because other transports run programs or read files; http
// is good enough for a server on this machine.
func fetchURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	refuse := func(why string) (*url.URL, error) {
		return nil, &Error{Op: opFetch, Msg: "the repository's address is not used: " + why, Hint: "only https addresses are fetched from"}
	}
	switch {
	case err != nil || strings.ContainsFunc(raw, func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(`\'"<>|`, c) }):
		return refuse("it is no URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("its scheme is " + printable(u.Scheme))
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return refuse("http is not encrypted")
	case u.User != nil:
		return refuse("it holds a user")
	case u.Hostname() == "" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") == "":
		return refuse("it names no repository on a host")
	}
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Whole tells whether the clone has its whole history and every file of it, so
// that what a fetch brings can rest on it.
func (r *Repo) Whole() bool { return !r.Shallow() && !r.partial() }

// FetchPull fetches a pull request and resolves it: from the merge base with
// the announced base, whose guide and policy count, to the announced head. The
// clone, which must be whole, lends what it has and is not changed: what is new
// lies in the shadow and goes with it. Errors are of type *Error; they wrap
// ErrMoved if the ref holds another head than the announced one.
func (r *Repo) FetchPull(ctx context.Context, p Pull) (Range, error) {
	p, err := p.completed(r.hash)
	if err != nil {
		return Range{}, err
	}
	haves := filepath.Join(r.shadow, "packed-refs")
	if err := r.offerHaves(ctx, haves); err != nil {
		return Range{}, err
	}
	err = r.fetch(ctx, p, shadowed, filepath.Join(r.shadow, "objects"))
	if gone := os.Remove(haves); err == nil && gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = asError(opFetch, gone)
	}
	if err != nil {
		return Range{}, err
	}
	return r.pulled(ctx, p, shadowed)
}

// offerHaves names the tips of the clone's branches in the shadow, so that the
// remote sends only what comes on top of them.
func (r *Repo) offerHaves(ctx context.Context, file string) error {
	out, err := r.run(ctx, call{op: opFetch, view: real, args: []string{
		"for-each-ref", fmt.Sprintf("--count=%d", mostHaves), "--sort=-committerdate", "--format=%(objectname) %(objecttype)",
		"refs/heads", "refs/remotes",
	}}, configBytes)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	n := 0
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutSuffix(strings.TrimSpace(line), " commit"); ok && r.hash.valid(id) {
			fmt.Fprintf(&b, "%s refs/have/%04d\n", id, n)
			n++
		}
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		return asError(opFetch, err)
	}
	return nil
}

// kept are the names under which the ends of a pull request are kept. No branch's
// name can be a folder and another branch's the file in its place.
func (p Pull) kept() (head, base string) {
	name := "refs/precedent/" + strings.TrimSuffix(strings.TrimPrefix(p.Ref, "refs/"), "/head")
	return name + "/head", name + "/base"
}

// pulled resolves what was fetched.
func (r *Repo) pulled(ctx context.Context, p Pull, v view) (Range, error) {
	head, _ := p.kept()
	out, err := r.run(ctx, call{
		op: opFetch, view: v, stdin: strings.NewReader(head + "^{commit}\n" + p.Base + "^{commit}\n"),
		args: []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"},
	}, configBytes)
	if err != nil {
		return Range{}, err
	}
	lines := strings.Split(string(out), "\n")
	switch {
	case len(lines) < 2 || lines[1] != p.Base+" commit":
		return Range{}, &Error{Op: opFetch, Msg: "the base " + p.Base[:12] + " is no commit"}
	case lines[0] != p.Head+" commit":
		now, _, _ := strings.Cut(lines[0], " ")
		return Range{}, &Error{
			Op: opFetch, Msg: printable(p.Ref) + " is at " + printable(now[:min(len(now), 12)]) + ", not at the announced " + p.Head[:12], Err: ErrMoved,
			Hint: "somebody is pushing to it: try again",
		}
	}
	base, err := r.mergeBase(ctx, p.Base, p.Head)
	if err != nil {
		return Range{}, err
	}
	if base == "" {
		return Range{}, &Error{Op: opFetch, Msg: "the head " + p.Head[:12] + " and the base " + p.Base[:12] + " have no common ancestor"}
	}
	rg := Range{Kind: PullRequest, Base: base, Head: p.Head, BaseCommit: p.Base, BaseName: p.Base[:12], HeadName: p.Head[:12]}
	rg.Log, err = r.log(ctx, logCommits, rg.Head, "^"+rg.Base)
	return rg, err
}

// authorization is the header that a token makes. Forges take it as the
// password of any user, whatever kind of token it is.
func authorization(token string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
}
