//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// order is the input of the stages of a sandbox. It is passed through a pipe, because
// other processes can read arguments and environments.
type order struct {
	User     int     // the command's user; 0 keeps the current one
	Binds    []Mount // read-only, in the order of mounting
	Links    []Mount // symbolic links: Target points to Source
	Files    map[string]string
	Sealed   bool // bubblewrap has built the sandbox and installed the filter
	Copy     bool // fill Work from the tree
	Occupied []string
	Program  string
	Argv     []string
	Env      []string
	Limits   Limits
}

// Paths of the sandbox itself.
const (
	self = "/.box/self" // this program
	tree = "/.box/tree" // the tree, when Work is a copy
)

// sized returns the writable folders, which are held in memory.
func (o order) sized() []string {
	if o.worksOnTree() {
		return []string{Home, "/dev/shm"}
	}
	return []string{Home, "/dev/shm", Work}
}

func (o order) worksOnTree() bool {
	return slices.ContainsFunc(o.Binds, func(b Mount) bool { return b.Target == Work })
}

// orderFor returns the order for a job. The command's user is listed in the sandbox's /etc/passwd.
func (b Sandbox) orderFor(j Job) (order, error) {
	o := order{
		User: b.dedicatedUser(), Program: j.program, Argv: j.Argv, Env: j.Env, Limits: j.Limits,
		Sealed: b.kind == Bubblewrap, Copy: j.Writable && j.Tree != "",
	}
	if err := o.addSystem(); err != nil {
		return o, err
	}
	o.Binds = append(o.Binds, Mount{b.program, self})
	switch {
	case o.Copy:
		o.Binds = append(o.Binds, Mount{j.Tree, tree})
	case j.Tree != "":
		o.Binds = append(o.Binds, Mount{j.Tree, Work})
	}
	for _, m := range j.Mounts {
		if strings.HasPrefix(m.Target, Work+"/") {
			if o.worksOnTree() {
				return o, fmt.Errorf("mount at %q: the tree is read-only", m.Target)
			}
			o.Occupied = append(o.Occupied, m.Target)
		}
		o.Binds = append(o.Binds, m)
	}
	for _, m := range o.Binds {
		if err := o.checkReadable(m.Source); err != nil {
			return o, err
		}
	}
	user := cmp.Or(o.User, someUser)
	o.Files = map[string]string{
		"/etc/passwd":        fmt.Sprintf("box:x:%d:%d::%s:/bin/sh\n", user, user, Home),
		"/etc/group":         fmt.Sprintf("box:x:%d:\n", user),
		"/etc/hosts":         "127.0.0.1 localhost\n::1 localhost\n",
		"/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
	}
	return o, nil
}

// addSystem adds the host's programs and libraries, and only those settings that they need to start.
func (o *order) addSystem() error {
	for _, name := range systemDirs() {
		info, err := os.Lstat(name)
		switch {
		case os.IsNotExist(err):
		case err != nil:
			return err
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			o.Links = append(o.Links, Mount{target, name})
		case info.IsDir():
			o.Binds = append(o.Binds, Mount{name, name})
		}
	}
	for _, name := range []string{"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"} {
		if source, err := filepath.EvalSymlinks(name); err == nil {
			o.Binds = append(o.Binds, Mount{source, name})
		}
	}
	return nil
}

// checkReadable refuses a path that root can mount but the command's user cannot
// read: the error inside the sandbox would be hard to understand.
func (o order) checkReadable(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if slices.Contains(o.Binds, Mount{name, tree}) { // it is read before the command changes its user
		return nil
	}
	const dir, file = 0o005, 0o004
	if need := map[bool]os.FileMode{true: dir, false: file}[info.IsDir()]; o.User != 0 && info.Mode()&need != need {
		return fmt.Errorf("%s (mode %v) is not readable for the command's user: chmod o+rX", name, info.Mode().Perm())
	}
	return nil
}

func readOrder(r io.Reader) (order, error) {
	var o order
	d := json.NewDecoder(r)
	d.DisallowUnknownFields() // from another version of this program
	if err := d.Decode(&o); err != nil {
		return o, fmt.Errorf("read order: %w", err)
	}
	return o, nil
}
