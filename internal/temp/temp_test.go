package temp

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestMain lets the test binary be a process that is killed while it has a folder.
func TestMain(m *testing.M) {
	parent := os.Getenv("TEMP_TEST_PARENT")
	if parent == "" {
		os.Exit(m.Run())
	}
	f, err := Open(parent)
	if err == nil {
		err = os.WriteFile(filepath.Join(f.Dir, "copy"), []byte("secret"), 0o600)
	}
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	fmt.Println(f.Dir)
	select {}
}

func openFolder(t *testing.T, parent string) *Folder {
	t.Helper()
	f := needs.Value(Open(parent))(t)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// TestSweep: what a killed process left, the next one removes; what a living one has stays.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "TEMP_TEST_PARENT="+parent)
	out, err := other.StdoutPipe()
	if err == nil {
		err = other.Start()
	}
	needs.NoError(t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	dir := strings.TrimSpace(line)
	if err != nil || strings.HasPrefix(dir, "error") {
		t.Fatal(dir, err)
	}
	openFolder(t, parent)
	if _, err := os.Stat(filepath.Join(dir, "copy")); err != nil {
		t.Errorf("of a living process: %v", err)
	}
	needs.NoError(t, other.Process.Kill())
	_ = other.Wait() // it was killed
	openFolder(t, parent)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s of a killed process is still there: %v", dir, err)
	}
}

// TestNothingIsLeft, however many processes come and go.
func TestNothingIsLeft(t *testing.T) {
	parent := t.TempDir()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 20 {
				f, err := Open(parent)
				if err == nil {
					err = errors.Join(os.WriteFile(filepath.Join(f.Dir, "x"), nil, 0o600), f.Close())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestForeignFolder: another user may have made the folder, or a link to it.
func TestForeignFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the temporary folder is the user's own on Windows")
	}
	for name, prepare := range map[string]func(user string) error{
		"open to others": func(user string) error { return os.Mkdir(user, 0o755) },
		"a link":         func(user string) error { return os.Symlink(filepath.Dir(user), user) },
		"a file":         func(user string) error { return os.WriteFile(user, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			user := filepath.Join(parent, fmt.Sprintf("precedent-%d", os.Geteuid()))
			needs.NoError(t, prepare(user))
			f := openFolder(t, parent)
			info, err := os.Lstat(f.Dir)
			if err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(f.Dir) != parent {
				t.Errorf("%s: %v, %v", f.Dir, info.Mode(), err)
			}
		})
	}
}
