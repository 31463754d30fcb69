package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"html"
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
	header, err := x.fetcher.get(r.Context(), address, "application/vnd.pypi.simple.v1+json, text/html;q=0.5", maxPage,
		&page)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	files, err := readPage(page.Bytes(), header.Get("Content-Type"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"meta": map[string]string{"api-version": "1.0"}, "name": name, "files": x.list(address, files),
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
	anchor      = text.Pattern(`(?is)<a\s([^>]*)>([^<]*)</a>`)
	attribute   = text.Pattern(`(?is)([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?`)
)

// readPage reads a page of an index, in the form of JSON or HTML.
func readPage(data []byte, kind string) ([]wheelFile, error) {
	if strings.Contains(kind, "json") {
		var page struct {
			Files []wheelFile `json:"files"`
		}
		if err := strict.Unmarshal(data, &page); err != nil {
			return nil, errors.New("the index has an invalid page")
		}
		return page.Files, nil
	}
	var files []wheelFile
	for _, a := range anchor().FindAllSubmatch(data, -1) {
		f := wheelFile{Name: strings.TrimSpace(html.UnescapeString(string(a[2]))), Hashes: map[string]string{}}
		for _, m := range attribute().FindAllSubmatch(a[1], -1) {
			value := html.UnescapeString(string(m[2]) + string(m[3]))
			switch strings.ToLower(string(m[1])) {
			case "href":
				f.URL = value
			case "data-requires-python":
				f.Python = value
			case "data-yanked":
				f.Yanked = true
			}
		}
		_, fragment, _ := strings.Cut(f.URL, "#")
		if algorithm, sum, ok := strings.Cut(fragment, "="); ok {
			f.Hashes[algorithm] = sum
		}
		files = append(files, f)
	}
	return files, nil
}
