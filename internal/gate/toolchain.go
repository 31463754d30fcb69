package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/text"
)

// toolchain is a toolchain that lies outside of the folders that every sandbox has.
type toolchain struct {
	name string
	root string // on the host
}

// at is its folder in the sandbox. It does not depend on the host, so that build caches fit.
func (t toolchain) at() string { return "/toolchain/" + t.name }

// known lists the toolchains that are looked for: by the program in their bin folder, and by a
// file that shows that the folder above is a toolchain, and not somebody's home.
var known = []struct{ name, program, proof string }{
	{"go", "go", "src/runtime/runtime2.go"},
	{"node", "node", "include/node/node.h"},
	{"rust", "rustc", "lib/rustlib"},
	{"python", "python3", "include/python3*/Python.h"},
	{"java", "javac", "lib/modules"},
}

// findToolchains finds the toolchains on a PATH that a sandbox does not have anyway.
func findToolchains(path string) []toolchain {
	var all []toolchain
	for _, k := range known {
		program := findProgram(k.program, path)
		if program == "" || k.name != "go" && sandbox.InEverySandbox(program) {
			continue
		}
		if filepath.Base(program) == "rustup" {
			program = rustcOf(program)
		}
		root := filepath.Dir(filepath.Dir(program))
		proof, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(k.proof)))
		if err != nil || len(proof) == 0 || filepath.Dir(program) != filepath.Join(root, "bin") || !othersRead(root) {
			continue
		}
		all = append(all, toolchain{k.name, root})
	}
	return all
}

var defaultToolchain = text.Pattern(`(?m)^default_toolchain = "([\w.-]+)"`)

// rustcOf is the compiler that rustup starts where a tree does not choose one.
func rustcOf(rustup string) string {
	for _, name := range []string{".rustup", "rustup"} { // at home, and in images of containers
		home := filepath.Join(rustup, "../../..", name)
		settings, _ := os.ReadFile(filepath.Join(home, "settings.toml"))
		if found := defaultToolchain().FindSubmatch(settings); found != nil {
			return filepath.Join(home, "toolchains", string(found[1]), "bin", "rustc")
		}
	}
	return rustup
}

// findProgram returns the path of a program, without links, "" if there is none.
func findProgram(name, path string) string {
	found := child.Find(name, path)
	file, err := filepath.EvalSymlinks(found)
	if found == "" || err != nil { // without a name, it returns the working directory
		return ""
	}
	return file
}

func (s *session) tool(name string) (toolchain, bool) {
	i := slices.IndexFunc(s.tools, func(t toolchain) bool { return t.name == name })
	if i < 0 {
		return toolchain{}, false
	}
	return s.tools[i], true
}

// othersRead reports whether the user of a sandbox can read a folder.
func othersRead(dir string) bool {
	info, err := os.Stat(dir)
	const others = 0o005
	return err == nil && info.IsDir() && (os.Geteuid() != 0 || info.Mode()&others == others)
}

// plainEnv is the environment of a program in a sandbox, without what keeps package managers offline.
func (s *session) plainEnv() []string {
	all := []string{}
	for _, d := range s.needed {
		if d.path != "" {
			all = append(all, d.path)
		}
	}
	if len(s.managers) > 0 {
		all = append(all, managersAt)
	}
	for _, t := range s.tools {
		all = append(all, t.at()+"/bin")
	}
	all = append(all, "/usr/local/bin", "/usr/bin", "/bin")
	return []string{
		"PATH=" + strings.Join(all, ":"), "HOME=" + sandbox.Home, "TMPDIR=" + sandbox.Home, "LANG=C.UTF-8",
		"TERM=dumb", "NO_COLOR=1", "CI=true",
	}
}

func (s *session) env() []string {
	env := append(s.plainEnv(), "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOENV=off", "GOTELEMETRY=off",
		"GOCACHE="+goCache, "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false",
		"npm_config_update_notifier=false", "COREPACK_ENABLE_NETWORK=0", "CARGO_NET_OFFLINE=true", "PIP_NO_INDEX=1",
		"PIP_DISABLE_PIP_VERSION_CHECK=1", "UV_OFFLINE=1")
	for _, d := range s.needed {
		env = append(env, d.env...)
	}
	return env
}

// toolMounts are the operator's programs in a sandbox.
func (s *session) toolMounts() []sandbox.Mount {
	var all []sandbox.Mount
	for _, t := range s.tools {
		all = append(all, sandbox.Mount{Source: t.root, Target: t.at()})
	}
	for _, m := range s.managers {
		if m.root != "" {
			all = append(all, sandbox.Mount{Source: m.root, Target: "/toolchain/" + m.name})
		}
	}
	return all
}

// mounts are what a command can read besides its tree and the system.
func (s *session) mounts() []sandbox.Mount {
	all := s.toolMounts()
	for _, d := range s.needed {
		all = append(all, d.mounts...)
	}
	if s.seed != "" {
		all = append(all, sandbox.Mount{Source: s.seed, Target: seedAt})
	}
	return all
}
