package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files of packages that are not in the archives.
const (
	// sysusers makes the account of the service (sysusers.d(5)).
	sysusers = "u precedent - \"Precedent, a code reviewer\" /var/lib/precedent\n"
	// afterInstall does not start the service: an administrator does, once it is configured.
	afterInstall = `#!/bin/sh
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then systemd-sysusers precedent.conf || true; fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
`
	beforeRemove = `#!/bin/sh
set -e
if [ -d /run/systemd/system ] && [ "$1" != upgrade ] && [ "$1" != 1 ]; then
	systemctl disable --now precedent.service || true
fi
`
)

// nfpmFile is a file of a package, in the configuration of nfpm.
type nfpmFile struct {
	Source string   `json:"src"`
	To     string   `json:"dst"`
	Info   nfpmInfo `json:"file_info"`
}

type nfpmInfo struct {
	Mode  int    `json:"mode"`
	Time  string `json:"mtime"`
	Owner string `json:"owner"`
	Group string `json:"group"`
}

// packages writes the .deb and the .rpm of a program for Linux. JSON is YAML, which nfpm reads.
func (r *release) packages(p program, all []file) error {
	work, err := os.MkdirTemp("", "package-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	for kind, zsh := range map[string]string{"deb": "/usr/share/zsh/vendor-completions", "rpm": "/usr/share/zsh/site-functions"} {
		files, err := r.packed(all, work, zsh)
		if err != nil {
			return err
		}
		config, err := json.Marshal(map[string]any{
			"name": "precedent", "arch": p.arch, "platform": "linux", "version": strings.TrimPrefix(r.version, "v"),
			"version_schema": "semver", "release": "1", "section": "devel", "priority": "optional",
			"maintainer": "The Precedent authors <precedent@localhost>", "homepage": r.source, "mtime": r.at.Format("2006-01-02T15:04:05Z"),
			"description": "Code reviewer that remembers\nReviews pull requests with language models and static analyzers, and keeps what it learns.",
			"depends":     []string{"git"}, "recommends": []string{"bubblewrap", "ca-certificates"},
			"contents": files, "rpm": map[string]string{"buildhost": "localhost", "summary": "Code reviewer that remembers"},
			"scripts": map[string]string{"postinstall": filepath.Join(work, "postinstall"), "preremove": filepath.Join(work, "preremove")},
		})
		if err != nil {
			return err
		}
		name := filepath.Join(work, "nfpm.yaml")
		if err := os.WriteFile(name, config, 0o600); err != nil {
			return err
		}
		to := filepath.Join(r.dist, p.name()+"."+kind)
		if _, err := output("", r.nfpm, "package", "--config", name, "--packager", kind, "--target", to); err != nil {
			return err
		}
	}
	return nil
}

// packed writes what a package has into a folder, and returns where it goes.
func (r *release) packed(all []file, work, zsh string) ([]nfpmFile, error) {
	var err error
	var files []nfpmFile
	for _, f := range all {
		_, name, _ := strings.Cut(f.name, "/")
		var to string
		data := f.data
		switch dir, base := filepath.Split(name); {
		case name == "precedent":
			to = "/usr/bin/precedent"
		case dir == "man/":
			to = "/usr/share/man/man1/" + base + ".gz"
			if data, err = zipped(data); err != nil {
				return nil, err
			}
		case base == "precedent.bash":
			to = "/usr/share/bash-completion/completions/precedent"
		case base == "_precedent":
			to = zsh + "/_precedent"
		case base == "precedent.fish":
			to = "/usr/share/fish/vendor_completions.d/precedent.fish"
		case dir == "systemd/":
			to = "/usr/lib/systemd/system/" + base
			data = bytes.ReplaceAll(data, []byte("/usr/local/bin/"), []byte("/usr/bin/"))
		case dir == "":
			to = "/usr/share/doc/precedent/" + base
		default:
			continue // for other systems
		}
		files = append(files, r.placed(work, to, data, int(f.mode)))
	}
	files = append(files, r.placed(work, "/usr/lib/sysusers.d/precedent.conf", []byte(sysusers), 0o644))
	for _, f := range files {
		if f.Source == "" {
			return nil, fmt.Errorf("write %s", f.To)
		}
	}
	for name, script := range map[string]string{"postinstall": afterInstall, "preremove": beforeRemove} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(script), 0o755); err != nil { //nolint:gosec // it is run
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b nfpmFile) int { return strings.Compare(a.To, b.To) })
	return files, nil
}

// placed writes a file, and returns where it goes; without a source if it cannot be written.
func (r *release) placed(work, to string, data []byte, mode int) nfpmFile {
	f := nfpmFile{
		Source: filepath.Join(work, strings.ReplaceAll(strings.TrimPrefix(to, "/"), "/", "_")), To: to,
		Info: nfpmInfo{Mode: mode, Time: r.at.Format("2006-01-02T15:04:05Z"), Owner: "root", Group: "root"},
	}
	if os.WriteFile(f.Source, data, 0o600) != nil {
		f.Source = ""
	}
	return f
}

func zipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}
