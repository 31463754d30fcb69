//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// group is the control group of a sandbox, in which the kernel itself limits memory and
// processes, with all that it holds for them.
type group struct{ dir *os.File }

// groupParent returns the folder in which this program can create groups, "" if there is
// none: the closest one above its own group that hands memory and processes on.
func groupParent(mountinfo, cgroup string) string {
	mount := ""
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		const point = 4
		if i := slices.Index(fields, "-"); i > point && i+1 < len(fields) && fields[i+1] == "cgroup2" {
			mount = fields[point]
		}
	}
	for line := range strings.Lines(cgroup) {
		own, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/")
		if !ok || mount == "" || !filepath.IsLocal(filepath.Join("x", own)) {
			continue
		}
		for dir := filepath.Join(mount, own); ; dir = filepath.Dir(dir) {
			content, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if has := strings.Fields(string(content)); err == nil && slices.Contains(has, "memory") &&
				slices.Contains(has, "pids") {
				return dir
			}
			if dir == mount || len(dir) < len(mount) {
				return ""
			}
		}
	}
	return ""
}

func findGroups() string {
	mountinfo, _ := os.ReadFile("/proc/self/mountinfo") // without it, there is none
	cgroup, _ := os.ReadFile("/proc/self/cgroup")
	return groupParent(string(mountinfo), string(cgroup))
}

// groupLimits are the files of a sandbox's group. Scratch space counts as memory there.
func (o order) groupLimits() map[string]string {
	memory := o.Limits.Memory
	for _, name := range o.sized() {
		memory += o.size(name)
	}
	const slack = 16 // for the stages
	return map[string]string{
		"memory.max": fmt.Sprint(memory), "memory.oom.group": "1", "pids.max": fmt.Sprint(o.Limits.Processes + slack),
	}
}

func newGroup(parent string, limits map[string]string) (*group, error) {
	name, err := os.MkdirTemp(parent, "precedent-")
	if err != nil {
		return nil, fmt.Errorf("create a control group: %w", err)
	}
	dir, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("create a control group: %w", err)
	}
	g := &group{dir}
	for file, value := range limits {
		if err := g.set(file, value); err != nil {
			g.remove()
			return nil, fmt.Errorf("limit a control group: %w", err)
		}
	}
	_ = g.set("memory.swap.max", "0") // where there is no swap, there is no such file
	return g, nil
}

func (g *group) set(file, value string) error {
	f, err := os.OpenFile(filepath.Join(g.dir.Name(), file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// isOverMemory reports whether the kernel ended the sandbox because of its memory.
func (g *group) isOverMemory() bool {
	content, err := os.ReadFile(filepath.Join(g.dir.Name(), "memory.events"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "oom_kill" && fields[1] != "0" {
			return true
		}
	}
	return false
}

// kill ends the processes, from Linux 5.14 on. Their first one ends them, too.
func (g *group) kill() { _ = g.set("cgroup.kill", "1") }

// remove removes the group, once its processes are gone.
func (g *group) remove() {
	defer g.dir.Close()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for range 100 {
		if err := os.Remove(g.dir.Name()); err == nil || os.IsNotExist(err) {
			return
		}
		<-ticks.C
	}
}
