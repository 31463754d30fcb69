package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
)

// wheelIndex serves an index of wheels to pip in a sandbox: the operator's, without files that are not wheels or
// have no SHA-256, and of the packages that a lock file pins only the files that it pins.
type wheelIndex struct {
	fetcher *fetcher
	index   string // the operator's
	locked  string // has the SHA-256 of all files that count; empty if all do
	mu      sync.Mutex
	files   map[string]archive // by their paths in the sandbox
}

func newWheelIndex(f *fetcher, index, locked string) *wheelIndex {
	return &wheelIndex{fetcher: f, index: strings.TrimSuffix(index, "/"), locked: locked, files: map[string]archive{}}
}

// simpleJSON is the form of the pages of an index.
const simpleJSON = "application/vnd.pypi.simple.v1+json"

// wheelFile is a file of a page of an index.
type wheelFile struct {
	Name     string            `json:"filename"`
	URL      string            `json:"url"`
	Hashes   map[string]string `json:"hashes"`
	Python   string            `json:"requires-python,omitempty"`
	Yanked   any               `json:"yanked,omitempty"` // true or the reason
	Metadata any               `json:"core-metadata,omitempty"`
}

// ServeHTTP answers requests for pages and for the files that they list.
func (x *wheelIndex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	file, ok := x.files[r.URL.Path]
	x.mu.Unlock()
	if ok {
		x.fetcher.answer(w, r, file)
		return
	}
	name, is := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/simple/")
	if !is || !projectName().MatchString(name) {
		http.Error(w, "not a page of the index", http.StatusNotFound)
		return
	}
	address := x.index + "/" + name + "/"
	var page bytes.Buffer
	if err := x.fetcher.get(r.Context(), address, simpleJSON, maxPage, &page); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	var said struct {
		Files []wheelFile `json:"files"`
	}
	if strict.Unmarshal(page.Bytes(), &said) != nil {
		http.Error(w, "the index has a page that is not the JSON of the simple API", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", simpleJSON)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"meta": map[string]string{"api-version": "1.0"}, "name": name, "files": x.list(address, said.Files),
	})
}

// list gives the files of a page the addresses that they have in the sandbox.
func (x *wheelIndex) list(page string, files []wheelFile) []wheelFile {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := []wheelFile{}
	base, err := url.Parse(page)
	if err != nil {
		return all
	}
	for _, f := range files {
		at, err := base.Parse(f.URL)
		sum := strings.ToLower(f.Hashes["sha256"])
		if err != nil || !sha256Hex().MatchString(sum) || !wheelName().MatchString(f.Name) ||
			!strings.Contains(cmp.Or(x.locked, sum), sum) || at.Scheme != base.Scheme && at.Scheme != "https" {
			continue
		}
		at.Fragment = ""
		name := "/files/" + sum + "/" + f.Name
		x.files[name] = archive{at.String(), sum}
		f.URL, f.Hashes = registryIs+name, map[string]string{"sha256": sum}
		hashes, _ := f.Metadata.(map[string]any)
		f.Metadata = nil
		if sum, _ := hashes["sha256"].(string); sha256Hex().MatchString(sum) {
			at.Path, at.RawPath = at.Path+".metadata", ""
			x.files[name+".metadata"] = archive{at.String(), sum}
			f.Metadata = map[string]string{"sha256": sum}
		}
		all = append(all, f)
	}
	return all
}

var (
	sha256Hex = text.Pattern(`^[0-9a-f]{64}$`)
	// projectName matches names as an index has them.
	projectName = text.Pattern(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)
	wheelName   = text.Pattern(`^[\w.+!-]+\.whl$`)
)
