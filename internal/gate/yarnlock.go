package gate

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

var (
	packageName    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:@[\w.~-]+/)?[\w~-][\w.~-]*$`) })
	packageVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d[\w.+-]*$`) })
)

// isBerryLock reports whether a yarn.lock was written by yarn 2 or newer.
func isBerryLock(data []byte) bool { return bytes.Contains(data, []byte("\n__metadata:\n")) }

// readYarnLock reads a yarn.lock of yarn 1, all of whose packages must come from the registry with a
// hash.
func readYarnLock(data []byte, registry string) (lock, error) {
	l := lock{}
	entry, resolved, integrity := "", "", ""
	end := func() error {
		if entry == "" {
			return nil
		}
		address, fragment, _ := strings.Cut(resolved, "#")
		if old, ok := parseHex("sha1", fragment); ok && integrity == "" {
			integrity = "sha1-" + base64.StdEncoding.EncodeToString(old.sum)
		}
		err := l.add(entry, address, integrity, registry)
		entry, resolved, integrity = "", "", ""
		return err
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case line[0] != ' ':
			if err := end(); err != nil {
				return l, err
			}
			if entry = strings.TrimSuffix(line, ":"); entry == line {
				return l, errors.New("yarn.lock is invalid")
			}
		case strings.HasPrefix(line, "    "): // a dependency
		case field == "resolved":
			resolved = strings.Trim(value, `"`)
		case field == "integrity":
			integrity = strings.Trim(value, `"`)
		}
	}
	return l, end()
}

// readBerryLock reads a yarn.lock of yarn 2 or newer. It has no hashes of archives: yarn checks those
// of what it makes of them.
func readBerryLock(data []byte, registry string) (lock, error) {
	var file map[string]struct {
		Version    string `yaml:"version"`
		Resolution string `yaml:"resolution"`
		Checksum   string `yaml:"checksum"`
		Conditions string `yaml:"conditions"` // of packages for other systems, which have no hash
		CacheKey   string `yaml:"cacheKey"`
	}
	if len(data) > maxYAML || yaml.Unmarshal(data, &file) != nil {
		return lock{}, errors.New("yarn.lock is invalid")
	}
	_, level, is := strings.Cut(file["__metadata"].CacheKey, "c")
	if !is {
		level = "mixed"
	}
	l := lock{archives: map[string]archive{}, env: []string{
		"YARN_NPM_REGISTRY_SERVER=" + registryIs, "YARN_UNSAFE_HTTP_WHITELIST=127.0.0.1", "YARN_ENABLE_SCRIPTS=false", "YARN_ENABLE_TELEMETRY=false",
		"YARN_ENABLE_GLOBAL_CACHE=false", "YARN_CACHE_FOLDER=/tmp/archives", "YARN_NODE_LINKER=node-modules", "YARN_COMPRESSION_LEVEL=" + level,
		"YARN_CHECKSUM_BEHAVIOR=throw", "YARN_ENABLE_HARDENED_MODE=false", "YARN_ENABLE_PROGRESS_BARS=false", "YARN_HTTP_RETRY=0",
	}}
	for key, one := range file {
		if key == "__metadata" {
			continue
		}
		name, rest := cutResolution(one.Resolution)
		kind, version, _ := strings.Cut(rest, ":")
		switch {
		case kind == "workspace":
			continue
		case kind == "patch" && strings.HasPrefix(version, name+"@npm%3A"): // a patch of yarn's own, on an archive
			version, _, _ = strings.Cut(strings.TrimPrefix(version, name+"@npm%3A"), "#")
		case kind != "npm":
			return l, fmt.Errorf("%.60q does not come from the registry", key)
		}
		version, query, _ := strings.Cut(version, "::")
		if one.Checksum == "" && one.Conditions == "" {
			return l, fmt.Errorf("%.60q has no hash", key)
		}
		if !packageName().MatchString(name) || !packageVersion().MatchString(version) {
			return l, fmt.Errorf("%.60q is not a version of the registry", key)
		}
		at := "/" + archiveName(name, version)
		if values, err := url.ParseQuery(query); err == nil && values.Get("__archiveUrl") != "" {
			var ok bool
			if at, ok = archiveAt(values.Get("__archiveUrl"), registry); !ok {
				return l, fmt.Errorf("%.60q does not come from the registry", key)
			}
		}
		if l.archives[at] = (archive{url: below(registry, at)}); len(l.archives) > maxArchives {
			return l, errEntries
		}
	}
	return l, nil
}

// cutResolution cuts a resolution into the name of a package, which may begin with @, and the rest.
func cutResolution(s string) (name, rest string) {
	if i := strings.LastIndexByte(s[:min(len(s), strings.IndexByte(s+":", ':'))], '@'); i > 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}
