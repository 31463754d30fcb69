package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/enginetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// The test binary is the program under test, too.
const (
	part    = "PRECEDENT_TEST_PART" // what it is to be
	pidFile = "PRECEDENT_TEST_PID"  // where it writes its child's id
)

func TestMain(m *testing.M) {
	switch role := os.Getenv(part); role {
	case "":
		os.Exit(m.Run())
	case "scripted":
		enginetest.Main()
	default:
		syscall.Exit(act(role)) // os.Exit takes a second in a binary with the race detector
	}
}

// self returns the engine whose program is this test binary in the given part.
func self(t *testing.T, role string, env ...string) *Engine {
	t.Helper()
	e := needs.Value(New(needs.Self(t), nil, append(env, part+"="+role)))(t)
	return e
}

func task(timeout time.Duration) engine.Task {
	return engine.Task{
		Role: engine.Finder, Name: "bugs", System: "S", Prompt: "P", Tree: "/tree",
		Schema: json.RawMessage(`{"type":"object"}`), Timeout: timeout,
	}
}

func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, s enginetest.Script) engine.Engine {
		path := filepath.Join(t.TempDir(), "script.json")
		needs.NoError(t, s.Save(path))
		return self(t, "scripted", enginetest.ScriptVariable+"="+path)
	})
}

// TestWhatTheProgramGets: the task, the environment and the arguments handed
// in, and a working directory that is not the caller's.
func TestWhatTheProgramGets(t *testing.T) {
	t.Setenv("PRECEDENT_TEST_SECRET", "hunter2")
	t.Chdir(t.TempDir())
	e := self(t, "mirror", "GREETING=hello")
	e.args = []string{"--model", "a b"}
	a, err := e.Run(t.Context(), task(time.Minute))
	if err != nil || a.Status != precedent.StatusOK {
		t.Fatalf("%+v, %v", a, err)
	}
	var got struct {
		Input engine.Request
		Dir   string
		Env   []string
		Args  []string
	}
	needs.NoError(t, json.Unmarshal(a.JSON, &got))
	if got.Input.DeadlineMS < 1000 || got.Input.DeadlineMS > 60_000 {
		t.Errorf("deadline_ms %d, want what is left of a minute", got.Input.DeadlineMS)
	}
	got.Input.DeadlineMS = 0
	want := engine.NewRequest(task(0), 0)
	want.DeadlineMS = 0
	if diff := cmp.Diff(want, got.Input); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	needs.Equal(t, needs.Value(filepath.EvalSymlinks(filepath.Dir(e.path)))(t), needs.Value(filepath.EvalSymlinks(got.Dir))(t))
	if diff := cmp.Diff(e.args, got.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	for _, entry := range got.Env {
		switch name, _, _ := strings.Cut(entry, "="); strings.ToUpper(name) {
		case "GREETING", part, child.Tag, "SYSTEMROOT":
		default:
			t.Errorf("the program's environment has %s", entry)
		}
	}
}

// TestEmptyEnvironment: no environment handed in is an empty one, not ours.
func TestEmptyEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	t.Setenv("PRECEDENT_TEST_SECRET", "hunter2")
	e := needs.Value(New("/bin/sh", []string{"-c", `echo '{"answer":{"secret":"'$PRECEDENT_TEST_SECRET'"}}'`}, nil))(t)
	a, err := e.Run(t.Context(), task(time.Minute))
	if err != nil || string(a.JSON) != `{"secret":""}` {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestManners(t *testing.T) {
	long := task(time.Minute)
	long.Prompt = strings.Repeat("a prompt larger than any pipe ", 100_000)
	for _, test := range []struct {
		part    string
		task    engine.Task
		status  precedent.Status
		message string // part of it
	}{
		{"deaf", long, precedent.StatusOK, ""},
		{"leave", long, precedent.StatusOK, ""},
		{"leave and hang", task(2 * time.Second), precedent.StatusTimeout, "no answer within 2s"},
		{"leave in a session and hang", task(2 * time.Second), precedent.StatusTimeout, "no answer within 2s"},
		{"complain", task(time.Minute), precedent.StatusError, "\nline 99999\n\x1b[31mé: the end\x07"},
	} {
		t.Run(test.part, func(t *testing.T) {
			if runtime.GOOS != "linux" && strings.Contains(test.part, "session") {
				t.Skip("who leaves the process group is found on Linux only")
			}
			before := goleak.IgnoreCurrent()
			pid := filepath.Join(t.TempDir(), "pid")
			e := self(t, test.part, pidFile+"="+pid)
			began := time.Now()
			a := needs.Value(e.Run(t.Context(), test.task))(t)
			if a.Status != test.status || !strings.Contains(a.Message, test.message) {
				t.Errorf("%s (%s), want %s (…%s…)", a.Status, a.Message, test.status, test.message)
			}
			if took := time.Since(began); took > 50*time.Second {
				t.Errorf("took %v", took)
			}
			if strings.HasPrefix(test.part, "leave") {
				checkDead(t, pid)
			}
			goleak.VerifyNone(t, before)
		})
	}
}

// checkDead wants the process whose id the file holds to be gone, or about to be.
func checkDead(t *testing.T, file string) {
	t.Helper()
	text := needs.Value(os.ReadFile(file))(t)
	pid := needs.Value(strconv.Atoi(strings.TrimSpace(string(text))))(t)
	needs.WaitUntil(t, fmt.Sprintf("process %d, a child of the program, has ended", pid),
		func() bool { return !alive(pid) })
}
