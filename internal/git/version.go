package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Oldest is the oldest supported version of git.
const Oldest = "2.38"

// Version returns the version of the git program, such as "2.43.0", and whether it is
// supported. It uses the options' Exec and Timeout.
func Version(ctx context.Context, o Options) (version string, good bool, err error) {
	o = o.completed()
	program, err := locate("find git", o.Exec)
	if err != nil {
		return "", false, err
	}
	r := &Repo{exec: program, options: o, shadow: os.TempDir()}
	out, err := r.run(ctx, call{op: "find git", args: []string{"version"}}, 1<<10)
	if err != nil {
		return "", false, err
	}
	// "git version 2.39.5 (Apple Git-154)", "git version 2.47.1.windows.2"
	words := strings.Fields(string(out))
	if len(words) < 3 || words[0] != "git" || words[1] != "version" {
		return "", false, &Error{
			Op: "find git", Msg: program + " is not git: it printed " + printable(strings.TrimSpace(string(out))),
		}
	}
	return printable(words[2]), notBefore(words[2], Oldest), nil
}

// notBefore compares versions by their first two numbers.
func notBefore(version, oldest string) bool {
	a, b := strings.Split(version+"..", "."), strings.Split(oldest, ".")
	for i := range b {
		n, err := strconv.Atoi(a[i])
		least, _ := strconv.Atoi(b[i])
		if err != nil || n != least {
			return err == nil && n > least
		}
	}
	return true
}

func locate(op, name string) (string, error) {
	program, err := exec.LookPath(name)
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return "", &Error{
			Op: op, Msg: "git is not installed: " + err.Error(), Err: err,
			Hint: "install git " + Oldest + " or newer (Debian: apt-get install git; macOS: xcode-select --install)",
		}
	}
	return program, nil
}
