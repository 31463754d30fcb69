package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
)

type view int

const (
	shadowed view = iota // the shadow, with the real objects
	real                 // the real repository; see the package's second rule
)

type call struct {
	op    string // for errors
	view  view
	args  []string
	env   []string // additional variables
	set   []string // additional configuration, as key=value
	dir   string   // working folder; empty: the shadow
	stdin io.Reader
	// userConfig makes the user's configuration visible. Only listing it is safe.
	userConfig bool
	// asUser is for the fetch from the remote of the user's clone: it uses the user's
	// configuration and environment.
	asUser bool
}

var (
	errTimeout = errors.New("timeout")
	errOutput  = errors.New("git's output is too large")
)

// waitDelay is how long to wait for pipes after killing a process.
const waitDelay = 2 * time.Second

// settings apply to every process and override all files: each turns off something that a
// repository could make git run, follow or ask (T13). For the shadow they are a second line of
// defence, for the real repository the first. The last ones only save time.
var settings = []string{
	"safe.bareRepository=explicit", "core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.untrackedCache=false",
	"core.attributesFile=" + os.DevNull, "core.excludesFile=" + os.DevNull, "core.sshCommand=false", "core.gitProxy=",
	"core.pager=cat", "core.protectHFS=true", "core.protectNTFS=true", "core.quotePath=false",
	"core.bigFileThreshold=" + bigFile, "core.warnAmbiguousRefs=false", "credential.helper=", "protocol.allow=never",
	"diff.external=", "log.showSignature=false", "submodule.recurse=false",
	"core.fsync=none", // temporary files need no fsync
	"fastimport.unpackLimit=1", "pack.compression=0", "gc.auto=0", "maintenance.auto=false",
}

// bigFile is the size from which git treats a file as binary: 32 MiB. No one reviews
// a longer text, and git would hold it in memory more than once.
const bigFile = "32m"

// environment is the complete environment of git. Nothing is inherited: neither secrets (T14) nor
// variables that make git run programs (T13).
func (r *Repo) environment(c call) []string {
	env := []string{
		"PATH=" + strings.Join([]string{filepath.Dir(r.exec), "/usr/bin", "/bin"}, string(os.PathListSeparator)),
		"HOME=" + r.shadow, "XDG_CONFIG_HOME=" + r.shadow, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_LFS_SKIP_SMUDGE=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "GIT_PAGER=cat",
		"GIT_TRACE2=0", "GIT_TRACE2_EVENT=0", "GIT_TRACE2_PERF=0",
	}
	if c.view == real {
		env = append(env, "GIT_DIR="+r.place.gitDir)
	} else {
		objects := precedent.QuotePath(filepath.Join(r.place.commonDir, "objects"))
		env = append(env, "GIT_DIR="+r.shadow, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+objects)
	}
	if !c.userConfig && !c.asUser {
		env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull)
	}
	set := append([]string{"safe.directory=" + r.place.gitDir, "safe.directory=" + r.place.top}, settings...)
	if c.asUser { // an empty value would end the user's list of helpers
		set = slices.DeleteFunc(set, func(kv string) bool { return kv == "credential.helper=" })
		env = append(env, r.userEnvironment()...)
	}
	set = append(set, c.set...)
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(set)))
	for i, kv := range set {
		key, value, _ := strings.Cut(kv, "=")
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+key, "GIT_CONFIG_VALUE_"+n+"="+value)
	}
	return append(env, c.env...)
}

// command prepares a git process that is killed with its process group when the context ends.
func (r *Repo) command(ctx context.Context, c call) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.exec, c.args...)
	cmd.Env = r.environment(c)
	cmd.Dir = c.dir
	cmd.Dir = cmp.Or(cmd.Dir, r.shadow)
	cmd.Stdin = c.stdin
	cmd.WaitDelay = waitDelay
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	return cmd
}

// stream runs git and passes its standard output to use. If use returns early, git is
// stopped, which is not an error.
func (r *Repo) stream(ctx context.Context, c call, use func(io.Reader) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.options.Timeout, errTimeout)
	defer cancel()
	var said tail
	cmd := r.command(ctx, c)
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return failure(context.Cause(ctx), c.op, err, "", r.options.Timeout)
	}
	useErr := use(out)
	rest, _ := out.Read(make([]byte, 1))
	if useErr != nil || rest > 0 {
		// A process that has already ended need not be killed.
		_ = killGroup(cmd)
	}
	err = cmd.Wait()
	switch {
	case context.Cause(ctx) != nil:
		return failure(context.Cause(ctx), c.op, err, said.String(), r.options.Timeout)
	case useErr != nil:
		return useErr
	case rest > 0 || err == nil:
		return nil
	}
	return failure(context.Cause(ctx), c.op, err, said.String(), r.options.Timeout)
}

// run runs git and returns its standard output, up to max bytes.
func (r *Repo) run(ctx context.Context, c call, max int64) ([]byte, error) {
	var out []byte
	err := r.stream(ctx, c, func(stdout io.Reader) error {
		var err error
		out, err = io.ReadAll(io.LimitReader(stdout, max+1))
		if err == nil && int64(len(out)) > max {
			return &Error{Op: c.op, Msg: fmt.Sprintf("%v: %d bytes", errOutput, max), Err: errOutput}
		}
		return err
	})
	return out, err
}

// line runs git and returns its output, which is short, without the space around it.
func (r *Repo) line(ctx context.Context, op string, args ...string) (string, error) {
	out, err := r.run(ctx, call{op: op, args: args}, configBytes)
	return strings.TrimSpace(string(out)), err
}

// start runs git and returns the first bytes of its standard output.
func (r *Repo) start(ctx context.Context, c call, bytes int64) (string, error) {
	var text []byte
	err := r.stream(ctx, c, func(out io.Reader) (err error) {
		text, err = io.ReadAll(io.LimitReader(out, bytes))
		return err
	})
	return string(text), err
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - tailBytes; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }

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
