// Command package makes what people install from the programs of a release: archives, packages for Debian and for
// RPM, a formula for Homebrew, a manifest for Scoop, a statement of provenance and the checksums of all, signed if
// there is a key. The same programs give the same bytes.
//
//	go run ./scripts/package -version v1.2.3 [-dist dist] [-man dist/man] [-nfpm .tools/nfpm] [-key FILE]
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// release is what is packaged.
type release struct {
	dist, man, top string
	version        string // of a tag, such as v1.2.3
	commit, source string
	at             time.Time // of the commit: the time of every file
	nfpm, key      string    // programs and files; empty for none
	base           string    // the folder of a base system for an image; empty for none
	url            string    // where the files will be
	completions    map[string][]byte
}

// program is a program of a release.
type program struct{ path, os, arch string }

// name is how its files begin.
func (p program) name() string { return "precedent-" + p.os + "-" + p.arch }

func main() {
	r := release{top: "."}
	flag.StringVar(&r.dist, "dist", "dist", "the folder with the programs, in which everything is written")
	flag.StringVar(&r.man, "man", "dist/man", "the folder of the manual pages")
	flag.StringVar(&r.version, "version", "", "the version: that of a tag, such as v1.2.3")
	flag.StringVar(&r.nfpm, "nfpm", "", "the program nfpm, for .deb and .rpm; none are made without it")
	flag.StringVar(&r.base, "base", "", "the folder of a Debian for this machine, as debootstrap makes it, for an image of containers; none is made without it")
	flag.StringVar(&r.key, "key", "", "a private SSH key that signs the checksums")
	flag.StringVar(&r.source, "source", "https://github.com/precedent-dev/precedent", "the address of the sources")
	flag.Parse()
	if err := r.run(); err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

// run packages all programs in the folder.
func (r *release) run() error {
	if err := r.describe(); err != nil {
		return err
	}
	programs, err := r.programs()
	if err != nil {
		return err
	}
	if r.completions == nil {
		if r.completions, err = completionsOf(programs); err != nil {
			return err
		}
	}
	for _, p := range programs {
		all, err := r.contents(p)
		if err == nil {
			err = r.archive(p, all)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name(), err)
		}
		if p.os == "linux" && r.nfpm != "" {
			if err := r.packages(p, all); err != nil {
				return fmt.Errorf("%s: %w", p.name(), err)
			}
		}
		if p.os == "linux" && p.arch == runtime.GOARCH && r.base != "" {
			if err := r.image(p, r.base); err != nil {
				return fmt.Errorf("%s: %w", p.name(), err)
			}
		}
		if err := os.Remove(p.path); err != nil {
			return err
		}
	}
	install, err := os.ReadFile(filepath.Join(r.top, "scripts", "install.sh"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dist, "install.sh"), install, 0o755); err != nil { //nolint:gosec // people run it
		return err
	}
	return r.finish()
}

// describe completes the version, the commit and the time from git, and checks them.
func (r *release) describe() error {
	for field, args := range map[*string][]string{
		&r.commit:  {"rev-parse", "HEAD"},
		&r.version: {"describe", "--tags", "--always", "--match", "v*"},
	} {
		if *field != "" {
			continue
		}
		out, err := output(r.top, "git", args...)
		if err != nil {
			return err
		}
		*field = out
	}
	if !strings.HasPrefix(r.version, "v") {
		r.version = "v0.0.0-" + r.version // before the first tag
	}
	if r.at.IsZero() {
		out, err := output(r.top, "git", "log", "-1", "--format=%ct")
		if err != nil {
			return err
		}
		seconds, err := strconv.ParseInt(out, 10, 64)
		if err != nil {
			return fmt.Errorf("read the time of the commit: %w", err)
		}
		r.at = time.Unix(seconds, 0).UTC()
	}
	r.url = cmp.Or(r.url, r.source+"/releases/download/"+r.version)
	return nil
}

// output runs a program in a folder and returns what it printed, without the last line break. An error has what it
// said.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// programs lists the programs in the folder, sorted by name.
func (r *release) programs() ([]program, error) {
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		return nil, err
	}
	var all []program
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".exe")
		parts := strings.Split(name, "-")
		if e.Type().IsRegular() && len(parts) == 3 && parts[0] == "precedent" && !strings.Contains(name, ".") {
			all = append(all, program{filepath.Join(r.dist, e.Name()), parts[1], parts[2]})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no programs: run scripts/release.sh first", r.dist)
	}
	return all, nil
}

// completionsOf asks the program of this machine for what completes commands in shells.
func completionsOf(all []program) (map[string][]byte, error) {
	i := slices.IndexFunc(all, func(p program) bool { return p.os == runtime.GOOS && p.arch == runtime.GOARCH })
	if i < 0 {
		return nil, fmt.Errorf("there is no program for %s/%s, which makes the completions", runtime.GOOS, runtime.GOARCH)
	}
	made := map[string][]byte{}
	for shell, name := range map[string]string{
		"bash": "precedent.bash", "zsh": "_precedent", "fish": "precedent.fish", "powershell": "precedent.ps1",
	} {
		out, err := output("", all[i].path, "completion", shell)
		if err != nil {
			return nil, err
		}
		made[name] = []byte(out + "\n")
	}
	return made, nil
}

// sums returns the checksum of each file of the release, by name.
func (r *release) sums() (map[string]string, error) {
	sums := map[string]string{}
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), "SHA256SUMS") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.dist, e.Name()))
		if err != nil {
			return nil, err
		}
		sums[e.Name()] = sumOf(data)
	}
	return sums, nil
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// finish writes what names the checksums of other files, and signs all of them.
func (r *release) finish() error {
	packed, err := r.sums()
	if err != nil {
		return err
	}
	sums := maps.Clone(packed)
	for name, make := range map[string]func(map[string]string) ([]byte, error){
		"precedent.rb": r.formula, "precedent.json": r.scoop, "provenance.json": r.provenance,
	} {
		data, err := make(packed)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(r.dist, name), data, 0o644); err != nil { //nolint:gosec // it is published
			return err
		}
		sums[name] = sumOf(data)
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	list := filepath.Join(r.dist, "SHA256SUMS")
	if err := os.WriteFile(list, []byte(text.String()), 0o644); err != nil { //nolint:gosec // it is published
		return err
	}
	signature := list + ".sig"
	if err := os.Remove(signature); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if r.key == "" {
		return nil
	}
	_, err = output("", "ssh-keygen", "-q", "-Y", "sign", "-f", r.key, "-n", "file", list)
	return err
}
