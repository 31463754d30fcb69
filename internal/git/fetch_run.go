package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

var errTooMuch = errors.New("more than may be fetched")

// watchEvery is how often the size of what arrives is looked at.
const watchEvery = 100 * time.Millisecond

// legacyFlaws are what old and honest histories hold. All other flaws that git
// knows, among them every known attack, end a fetch.
var legacyFlaws = []string{"zeroPaddedFilemode", "badTimezone", "missingSpaceBeforeDate", "missingSpaceBeforeEmail", "missingEmail", "badEmail"}

// fetchSettings are those of the one command that talks to a network. The
// token and the proxy are among them, and so in the environment of that command
// alone.
func (p Pull) fetchSettings() [][2]string {
	_, u, _ := p.from()
	set := [][2]string{
		{"protocol." + u.Scheme + ".allow", "always"},
		{"http.followRedirects", "false"},
		// Names are the proxy's to look up, as they are when Go asks it. Empty is none.
		{"http.proxy", strings.Replace(p.Proxy, "socks5://", "socks5h://", 1)},
		{"http.lowSpeedLimit", "1000"},
		{"http.lowSpeedTime", "60"},
		{"transfer.fsckObjects", "true"},
		{"fetch.fsckObjects", "true"},
		{"fetch.unpackLimit", "1"},
		{"fetch.recurseSubmodules", "false"},
		{"fetch.writeCommitGraph", "false"},
		// By default git asks the lending repository itself for its branches.
		{"core.alternateRefsCommand", ":"},
		{"core.logAllRefUpdates", "false"},
	}
	for _, flaw := range legacyFlaws {
		set = append(set, [2]string{"fetch.fsck." + flaw, "ignore"})
	}
	if p.CAFile != "" {
		set = append(set, [2]string{"http.sslCAInfo", p.CAFile})
	}
	if p.Token != "" {
		set = append(set, [2]string{"http." + u.Scheme + "://" + u.Host + "/.extraHeader", authorization(p.Token)})
	}
	return set
}

// fetch fetches both ends of a pull request.
func (r *Repo) fetch(ctx context.Context, p Pull, v view, objects string) error {
	head, base := p.kept()
	return r.fetchRefs(ctx, p, v, objects, "+"+p.Ref+":"+head, "+"+p.Base+":"+base)
}

// fetchRefs runs git fetch, which writes into the objects folder of the view.
func (r *Repo) fetchRefs(ctx context.Context, p Pull, v view, objects string, refspecs ...string) error {
	from, u, err := p.from()
	if err != nil {
		return err
	}
	c := call{
		op: opFetch, view: v, set: p.fetchSettings(),
		env: []string{"GIT_ALLOW_PROTOCOL=" + u.Scheme},
		args: append([]string{
			"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap=",
			"--end-of-options", from,
		}, refspecs...),
	}
	if v == real { // it stays: a power cut must not leave half of it
		c.set = append(c.set, [2]string{"core.fsync", "committed"})
	}
	before := folderSize(objects)
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, errTimeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var said tail
	cmd := r.command(ctx, c)
	cmd.Stderr = &said
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
				if folderSize(objects)-before > p.MaxBytes {
					stop(errTooMuch)
				}
			}
		}
	}()
	err = cmd.Run()
	close(ended)
	<-watched
	if context.Cause(ctx) == nil && folderSize(objects)-before > p.MaxBytes {
		stop(errTooMuch)
	}
	if err == nil && context.Cause(ctx) == nil {
		return nil
	}
	return p.failure(ctx, err, said.String())
}

// failure says why a fetch did not work, and what helps.
func (p Pull) failure(ctx context.Context, err error, said string) error {
	if errors.Is(context.Cause(ctx), errTooMuch) {
		return &Error{Op: opFetch, Msg: "it is more than " + sizeText(p.MaxBytes), Err: errTooMuch}
	}
	e := failure(ctx, opFetch, err, said, p.Timeout)
	if errors.Is(context.Cause(ctx), errTimeout) {
		e.Hint = "clone the repository yourself, and run this in the clone"
		return e
	}
	if flaw := fsckFlaw(said); flaw != "" {
		e.Msg, e.Hint = "it holds what is made to attack git: "+flaw, "look at the pull request's files in a browser before anybody checks it out"
		return e
	}
	for _, known := range []struct{ words, hint string }{
		{" from proxy", "HTTPS_PROXY names the proxy, with its user and password; NO_PROXY the hosts that need none"},
		{"resolve proxy", "HTTPS_PROXY names the proxy; NO_PROXY the hosts that need none"},
		{"could not read Username", "the host wants a token that may read the repository"},
		{"Authentication failed", "the token may not read the repository"},
		{"returned error: 401", "the token may not read the repository"},
		{"returned error: 403", "the token may not read the repository"},
		{"not found", "there is no such repository, or the token may not see it"},
		{"couldn't find remote ref", "the pull request's commits are gone from the server"},
		{"not our ref", "the pull request's base is gone from the server"},
		{"certificate", "SSL_CERT_FILE names a file with the certificates to trust"},
		{"Could not resolve host", "is there a network?"},
		{"Failed to connect", "is there a network?"},
	} {
		if strings.Contains(said, known.words) {
			e.Hint = known.hint
			break
		}
	}
	return e
}

// fsckFlaw is what git's check of the objects complained about.
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

// folderSize adds up the files below a folder, in bytes. What comes and goes
// meanwhile may be missed.
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

// sweep removes what a fetch left behind that did not come to its end. Nobody
// else may be fetching.
func sweep(gitDir string) error {
	root, err := os.OpenRoot(gitDir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); !d.IsDir() && (strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "tmp_") || strings.HasPrefix(base, ".tmp-")) {
			return root.Remove(name)
		}
		return nil
	})
}
