//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	base    = "/tmp"    // any existing folder works
	oldRoot = "/host"   // the host's files, until they are unmounted
	newRoot = "/inside" // the sandbox's files
)

// build creates the sandbox's file system and moves into it. Afterwards the host's files are out of reach.
func (o order) build() error {
	const hard = unix.MS_NOSUID | unix.MS_NODEV
	steps := []func() error{
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount("tmpfs", base, "tmpfs", hard, "mode=755,size=1m") },
		func() error { return makeFolder(base + oldRoot) },
		func() error { return makeFolder(base + newRoot) },
		func() error { return unix.PivotRoot(base, base+oldRoot) },
		func() error { return os.Chdir("/") },
		func() error { return unix.Mount("tmpfs", newRoot, "tmpfs", hard, "mode=755,size=4m,nr_inodes=4096") },
		o.mountProc,
		o.mountDev,
		o.mountSized,
		o.mountBinds,
		o.writeFiles,
		func() error { return readOnly(newRoot+"/dev", 0) },
		func() error { return readOnly(newRoot, 0) },
		func() error { return os.Chdir(newRoot) },
		func() error { return unix.PivotRoot(".", ".") },
		func() error { return unix.Unmount(".", unix.MNT_DETACH) },
		func() error { return os.Chdir("/") },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("set up the sandbox, step %d: %w", i+1, err)
		}
	}
	return nil
}

// makeFolder creates a folder that everyone in the sandbox can read.
func makeFolder(name string) error { return os.MkdirAll(name, 0o755) } //nolint:gosec // that is what it is for

// mountProc mounts a /proc with only the sandbox's processes. Files that affect the whole
// machine are read-only, for every user.
func (o order) mountProc() error {
	proc := newRoot + "/proc"
	if err := makeFolder(proc); err != nil {
		return err
	}
	if err := unix.Mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount proc: %w", err)
	}
	for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus"} {
		name = filepath.Join(proc, name)
		if err := bind(name, name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (o order) mountDev() error {
	dev := newRoot + "/dev"
	if err := makeFolder(dev); err != nil {
		return err
	}
	const safe = unix.MS_NOSUID | unix.MS_NOEXEC
	if err := unix.Mount("tmpfs", dev, "tmpfs", safe, "mode=755,size=64k,nr_inodes=64"); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		target := filepath.Join(dev, name)
		if err := os.WriteFile(target, nil, 0o600); err != nil {
			return err
		}
		if err := unix.Mount(filepath.Join(oldRoot, "dev", name), target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount /dev/%s: %w", name, err)
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
		"ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	if err := makeFolder(filepath.Join(dev, "pts")); err != nil {
		return err
	}
	err := unix.Mount("devpts", filepath.Join(dev, "pts"), "devpts", unix.MS_NOSUID|unix.MS_NOEXEC,
		"newinstance,ptmxmode=0666,mode=620")
	if err != nil {
		return fmt.Errorf("mount devpts: %w", err)
	}
	return nil
}

// mountSized mounts the writable folders. Inodes are limited too, because they use memory.
func (o order) mountSized() error {
	for _, name := range o.sized() {
		target := newRoot + name
		if err := makeFolder(target); err != nil {
			return err
		}
		options := fmt.Sprintf("mode=1777,size=%d,nr_inodes=%d", o.size(name), mostInodes)
		if err := unix.Mount("tmpfs", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			return fmt.Errorf("mount %s: %w", name, err)
		}
	}
	return nil
}

const (
	mostInodes   = 500_000  // about one kilobyte each
	sharedMemory = 64 << 20 // of /dev/shm
)

func (o order) size(name string) int64 {
	if name == "/dev/shm" {
		return min(sharedMemory, o.Limits.Scratch)
	}
	return o.Limits.Scratch
}

func (o order) mountBinds() error {
	for _, l := range o.Links {
		err := makeFolder(filepath.Dir(newRoot + l.Target))
		if err == nil {
			err = os.Symlink(l.Source, newRoot+l.Target)
		}
		if err != nil {
			return err
		}
	}
	for _, b := range o.Binds {
		source, target := oldRoot+b.Source, newRoot+b.Target
		info, err := os.Stat(source)
		if err != nil {
			return err
		}
		if info.IsDir() {
			err = makeFolder(target)
		} else {
			if err = makeFolder(filepath.Dir(target)); err == nil {
				err = os.WriteFile(target, nil, 0o644) //nolint:gosec // a mount point in the sandbox
			}
		}
		if err == nil {
			err = bind(source, target)
		}
		if err != nil {
			return fmt.Errorf("mount %s at %s: %w", b.Source, b.Target, err)
		}
	}
	return nil
}

// bind mounts source and everything mounted below it, read-only.
func bind(source, target string) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return &os.PathError{Op: "bind", Path: source, Err: err}
	}
	return readOnly(target, unix.AT_RECURSIVE)
}

func readOnly(target string, flags uint) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if !strings.HasPrefix(target, newRoot+"/dev") {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, target, flags, &attr); err != nil {
		return &os.PathError{Op: "make read-only", Path: target, Err: err}
	}
	return nil
}

func (o order) writeFiles() error {
	for _, name := range slices.Sorted(maps.Keys(o.Files)) {
		if err := makeFolder(newRoot + filepath.Dir(name)); err != nil {
			return err
		}
		if err := os.WriteFile(newRoot+name, []byte(o.Files[name]), 0o644); err != nil { //nolint:gosec // for all in the sandbox
			return err
		}
	}
	return nil
}
