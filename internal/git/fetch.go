package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// PullRequest is the kind of a fetched range: what a pull request adds to its base branch.
const PullRequest Kind = "pull-request"

// Pull is a pull request to fetch.
type Pull struct {
	// URL is the base repository's address: https, or http on this machine. It must
	// not contain a user or password.
	URL string
	// Folder is the absolute path of the base repository on this machine, used
	// instead of URL. It comes from the operator, never from a forge.
	Folder string
	// Token is sent to the URL's host only. It is passed in the environment of one
	// git process. If empty, none is sent.
	Token string
	// Proxy is the operator's proxy for the URL's host: http://HOST:PORT. It may
	// contain a user and a password. If empty, none is used.
	Proxy      string
	Ref        string // the head's ref in the base repository, also for forks: refs/pull/7/head
	Base, Head string // the commit ids from the forge
	// CAFile holds the trusted certificate authorities, as PEM. If empty, the system's are used.
	CAFile string
	// MaxBytes limits the size of the fetch. Zero means 4 GiB.
	MaxBytes int64
	// Timeout limits the duration of the fetch. Zero means ten minutes.
	Timeout time.Duration
}

// ErrMoved means that the ref no longer points at the head that the forge reported.
var ErrMoved = errors.New("the head has moved")

// ErrFlawed means that git refused an object, because it may attack programs.
var ErrFlawed = errors.New("invalid object")

const (
	opFetch      = "fetch pull request"
	fetchBytes   = 4 << 30
	fetchTimeout = 10 * time.Minute
	// maxHaves is the number of branch tips that the remote is told about, newest
	// first. Their commits are not sent again.
	maxHaves = 500
)

// pullRef matches refs that a forge may name: a few plain words that cannot be an
// option, a pattern or a path out of refs/ (T12).
var pullRef = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^refs(?:/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*){2,}$`)
})

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
		return p, &Error{Op: opFetch, Msg: "not a pull request ref: " + printable(p.Ref)}
	}
	for _, id := range []string{p.Base, p.Head} {
		if !h.valid(id) {
			return p, &Error{Op: opFetch, Msg: "not a commit id in this repository's format: " + printable(id)}
		}
	}
	if strings.ContainsAny(p.Token, "\x00\r\n") {
		return p, &Error{Op: opFetch, Msg: "the token has more than one line"}
	}
	if strings.ContainsFunc(p.Proxy, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return p, &Error{Op: opFetch, Msg: "the proxy address is not a URL"}
	}
	return p, nil
}

// from returns the address to fetch from, in the form for git and as a URL.
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

// fetchURL parses the address of a remote repository. Only https is allowed, because other transports run
// programs or read files (T13), and http shows the token (T14); it is allowed for a server on this machine.
func fetchURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	refuse := func(why string) (*url.URL, error) {
		return nil, &Error{
			Op: opFetch, Msg: "the repository's address is not allowed: " + why, Hint: "use an https address",
		}
	}
	switch {
	case err != nil || strings.ContainsAny(raw, `\'"<>|`) || strings.ContainsFunc(raw,
		func(c rune) bool { return c <= ' ' || c >= 0x7f }):
		return refuse("it is not a URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("its scheme is " + printable(u.Scheme))
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return refuse("http is not encrypted")
	case u.User != nil:
		return refuse("it contains a user")
	case u.Hostname() == "" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") == "":
		return refuse("it does not name a repository on a host")
	}
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Whole reports whether the clone has its whole history and all files, so that a fetch can build on it.
func (r *Repo) Whole() bool { return !r.Shallow() && !r.partial() }

// FetchPull fetches a pull request and resolves its range: from the merge base with the reported base, whose
// guide and policy apply, to the reported head. The clone must be whole. Its objects are reused, but it does
// not change: new objects go to the shadow, which is temporary. Errors are of type *Error; they wrap ErrMoved
// if the ref points at another head.
func (r *Repo) FetchPull(ctx context.Context, p Pull) (Range, error) {
	p, err := p.completed(r.hash)
	if err != nil {
		return Range{}, err
	}
	haves := filepath.Join(r.shadow, "packed-refs")
	if err := r.offerHaves(ctx, haves); err != nil {
		return Range{}, err
	}
	err = r.fetch(ctx, p, shadowed, r.shadowObjects())
	if gone := os.Remove(haves); err == nil && gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = asError(opFetch, gone)
	}
	if err != nil {
		return Range{}, err
	}
	return r.resolvePull(ctx, p, shadowed)
}

// offerHaves lists the tips of the clone's branches in the shadow, so that the remote
// sends only newer commits.
func (r *Repo) offerHaves(ctx context.Context, file string) error {
	out, err := r.run(ctx, call{op: opFetch, view: real, args: []string{
		"for-each-ref", fmt.Sprintf("--count=%d", maxHaves), "--sort=-committerdate",
		"--format=%(objectname) %(objecttype)",
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

// refNames are the refs under which the ends of a pull request are stored. They are
// chosen so that no ref can be a folder where another one is a file.
func (p Pull) refNames() (head, base string) {
	name := "refs/precedent/" + strings.TrimSuffix(strings.TrimPrefix(p.Ref, "refs/"), "/head")
	return name + "/head", name + "/base"
}

func (r *Repo) resolvePull(ctx context.Context, p Pull, v view) (Range, error) {
	head, _ := p.refNames()
	base, err := r.batch(v).find(ctx, opFetch, p.Base)
	if err != nil {
		return Range{}, err
	}
	now, err := r.batch(v).find(ctx, opFetch, head+"^{commit}")
	switch {
	case err != nil:
		return Range{}, err
	case base.kind != "commit":
		return Range{}, &Error{Op: opFetch, Msg: "the base " + p.Base[:12] + " is not a commit"}
	case now.id != p.Head:
		at := printable(now.id[:min(len(now.id), 12)])
		return Range{}, &Error{
			Op: opFetch, Msg: printable(p.Ref) + " is at " + at + ", not at the expected " + p.Head[:12], Err: ErrMoved,
			Hint: "someone has just pushed: try again",
		}
	}
	from, err := r.mergeBase(ctx, p.Base, p.Head)
	if err != nil {
		return Range{}, err
	}
	rg := Range{
		Kind: PullRequest, Base: cmp.Or(from, p.Base), // without a common ancestor, forges compare the two
		Head: p.Head, Unrelated: from == "", BaseCommit: p.Base, HeadCommit: p.Head,
		BaseName: p.Base[:12], HeadName: p.Head[:12],
	}
	rg.Log, err = r.log(ctx, logCommits, rg.Head, "^"+rg.Base)
	return rg, err
}

// authorization is the header for a token. Forges accept any kind of token as a password, for any user name.
func authorization(token string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
}

// maxEarlier limits the earlier commits that are fetched for a pull request.
const maxEarlier = 50

// FetchEarlier fetches commits that a pull request had before a force push, and returns those that can be
// read. The server may have deleted the others. p is the argument of FetchPull.
func (r *Repo) FetchEarlier(ctx context.Context, p Pull, ids []string) []string {
	return r.fetchEarlier(ctx, p, ids, shadowed, r.shadowObjects())
}

// FetchEarlier is like Repo.FetchEarlier, but keeps what it fetches in the mirror.
func (m *Mirror) FetchEarlier(ctx context.Context, p Pull, ids []string) []string {
	turn, err := takeLock(ctx, m.dir+".fetch", true)
	if err != nil {
		return nil
	}
	defer turn.release()
	return m.fetchEarlier(ctx, p, ids, real, filepath.Join(m.dir, "objects"))
}

func (r *Repo) fetchEarlier(ctx context.Context, p Pull, ids []string, v view, objects string) []string {
	p, err := p.completed(r.hash)
	if err != nil {
		return nil
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	ids = slices.DeleteFunc(ids, func(id string) bool { return !r.hash.valid(id) })
	have := map[string]bool{}
	head, _ := p.refNames()
	asked := 0
	for _, id := range ids {
		o, err := r.batch(v).find(ctx, opFetch, id)
		if have[id] = err == nil && o.kind == "commit"; have[id] || asked >= maxEarlier || ctx.Err() != nil {
			continue
		}
		asked++
		// One at a time: git fetches nothing if one of several is missing.
		if r.fetchRefs(ctx, p, v, objects, "+"+id+":"+strings.TrimSuffix(head, "/head")+"/at/"+id) == nil {
			have[id] = true
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return !have[id] })
}
