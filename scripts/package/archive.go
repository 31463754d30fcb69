package main

import (
	"archive/zip"
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// file is a file of an archive.
type file struct {
	name string // with slashes
	data []byte
	mode fs.FileMode
}

// contents are the files of the archive of a program, sorted by name.
func (r *release) contents(p program) ([]file, error) {
	binary, err := os.ReadFile(p.path)
	if err != nil {
		return nil, err
	}
	licences, err := r.licences(p)
	if err != nil {
		return nil, err
	}
	top := path.Join("precedent-" + strings.TrimPrefix(r.version, "v"))
	all := []file{
		{path.Join(top, "precedent"+filepath.Ext(p.path)), binary, 0o755},
		{path.Join(top, "LICENSES-OF-OTHERS.txt"), licences, 0o644},
	}
	for name, data := range r.completions {
		all = append(all, file{path.Join(top, "completions", name), data, 0o644})
	}
	from := map[string]string{"README.md": filepath.Join(r.top, "README.md")}
	if p.os == "linux" {
		from["systemd/precedent.service"] = filepath.Join(r.top, "contrib", "systemd", "precedent.service")
	}
	pages, err := filepath.Glob(filepath.Join(r.man, "*.1"))
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("%s has no manual pages: run make man first", r.man)
	}
	for _, page := range pages {
		from["man/"+filepath.Base(page)] = page
	}
	for name, source := range from {
		data, err := os.ReadFile(source)
		if err != nil {
			return nil, err
		}
		all = append(all, file{path.Join(top, name), data, 0o644})
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// archive writes the archive of a program: zip for Windows, else tar.gz.
func (r *release) archive(p program, all []file) error {
	if p.os == "windows" {
		var b bytes.Buffer
		if err := r.zip(&b, all); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(r.dist, p.name()+".zip"), b.Bytes(), 0o644) //nolint:gosec // it is published
	}
	plain, err := r.layer(all, nil)
	if err != nil {
		return err
	}
	packed, err := zipped(plain)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dist, p.name()+".tar.gz"), packed, 0o644) //nolint:gosec // it is published
}

func (r *release) zip(b *bytes.Buffer, all []file) error {
	z := zip.NewWriter(b)
	for _, f := range all {
		head := zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.at}
		head.SetMode(f.mode)
		w, err := z.CreateHeader(&head)
		if err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// licences are the licence texts of the modules that a program is linked from, and of Go itself.
func (r *release) licences(p program) ([]byte, error) {
	info, err := buildinfo.ReadFile(p.path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	write := func(module, dir string) error {
		found, err := filepath.Glob(filepath.Join(dir, "[LCN][IO][CPT]*")) // LICENSE, LICENCE, COPYING, NOTICE
		if err != nil {
			return err
		}
		for _, name := range found {
			text, err := os.ReadFile(name)
			if err != nil {
				continue // a folder
			}
			fmt.Fprintf(&b, "%s, %s\n\n%s\n%s\n\n", module, filepath.Base(name), text, strings.Repeat("-", 80))
		}
		return nil
	}
	root, err := output(r.top, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := write(info.GoVersion, root); err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		dir, err := output(r.top, "go", "list", "-m", "-f", "{{.Dir}}", m.Path)
		if err != nil {
			return nil, err
		}
		before := b.Len()
		if err := write(m.Path+" "+m.Version, dir); err != nil {
			return nil, err
		}
		if b.Len() == before {
			return nil, fmt.Errorf("%s has no licence text", m.Path)
		}
	}
	return b.Bytes(), nil
}
