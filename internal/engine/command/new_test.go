package command

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	needs.NoError(t, os.WriteFile(path, []byte(text), mode))
	return path
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, filepath.Join(dir, "plain"), "no program", 0o600)
	write(t, filepath.Join(dir, "planted"), "#!/bin/sh\n", 0o700)
	for _, test := range []struct{ name, path, msg, hint string }{
		{"nothing", "", "no path is given", "command:PATH"},
		{"missing", "./missing", "missing", "check the path"},
		{"folder", dir, "directory", "check the path"},
		{"not executable", "./plain", "permission denied", "chmod +x " + filepath.Join(dir, "plain")},
		{"not in PATH", "no-such-model", `no program "no-such-model" in PATH`, "command:./no-such-model"},
		{"not from the working directory", "planted", `no program "planted" in PATH`, "command:./planted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && test.name == "not executable" {
				t.Skip("the ending of the name decides there")
			}
			_, err := New(test.path, nil, []string{"PATH=.:" + string(os.PathListSeparator) + filepath.Join(dir, "bin")})
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("error %v, want an *Error", err)
			}
			if !strings.Contains(bad.Msg, test.msg) || !strings.Contains(bad.Hint, test.hint) || bad.Hint == "" {
				t.Errorf("error %q with the hint %q, want %q and %q", bad.Msg, bad.Hint, test.msg, test.hint)
			}
			if !strings.HasPrefix(err.Error(), "find engine program: ") {
				t.Errorf("error %q", err)
			}
		})
	}
}

func TestNewFinds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	const script = "#!/bin/sh\ncat >/dev/null\necho '{\"answer\":{\"ran\":true}}'\n"
	needs.NoError(t, os.Mkdir("bin", 0o700))
	needs.WriteProgram(t, filepath.Join(dir, "bin", "in path"), script)
	needs.WriteProgram(t, filepath.Join(dir, "--relative.sh"), script)
	write(t, filepath.Join(dir, "no first line"), "\x01\x02", 0o700)

	for _, path := range []string{"in path", "./--relative.sh"} {
		e := needs.Value(New(path, nil, []string{"PATH=/nowhere:" + filepath.Join(dir, "bin") + ":/usr/bin:/bin"}))(t)
		t.Chdir("/") // where it is found no longer depends on this
		a, err := e.Run(t.Context(), task(time.Minute))
		if err != nil || a.Status != precedent.StatusOK {
			t.Errorf("%s: %s (%s), %v", path, a.Status, a.Message, err)
		}
		t.Chdir(dir)
	}

	e := needs.Value(New("./no first line", nil, nil))(t)
	a, err := e.Run(t.Context(), task(time.Minute))
	if err != nil || a.Status != precedent.StatusError || !strings.Contains(a.Message, "begins with #!") {
		t.Errorf("%s (%s), %v", a.Status, a.Message, err)
	}

	needs.NoError(t, os.Remove(e.path))
	a, err = e.Run(t.Context(), task(time.Minute))
	if err != nil || a.Status != precedent.StatusError || !strings.Contains(a.Message, "cannot be started") {
		t.Errorf("removed meanwhile: %s (%s), %v", a.Status, a.Message, err)
	}
}
