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

// Limits of what one dependency step gets from a registry.
const (
	maxArchive  = 256 << 20 // bytes of one archive
	maxPage     = 32 << 20  // bytes of a page of an index
	maxFetched  = 1 << 30   // bytes together
	maxArchives = 10_000    // archives of one lock file
	atOnce      = 8         // requests
)

// digest is what an archive must hash to.
type digest struct {
	algorithm string
	sum       []byte
}

// digestSize are the hash functions of lock files, with their sizes in bytes.
var digestSize = map[string]int{"sha1": sha1.Size, "sha256": sha256.Size, "sha384": sha512.Size384, "sha512": sha512.Size}

func (d digest) hash() hash.Hash {
	switch d.algorithm {
	case "sha512":
		return sha512.New()
	case "sha384":
		return sha512.New384()
	case "sha256":
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // see above
}

// parseIntegrity reads the strongest of the hashes in the form of subresource integrity, such as
// sha512-<base64>. It is not ok if there is none.
func parseIntegrity(text string) (digest, bool) {
	best := digest{}
	for one := range strings.FieldsSeq(text) {
		algorithm, encoded, _ := strings.Cut(one, "-")
		sum, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil && digestSize[algorithm] == len(sum) && len(sum) > len(best.sum) {
			best = digest{algorithm, sum}
		}
	}
	return best, best.sum != nil
}

// parseHex reads a hash in hexadecimal digits.
func parseHex(algorithm, text string) (digest, bool) {
	sum, err := hex.DecodeString(text)
	return digest{algorithm, sum}, err == nil && digestSize[algorithm] == len(sum)
}

// archive is a file of a registry.
type archive struct {
	url string
	// want is its hash; without a sum, the program that asks for the file checks it.
	want digest
}

var (
	errTooMuch  = errors.New("the registry sends too much")
	errOther    = errors.New("the registry has another file than the lock file")
	errRegistry = errors.New("the registry does not answer")
)

// fetcher gets files from the operator's registries. Its methods may be called concurrently.
type fetcher struct {
	client *http.Client
	dir    string // for files that are being read
	slots  chan struct{}
	spent  atomic.Int64 // bytes
}

func newFetcher(client *http.Client, dir string) *fetcher {
	if client == nil {
		client = http.DefaultClient
	}
	return &fetcher{client: client, dir: dir, slots: make(chan struct{}, atOnce)}
}

// fetching calls use with a fetcher, whose folder is removed afterwards. It ends after fetchTime.
func (s *session) fetching(ctx context.Context, use func(ctx context.Context, f *fetcher) error) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	dir, err := os.MkdirTemp("", "precedent-fetch-")
	if err != nil {
		return err
	}
	defer removeKept(dir)
	return use(ctx, newFetcher(s.Client, dir))
}

// get requests a file and writes it, most bytes at the most.
func (f *fetcher) get(ctx context.Context, address, accept string, most int64, to io.Writer) (http.Header, error) {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil) //nolint:gosec // the operator's registry, or a server that it names
	if err != nil {
		return nil, errRegistry // the address may hold a password
	}
	request.Header.Set("Accept", accept)
	response, err := f.client.Do(request) //nolint:gosec // the operator's registry
	if err == nil && response.StatusCode >= http.StatusInternalServerError {
		_ = response.Body.Close()
		response, err = f.client.Do(request) //nolint:gosec // see above
	}
	if err != nil {
		return nil, errors.Join(errRegistry, ctx.Err())
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the registry answers with status %d", response.StatusCode)
	}
	n, err := io.Copy(to, io.LimitReader(response.Body, most+1))
	if err != nil {
		return nil, errRegistry
	}
	if n > most || f.spent.Add(n) > maxFetched {
		return nil, errTooMuch
	}
	return response.Header, nil
}

// fetch gets an archive and checks it. The caller closes the file, which has no name.
func (f *fetcher) fetch(ctx context.Context, a archive) (*os.File, error) {
	file, err := os.CreateTemp(f.dir, "archive-")
	if err != nil {
		return nil, err
	}
	err = os.Remove(file.Name())
	h := a.want.hash()
	if err == nil {
		_, err = f.get(ctx, a.url, "*/*", maxArchive, io.MultiWriter(file, h))
	}
	if err == nil && a.want.sum != nil && string(h.Sum(nil)) != string(a.want.sum) {
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

// serveArchives answers requests for the archives of a list, by their paths, and no others.
func (f *fetcher) serveArchives(list map[string]archive) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := list[r.URL.Path]
		if !ok || r.Method != http.MethodGet {
			http.Error(w, "the lock file does not list this", http.StatusNotFound)
			return
		}
		f.answer(w, r, a)
	})
}

// below joins an address and a path, whose segments are escaped.
func below(address, path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.TrimSuffix(address, "/") + "/" + strings.Join(segments, "/")
}
