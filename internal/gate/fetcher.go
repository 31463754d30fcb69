package gate

import (
	"context"
	"crypto/sha1" //nolint:gosec // old lock files have nothing else
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
)

// Limits of what one dependency step gets from a registry (T21).
const (
	maxArchive  = 256 << 20 // bytes of one archive
	maxPage     = 32 << 20  // bytes of a page of an index
	maxFetched  = 1 << 30   // bytes together
	maxArchives = 10_000    // archives of one lock file
	atOnce      = 8         // requests
)

type archive struct {
	url string
	// locked is a text that has its hash: a lock file, or the hash alone. If it is empty, the
	// program that asks for the file checks it.
	locked string
}

// hashes computes what lock files may have of an archive: SHA-1, which old ones have, SHA-256 and
// SHA-512, in hexadecimal digits and in the form of subresource integrity.
type hashes [3]hash.Hash

func newHashes() hashes { return hashes{sha1.New(), sha256.New(), sha512.New()} } //nolint:gosec // see above

func (h hashes) isIn(locked string) bool {
	for i, algorithm := range []string{"sha1", "sha256", "sha512"} {
		sum := h[i].Sum(nil)
		if strings.Contains(locked, hex.EncodeToString(sum)) ||
			strings.Contains(locked, algorithm+"-"+base64.StdEncoding.EncodeToString(sum)) {
			return true
		}
	}
	return false
}

var (
	errTooMuch  = errors.New("the registry sends too much")
	errOther    = errors.New("the registry has another file than the lock file")
	errEntries  = errors.New("the lock file lists too many packages")
	errRegistry = errors.New("the registry does not answer")
)

// fetcher gets files from the operator's registries. Its methods may be called concurrently.
type fetcher struct {
	client *http.Client
	dir    string // for files that are being read
	slots  chan struct{}
	spent  atomic.Int64 // bytes
	silent atomic.Bool  // the registry did not answer a request
}

func newFetcher(client *http.Client, dir string) *fetcher {
	if client == nil {
		client = http.DefaultClient
	}
	return &fetcher{client: client, dir: dir, slots: make(chan struct{}, atOnce)}
}

// fetching returns a fetcher, whose folder is removed by done. It ends after fetchTime.
func (s *session) fetching(ctx context.Context) (_ context.Context, f *fetcher, done func(), err error) {
	dir, err := os.MkdirTemp("", "precedent-fetch-")
	if err != nil {
		return ctx, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	return ctx, newFetcher(s.Client, dir), func() { cancel(); removeKept(dir) }, nil
}

// get requests a file and writes it, most bytes at the most.
func (f *fetcher) get(ctx context.Context, address, accept string, most int64, to io.Writer) error {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	//nolint:gosec // the operator's registry, or a server that it names
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errRegistry // the address may hold a password
	}
	request.Header.Set("Accept", accept)
	response, err := f.client.Do(request) //nolint:gosec // the operator's registry
	if err == nil && response.StatusCode >= http.StatusInternalServerError {
		_ = response.Body.Close()
		response, err = f.client.Do(request) //nolint:gosec // see above
	}
	if err != nil {
		f.silent.Store(true)
		return errors.Join(errRegistry, ctx.Err())
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the registry answers with status %d", response.StatusCode)
	}
	n, err := io.Copy(to, io.LimitReader(response.Body, most+1))
	if err != nil {
		return errRegistry
	}
	if n > most || f.spent.Add(n) > maxFetched {
		return errTooMuch
	}
	return nil
}

// fetch gets an archive and checks it. The caller closes the file, which has no name.
func (f *fetcher) fetch(ctx context.Context, a archive) (*os.File, error) {
	file, err := os.CreateTemp(f.dir, "archive-")
	if err != nil {
		return nil, err
	}
	err = os.Remove(file.Name())
	h := newHashes()
	if err == nil {
		err = f.get(ctx, a.url, "*/*", maxArchive, io.MultiWriter(file, h[0], h[1], h[2]))
	}
	if err == nil && a.locked != "" && !h.isIn(a.locked) {
		err = errOther
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// answer writes an archive as the answer to a request, after it was checked.
func (f *fetcher) answer(w http.ResponseWriter, r *http.Request, a archive) {
	file, err := f.fetch(r.Context(), a)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil {
		w.Header().Set("Content-Length", fmt.Sprint(info.Size()))
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = io.Copy(w, file)
}

// below joins an address and a path, whose segments are escaped.
func below(address, path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.TrimSuffix(address, "/") + "/" + strings.Join(segments, "/")
}
