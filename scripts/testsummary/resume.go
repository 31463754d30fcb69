package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// resume runs go test for each package, without the tests that have passed before. The packages are the last arguments.
func (s *summary) resume(dir string, args []string, trouble io.Writer) (status int, err error) {
	flags, patterns := splitArgs(args)
	packages, err := output("go", append([]string{"list"}, patterns...)...)
	if err != nil {
		return 2, err
	}
	state, err := sourceState()
	if err != nil {
		return 2, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // it is for everyone to read
		return 2, err
	}
	for _, pkg := range strings.Fields(packages) {
		file := filepath.Join(dir, strings.ReplaceAll(strings.TrimPrefix(pkg, module), "/", "-")+"."+state+".json")
		args := slices.Clone(flags)
		switch done, ended := s.readDone(file); {
		case ended:
			s.print("done\t%s\n", pkg)
			continue
		case len(done) > 0:
			s.print("%s: %d tests have passed before\n", pkg, len(done))
			args = append(args, "-skip", "^("+strings.Join(done, "|")+")$")
		}
		log, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644) //nolint:gosec // it is for everyone to read
		if err != nil {
			return 2, err
		}
		one, err := s.goTest(append(args, pkg), trouble, log)
		if err := errors.Join(err, log.Close()); err != nil {
			return 2, err
		}
		status = max(status, one)
	}
	return status, nil
}

// splitArgs splits the packages from the flags before them.
func splitArgs(args []string) (flags, packages []string) {
	i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, ".") || strings.HasPrefix(a, module) })
	if i < 0 {
		return args, []string{"."}
	}
	return args[:i], args[i:]
}

// readDone counts the results of an earlier run. It returns the tests that passed, and whether the whole package did.
func (s *summary) readDone(name string) (passed []string, ended bool) {
	file, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) == nil && e.Action == "pass" {
			switch {
			case e.Test == "":
				ended = true
			case strings.Contains(e.Test, "/"):
				s.passed++
			default:
				s.passed++
				passed = append(passed, regexp.QuoteMeta(e.Test))
			}
		}
		if err != nil {
			return passed, ended
		}
	}
}

// sourceState identifies the state of the source: the commit, and what differs from it.
func sourceState() (string, error) {
	commit, err := output("git", "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	diff, err := output("git", "diff", "HEAD")
	if err != nil {
		return "", err
	}
	untracked, err := output("git", "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return "", err
	}
	for name := range strings.Lines(untracked) {
		text, err := os.ReadFile(strings.TrimSuffix(name, "\n"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		diff += name + string(text)
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(commit+diff)))[:12], nil
}

// output runs a program and returns what it prints.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output() //nolint:noctx,gosec // it ends by itself, and gets what the developer typed
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, args[0], err)
	}
	return string(out), nil
}
