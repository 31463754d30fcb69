package gate

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxYAML is how many bytes of YAML are parsed.
const maxYAML = 8 << 20

// readPnpmLock reads a pnpm-lock.yaml of version 5 and newer, all of whose packages must come from the
// registry with a hash, or be folders of the tree.
func readPnpmLock(data []byte, registry string) (lock, error) {
	var file struct {
		Version   string              `yaml:"lockfileVersion"`
		Importers map[string]struct{} `yaml:"importers"`
		Packages  map[string]struct {
			Name       string `yaml:"name"`
			Version    string `yaml:"version"`
			Resolution struct {
				Integrity string `yaml:"integrity"`
				Tarball   string `yaml:"tarball"`
				Type      string `yaml:"type"`
				Directory string `yaml:"directory"`
			} `yaml:"resolution"`
		} `yaml:"packages"`
		Patched map[string]struct {
			Path string `yaml:"path"`
		} `yaml:"patchedDependencies"`
	}
	l := lock{manifests: []string{"pnpm-workspace.yaml"}}
	if len(data) > maxYAML || yaml.Unmarshal(data, &file) != nil || file.Version == "" {
		return l, errors.New("pnpm-lock.yaml is invalid")
	}
	for dir := range file.Importers {
		l.manifests = append(l.manifests, path.Join(dir, "package.json"))
	}
	for _, p := range file.Patched {
		l.manifests = append(l.manifests, p.Path)
	}
	for key, one := range file.Packages {
		name, version := pnpmName(key)
		switch {
		case one.Resolution.Type == "directory":
			if !isFolder(one.Resolution.Directory) {
				return l, fmt.Errorf("%.60q is not in the tree", key)
			}
			l.manifests = append(l.manifests, path.Join(one.Resolution.Directory, "package.json"))
			continue
		case one.Resolution.Type != "":
			return l, fmt.Errorf("%.60q is not an archive of the registry with a hash", key)
		case one.Resolution.Tarball == "":
			if !packageName().MatchString(name) || !packageVersion().MatchString(version) {
				return l, fmt.Errorf("%.60q is not a version of the registry", key)
			}
			one.Resolution.Tarball = publicRegistries[0] + archiveName(name, version)
		}
		if err := l.add(key, one.Resolution.Tarball, one.Resolution.Integrity, registry); err != nil {
			return l, err
		}
	}
	return l, l.check()
}

// pnpmName splits the key of a package: name@1.0.0(peers), before version 9 with a slash before it, and
// before version 6 in the form /name/1.0.0_peers.
func pnpmName(key string) (name, version string) {
	key, _, _ = strings.Cut(key, "(")
	key, old := strings.CutPrefix(key, "/")
	parts, scoped := strings.SplitN(key, "/", 3), 0
	if strings.HasPrefix(key, "@") {
		scoped = 1
	}
	if old && len(parts) == scoped+2 {
		version, _, _ = strings.Cut(parts[scoped+1], "_")
		return strings.Join(parts[:scoped+1], "/"), version
	}
	if at := strings.LastIndexByte(key, '@'); at > 0 {
		return key[:at], key[at+1:]
	}
	return key, ""
}

// archiveName is the path of a package on the registry.
func archiveName(name, version string) string {
	version, _, _ = strings.Cut(version, "+")
	return name + "/-/" + path.Base(name) + "-" + version + ".tgz"
}
