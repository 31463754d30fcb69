//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"golang.org/x/sys/unix"
)

// TestGroupParent finds the group above the own one that hands on memory and processes.
func TestGroupParent(t *testing.T) {
	mount := t.TempDir()
	for dir, hands := range map[string]string{
		"": "cpu memory pids\n", "user.slice": "cpu memory pids\n", "user.slice/app.slice": "pids\n", "user.slice/app.slice/run.scope": "",
	} {
		needs.NoError(t, os.MkdirAll(filepath.Join(mount, dir), 0o755))
		needs.NoError(t, os.WriteFile(filepath.Join(mount, dir, "cgroup.subtree_control"), []byte(hands), 0o644))
	}
	info := "30 23 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n29 23 0:25 / " + mount + " rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
	for _, test := range []struct{ mountinfo, cgroup, want string }{
		{info, "0::/user.slice/app.slice/run.scope\n", "user.slice"},
		{info, "0::/\n", "."},
		{info, "0::/gone/elsewhere\n", "."},
		{info, "0::/../outside\n", ""},
		{info, "4:memory:/x\n", ""},
		{"30 23 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "0::/\n", ""},
	} {
		want := ""
		if test.want != "" {
			want = filepath.Join(mount, test.want)
		}
		if got := groupParent(test.mountinfo, test.cgroup); got != want {
			t.Errorf("%q: %q, want %q", test.cgroup, got, want)
		}
	}
	needs.NoError(t, os.WriteFile(filepath.Join(mount, "cgroup.subtree_control"), []byte("hugetlb\n"), 0o644))
	needs.Equal(t, "", groupParent(info, "0::/\n"))
}

// TestGroup runs a sandbox in a control group: it starts there, it ends with the group, and
// the group is removed. The limits are only tested where memory belongs to version 2.
func TestGroup(t *testing.T) {
	t.Parallel()
	var parent string
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		var s unix.Statfs_t
		if err := unix.Statfs(dir, &s); err == nil && s.Type == unix.CGROUP2_SUPER_MAGIC &&
			unix.Access(dir, unix.W_OK) == nil {
			parent = dir
		}
	}
	if parent == "" {
		t.Skip("needs a control group that it can write to")
	}
	eachKind(t, func(t *testing.T, b Sandbox) {
		for name, test := range map[string]struct {
			job  Job
			want Status
		}{
			"ends by itself": {sh("echo in a group"), OK},
			"is ended":       {Job{Argv: []string{self, "trap", "linger", "x"}, Limits: Limits{Time: 300e6}, program: self}, TimedOut},
		} {
			j := needs.Value(test.job.checked())(t)
			o := needs.Value(b.orderFor(j))(t)
			plain := b
			plain.groups = ""
			l, err := plain.prepare(t.Context(), o)
			needs.NoError(t, err)
			if l.group, err = newGroup(parent, nil); err != nil {
				l.close()
				t.Skipf("needs a control group that it can write to: %v", err)
			}
			l.joinGroup()
			dir := l.group.dir.Name()
			r, err := l.run(t.Context(), o.Limits, nil)
			if err != nil || r.Status != test.want {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s: the group is left behind", name)
			}
		}
		if b.groups == "" {
			t.Log("the kernel does not limit memory in groups here")
			return
		}
		r, err := b.Run(t.Context(), Job{
			Argv: []string{self, "trap", "eat"}, Limits: Limits{Memory: 64 << 20, Scratch: 1 << 20}, program: self,
		})
		if err != nil || r.Status != OverMemory {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
