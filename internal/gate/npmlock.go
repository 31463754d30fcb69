package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// publicRegistries are the names under which lock files know the registry of npm. The operator's
// registry takes their place.
var publicRegistries = []string{"https://registry.npmjs.org/", "https://registry.yarnpkg.com/"}

var errEntries = errors.New("the lock file lists too many packages")

// archiveAt returns the path of an archive on the registry. It is not ok if the address is of
// another server.
func archiveAt(resolved, registry string) (string, bool) {
	for _, prefix := range append([]string{strings.TrimSuffix(registry, "/") + "/"}, publicRegistries...) {
		rest, is := strings.CutPrefix(resolved, prefix)
		name, err := url.PathUnescape(rest)
		if is && err == nil && path.Clean("/"+name) == "/"+name && !strings.ContainsAny(name, "?#\\") {
			return "/" + name, true
		}
	}
	return "", false
}

// localize gives the addresses of the registry in a lock file the form that they have in the box.
func localize(data []byte, registry string) []byte {
	var pairs []string
	for _, prefix := range append([]string{strings.TrimSuffix(registry, "/") + "/"}, publicRegistries...) {
		pairs = append(pairs, prefix, registryIs+"/")
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(data)))
}

// add notes an archive of the registry, with its hash.
func (l *lock) add(name, resolved, integrity, registry string) error {
	at, ok := archiveAt(resolved, registry)
	want, hashed := parseIntegrity(integrity)
	if !ok || !hashed {
		return fmt.Errorf("%.60q is not an archive of the registry with a hash", name)
	}
	if l.archives == nil {
		l.archives = map[string]archive{}
	}
	if l.archives[at] = (archive{below(registry, at), want}); len(l.archives) > maxArchives {
		return errEntries
	}
	return nil
}

// readNPMLock reads a package-lock.json, all of whose packages must come from the registry with
// a hash, or be folders of the tree.
func readNPMLock(data []byte, registry string) (lock, error) {
	var file struct {
		Version  int `json:"lockfileVersion"`
		Packages map[string]struct {
			Resolved  string `json:"resolved"`
			Integrity string `json:"integrity"`
			Link      bool   `json:"link"`
			InBundle  bool   `json:"inBundle"`
		} `json:"packages"`
	}
	l := lock{}
	if err := json.Unmarshal(data, &file); err != nil {
		return l, errors.New("package-lock.json is invalid")
	}
	const oldest = 2
	if file.Version < oldest {
		return l, errors.New("package-lock.json is too old")
	}
	for name, one := range file.Packages {
		folder := !strings.Contains("/"+name, "/node_modules/")
		switch {
		case name == "" || one.InBundle:
		case !filepath.IsLocal(filepath.FromSlash(name)), one.Link && !isFolder(one.Resolved):
			return l, fmt.Errorf("%.60q is not in the tree", name)
		case one.Link:
		case folder && one.Resolved == "": // a workspace
			l.manifests = append(l.manifests, path.Join(name, "package.json"))
		default:
			if err := l.add(name, one.Resolved, one.Integrity, registry); err != nil {
				return l, err
			}
		}
	}
	return l, l.check()
}

// isFolder reports whether a lock file means a folder of the tree.
func isFolder(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && !strings.Contains(name, ":")
}

// maxMembers is how many other files a project has at most.
const maxMembers = 500

// check refuses files that are outside of the project.
func (l *lock) check() error {
	if len(l.manifests) > maxMembers {
		return errEntries
	}
	for _, name := range l.manifests {
		if !isFolder(name) {
			return fmt.Errorf("%.60q is not in the tree", name)
		}
	}
	return nil
}
