//go:build amd64 || arm64

package sandbox

import (
	"maps"
	"path"
	"slices"
	"strconv"
)

// bubblewrapArgs returns the arguments of bwrap for an order. data passes the content of a file and returns
// its descriptor; the other descriptor options are not included. Bubblewrap gets the arguments through a
// pipe, because its command line is visible in the sandbox (T10).
func (o order) bubblewrapArgs(data func(content string) (fd int, err error)) ([]string, error) {
	args := []string{
		"--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--as-pid-1", "--new-session", "--hostname", "box", "--cap-drop", "ALL",
	}
	if o.User == 0 {
		user := strconv.Itoa(someUser)
		args = append(args, "--unshare-user", "--disable-userns", "--uid", user, "--gid", user)
	} else {
		// The last stage needs these to change its user, and then drops them.
		for _, c := range []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"} {
			args = append(args, "--cap-add", c)
		}
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev")
	for _, name := range o.sized() {
		args = append(args, "--perms", "1777", "--size", strconv.FormatInt(o.size(name), 10), "--tmpfs", name)
	}
	for _, dir := range o.parents() {
		args = append(args, "--perms", "0755", "--dir", dir) // bwrap would make them private
	}
	for _, l := range o.Links {
		args = append(args, "--symlink", l.Source, l.Target)
	}
	for _, b := range o.Binds {
		args = append(args, "--ro-bind", b.Source, b.Target)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Files)) {
		fd, err := data(o.Files[name])
		if err != nil {
			return nil, err
		}
		args = append(args, "--perms", "0444", "--ro-bind-data", strconv.Itoa(fd), name)
	}
	return append(args, "--remount-ro", "/dev", "--remount-ro", "/"), nil
}

// parents returns the parent folders of all mounts, links and files, outermost first.
func (o order) parents() []string {
	all := map[string]bool{}
	add := func(name string) {
		for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
			all[dir] = true
		}
	}
	for _, m := range slices.Concat(o.Binds, o.Links) {
		add(m.Target)
	}
	for name := range o.Files {
		add(name)
	}
	return slices.Sorted(maps.Keys(all))
}
