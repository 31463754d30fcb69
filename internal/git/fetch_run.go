package git

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

var errTooMuch = errors.New("fetch size limit exceeded")

// watchEvery is the interval between checks of the fetched size.
const watchEvery = 100 * time.Millisecond

// legacyFlaws occur in honest old histories. All other flaws that git checks for,
// including every known attack by an object (T13), end a fetch.
var legacyFlaws = []string{
	"zeroPaddedFilemode", "badTimezone", "missingSpaceBeforeDate", "missingSpaceBeforeEmail",
	"missingEmail", "badEmail",
}

// fetchSettings are the settings of the one command that uses the network. They
// include the token and the proxy, which are thus in the environment of that command
// only, and are not sent on to where a redirect leads (T14).
func (p Pull) fetchSettings() []string {
	_, u, _ := p.from()
	set := []string{
		"protocol." + u.Scheme + ".allow=always", "http.followRedirects=false",
		// The proxy resolves host names, as with Go's client. Empty means none.
		"http.proxy=" + strings.Replace(p.Proxy, "socks5://", "socks5h://", 1),
		"http.lowSpeedLimit=1000", "http.lowSpeedTime=60", "transfer.fsckObjects=true", "fetch.fsckObjects=true",
		"fetch.unpackLimit=1", "fetch.recurseSubmodules=false", "fetch.writeCommitGraph=false",
		"core.alternateRefsCommand=:", // by default git would ask the clone itself for its branches
		"core.logAllRefUpdates=false",
	}
	for _, flaw := range legacyFlaws {
		set = append(set, "fetch.fsck."+flaw+"=ignore")
	}
	if p.CAFile != "" {
		set = append(set, "http.sslCAInfo="+p.CAFile)
	}
	if p.Token != "" {
		set = append(set, tokenSetting(u, p.Token))
	}
	return set
}

// tokenSetting makes git send a token to the host of an address.
func tokenSetting(u *url.URL, token string) string {
	return "http." + u.Scheme + "://" + u.Host + "/.extraHeader=" + authorization(token)
}

// fetchArgs begin each fetch: only what is asked for, and nothing besides.
var fetchArgs = []string{
	"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance",
	"--refmap=",
}

// userFetch are settings of the commands that use the network as the user would.
var userFetch = []string{
	"fetch.negotiationAlgorithm=noop", "fetch.unpackLimit=1", "fetch.writeCommitGraph=false",
	"core.alternateRefsCommand=:", "http.lowSpeedLimit=1000", "http.lowSpeedTime=30",
}

// fetch fetches both ends of a pull request.
func (r *Repo) fetch(ctx context.Context, p Pull, v view, objects string) error {
	head, base := p.refNames()
	return r.fetchRefs(ctx, p, v, objects, "+"+p.Ref+":"+head, "+"+p.Base+":"+base)
}

// fetchRefs runs git fetch, which writes to the objects folder of the view.
func (r *Repo) fetchRefs(ctx context.Context, p Pull, v view, objects string, refspecs ...string) error {
	from, u, err := p.from()
	if err != nil {
		return err
	}
	c := call{
		op: opFetch, view: v, set: p.fetchSettings(),
		env:  []string{"GIT_ALLOW_PROTOCOL=" + u.Scheme},
		args: slices.Concat(fetchArgs, []string{"--end-of-options", from}, refspecs),
	}
	if v == real { // permanent, so it must survive a power cut
		c.set = append(c.set, "core.fsync=committed")
	}
	said, cause, err := r.fetchWithin(ctx, c, objects, p.MaxBytes, p.Timeout)
	if err == nil && cause == nil {
		return nil
	}
	return p.failure(cause, err, said)
}

// fetchWithin runs git fetch until it ends, or exceeds a limit on what it adds to the
// objects folder or on its time (T21): then cause says which.
func (r *Repo) fetchWithin(
	ctx context.Context, c call, objects string, maxBytes int64, limit time.Duration,
) (said string, cause, err error) {
	before := folderSize(objects)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var words tail
	cmd := r.command(ctx, c)
	cmd.Stderr = &words
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				if folderSize(objects)-before > maxBytes {
					stop(errTooMuch)
				}
			}
		}
	}()
	err = cmd.Run()
	close(ended)
	<-watched
	if context.Cause(ctx) == nil && folderSize(objects)-before > maxBytes {
		stop(errTooMuch)
	}
	return words.String(), context.Cause(ctx), err
}

func (p Pull) failure(cause, err error, said string) error {
	if errors.Is(cause, errTooMuch) {
		return &Error{Op: opFetch, Msg: "it is larger than " + sizeText(p.MaxBytes), Err: errTooMuch}
	}
	e := failure(cause, opFetch, err, said, p.Timeout)
	if errors.Is(cause, errTimeout) {
		e.Hint = "clone the repository, and run this in the clone"
		return e
	}
	if flaw := fsckFlaw(said); flaw != "" {
		e.Err, e.Msg = ErrFlawed, "it contains an object that attacks git: "+flaw
		e.Hint = "inspect the pull request's files in a browser before anyone checks it out"
		return e
	}
	e.Hint = cmp.Or(hintFor(said, []knownFailure{
		{" from proxy", "set HTTPS_PROXY to the proxy, with user and password, and NO_PROXY to the hosts that need none"},
		{"resolve proxy", "set HTTPS_PROXY to the proxy, and NO_PROXY to the hosts that need none"},
		{"could not read Username", "provide a token that can read the repository"},
		{"Authentication failed", "the token cannot read the repository"},
		{"returned error: 401", "the token cannot read the repository"},
		{"returned error: 403", "the token cannot read the repository"},
		{"not found", "the repository does not exist, or the token cannot see it"},
		{"couldn't find remote ref", "the server no longer has the pull request's commits"},
		{"not our ref", "the server no longer has the pull request's base"},
		{"certificate", "set SSL_CERT_FILE to a file with the certificates to trust"},
		{"Could not resolve host", "check the network connection"},
		{"Failed to connect", "check the network connection"},
	}), e.Hint)
	return e
}

// knownFailure is a failure of git by words of its message, and the hint for it.
type knownFailure struct{ words, hint string }

// hintFor returns the hint of the first known failure that a message has; empty for none.
func hintFor(said string, known []knownFailure) string {
	for _, k := range known {
		if strings.Contains(said, k.words) {
			return k.hint
		}
	}
	return ""
}

// fsckFlaw returns the flaw that git's object check reported.
func fsckFlaw(said string) string {
	if !strings.Contains(said, "fsck error") {
		return ""
	}
	for line := range strings.Lines(said) {
		if _, flaw, ok := strings.Cut(line, "error: object "); ok {
			return printable(strings.TrimSpace(flaw))
		}
	}
	return "a check failed"
}

// folderSize adds up the sizes of the files in a folder, in bytes. Files that are
// created or removed meanwhile may be missed.
func folderSize(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // as promised
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

// removeLeftovers removes the files of an unfinished fetch, as a kill leaves them (fault 17). No
// other fetch may be running.
func removeLeftovers(gitDir string) error {
	root, err := os.OpenRoot(gitDir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); !d.IsDir() &&
			(strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "tmp_") || strings.HasPrefix(base, ".tmp-")) {
			return root.Remove(name)
		}
		return nil
	})
}
