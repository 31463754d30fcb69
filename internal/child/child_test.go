package child

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// The test binary is the program, too; the engines' tests have more of bad manners.
const part, hold = "PRECEDENT_TEST_PART", "PRECEDENT_TEST_HOLD"

func TestMain(m *testing.M) {
	switch os.Getenv(part) {
	case "":
		os.Exit(m.Run())
	case "say":
		_, _ = os.Stdout.WriteString("hello\n")
		_, _ = os.Stderr.WriteString("an aside\n")
	case "parent":
		_, _ = Run(context.Background(), Program{Path: os.Args[0], Env: []string{part + "=hang", hold + "=" + os.Getenv(hold)}})
	case "hang":
		if f, err := os.OpenFile(os.Getenv(hold), os.O_WRONLY, 0); err == nil {
			defer f.Close()
		}
		_, _ = os.Stdout.WriteString("hello\n")
		<-time.After(10 * time.Minute)
	case "flood":
		for block := []byte(strings.Repeat("x", 1000)); ; {
			if _, err := os.Stdout.Write(block); err != nil {
				break
			}
		}
	case "fail":
		syscall.Exit(3)
	}
	syscall.Exit(0)
}

func program(t *testing.T, role string) Program {
	t.Helper()
	exe := needs.Value(os.Executable())(t)
	return Program{Path: exe, Dir: t.TempDir(), Env: []string{part + "=" + role}, Most: 10_000}
}

func TestEnds(t *testing.T) {
	r, err := Run(t.Context(), program(t, "say"))
	if err != nil || r.Err != nil || string(r.Output) != "hello\n" || r.Stderr != "an aside" || r.Full {
		t.Errorf("%+v, %v", r, err)
	}
	var exit *exec.ExitError
	if r, err = Run(t.Context(), program(t, "fail")); err != nil || !errors.As(r.Err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("%+v, %v; want the exit status 3", r, err)
	}
	if r, err = Run(t.Context(), program(t, "flood")); err != nil || !r.Full || r.Err == nil || len(r.Output) > 10_000 {
		t.Errorf("full %v with %d bytes, %v, %v", r.Full, len(r.Output), r.Err, err)
	}
	if _, err = Run(t.Context(), Program{Path: "/nowhere/at/all"}); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestIsEnded(t *testing.T) {
	enough := errors.New("enough")
	p := program(t, "hang")
	p.Watch = func(piece []byte) error {
		if string(piece) != "hello\n" {
			t.Errorf("saw %q", piece)
		}
		return enough
	}
	r, err := Run(t.Context(), p)
	if err != nil || !errors.Is(r.Err, enough) || string(r.Output) != "hello\n" {
		t.Errorf("%+v, %v; want what Watch returned", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.Watch = func([]byte) error { cancel(); return nil }
	if r, err = Run(ctx, p); err != nil || !errors.Is(r.Err, context.Canceled) {
		t.Errorf("%+v, %v; want the context's error", r, err)
	}
}

func TestTail(t *testing.T) {
	for _, test := range []struct{ written, want string }{
		{"", ""},
		{" \n", ""},
		{"a\nb\n", "a\nb"},
		{"\xff", "\uFFFD"},
		{strings.Repeat("é", 3*MostStderr), strings.Repeat("é", MostStderr)},
		{strings.Repeat("x", MostStderr) + "\nlast", "last"},
	} {
		var whole, pieces tail
		_, _ = whole.Write([]byte(test.written))
		for i := range len(test.written) {
			_, _ = pieces.Write([]byte(test.written[i : i+1]))
		}
		if got := whole.last(); got != test.want || pieces.last() != got {
			t.Errorf("%.20q, in pieces %.20q, want %.20q", got, pieces.last(), test.want)
		}
	}
}
