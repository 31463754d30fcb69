package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// leftOut are folders of a base system whose contents an image does not need, or that differ each time.
var leftOut = []string{
	"proc", "sys", "dev", "run", "tmp", "var/cache", "var/log", "var/lib/apt/lists", "usr/share/man", "usr/share/locale", "usr/share/info",
}

// imageUser is the user and group of the program in an image: nobody else's.
const imageUser = 10001

// blob is a part of an image, by its digest.
type blob struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int    `json:"size"`
	data      []byte
}

func newBlob(mediaType string, data []byte) blob {
	return blob{"application/vnd.oci.image." + mediaType, "sha256:" + sumOf(data), len(data), data}
}

// image writes an image for containers with a base system, which has git, bubblewrap and certificates, and the program
// (https://github.com/opencontainers/image-spec). It needs no service that builds images.
func (r *release) image(p program, base string) error {
	system, err := r.baseLayer(base)
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(p.path)
	if err != nil {
		return err
	}
	own, err := r.layer([]file{{"usr/local/bin/precedent", binary, 0o755}}, []string{"data", "data/precedent", "repo"})
	if err != nil {
		return err
	}
	var layers []blob
	var plain []string
	for _, l := range [][]byte{system, own} {
		plain = append(plain, "sha256:"+sumOf(l))
		packed, err := zipped(l)
		if err != nil {
			return err
		}
		layers = append(layers, newBlob("layer.v1.tar+gzip", packed))
	}
	config, err := json.Marshal(map[string]any{
		"created": r.at, "architecture": p.arch, "os": "linux", "rootfs": map[string]any{"type": "layers", "diff_ids": plain},
		"config": map[string]any{
			"User": fmt.Sprint(imageUser), "Entrypoint": []string{"precedent"}, "Cmd": []string{"review"}, "WorkingDir": "/repo",
			"Env":     []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/data", "XDG_DATA_HOME=/data", "XDG_CACHE_HOME=/data/cache"},
			"Volumes": map[string]any{"/data": map[string]any{}},
			"Labels":  map[string]string{"org.opencontainers.image.source": r.source, "org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit},
		},
	})
	if err != nil {
		return err
	}
	about := newBlob("config.v1+json", config)
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": about, "layers": layers,
	})
	if err != nil {
		return err
	}
	return r.layout(p, newBlob("manifest.v1+json", manifest), append(layers, about))
}

// layout writes an archive with the layout of an image.
func (r *release) layout(p program, manifest blob, others []blob) error {
	index, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []any{map[string]any{
			"mediaType": manifest.MediaType, "digest": manifest.Digest, "size": manifest.Size,
			"platform":    map[string]string{"architecture": p.arch, "os": "linux"},
			"annotations": map[string]string{"org.opencontainers.image.ref.name": "precedent:" + strings.TrimPrefix(r.version, "v")},
		}},
	})
	if err != nil {
		return err
	}
	files := []file{{"index.json", index, 0o644}, {"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644}}
	for _, b := range append(others, manifest) {
		files = append(files, file{"blobs/" + strings.Replace(b.Digest, ":", "/", 1), b.data, 0o644})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	data, err := r.layer(files, nil)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dist, p.name()+".oci.tar"), data, 0o644) //nolint:gosec // it is published
}

// layer is a tar archive of files that belong to root, and of folders that belong to the user of the image.
func (r *release) layer(files []file, folders []string) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, name := range folders {
		head := tar.Header{Name: name + "/", Mode: 0o700, Uid: imageUser, Gid: imageUser, ModTime: r.at, Typeflag: tar.TypeDir, Format: tar.FormatPAX}
		if err := t.WriteHeader(&head); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		head := tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: r.at, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if err := t.WriteHeader(&head); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return b.Bytes(), err
}

// baseLayer is a tar archive of the folder of a base system.
func (r *release) baseLayer(base string) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	err := filepath.WalkDir(base, func(name string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(base, name)
		if err != nil || relErr != nil || rel == "." {
			return errors.Join(err, relErr)
		}
		if slices.Contains(leftOut, path.Dir(filepath.ToSlash(rel))) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return r.addTo(t, name, filepath.ToSlash(rel), e)
	})
	if err != nil {
		return nil, fmt.Errorf("read the base system: %w", err)
	}
	err = t.Close()
	return b.Bytes(), err
}

// addTo adds a file, a folder or a link of a base system to an archive.
func (r *release) addTo(t *tar.Writer, name, rel string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0 {
		return nil // devices and sockets are the container's
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(name); err != nil {
			return err
		}
	}
	head, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	// What differs between times is left out.
	head.Name, head.ModTime, head.Uname, head.Gname, head.Format = rel, r.at, "", "", tar.FormatPAX
	head.AccessTime, head.ChangeTime, head.PAXRecords = time.Time{}, time.Time{}, nil
	if info.IsDir() {
		head.Name += "/"
	}
	if err := t.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
		return err
	}
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	_, err = io.Copy(t, in)
	return err
}
