package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent/internal/needs"
)

// ciWorkflow is what the tests look at of a workflow.
type ciWorkflow struct {
	Name        string
	On          map[string]struct{ Types, Workflows []string }
	Permissions map[string]string
	Jobs        map[string]struct {
		If          string
		CacheMode   string `yaml:"cache-mode"`
		Permissions map[string]string
		Env         map[string]string
		Steps       []ciStep
	}
}

type ciStep struct {
	ID, If, Uses, Run, Shell string
	With, Env                map[string]string
}

// ciAll are the workflows that init writes, by name.
func ciAll(t *testing.T) map[string]ciWorkflow {
	t.Helper()
	all := map[string]ciWorkflow{}
	for forge := range ciFolders {
		if forge == "gitlab" { // has no workflows: TestGitLabJob
			continue
		}
		files, _, err := workflows(forge)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", forge, len(files), err)
		}
		for _, f := range files {
			var w ciWorkflow
			if err := yaml.Unmarshal(f.data, &w); err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			all[f.name] = w
		}
	}
	return all
}

// actionFile is action.yml at the top of the repository.
type actionFile struct {
	Inputs map[string]struct {
		Description string
		Default     *string
	}
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []ciStep
	}
}

func readAction(t *testing.T) actionFile {
	t.Helper()
	var a actionFile
	needs.NoError(t, yaml.Unmarshal([]byte(read(t, filepath.Join("..", "..", "action.yml"))), &a))
	return a
}

var pinned = regexp.MustCompile(`^(?:https://github\.com/)?[a-z0-9-]+/[a-z0-9-]+(?:/[a-z]+)?@[0-9a-f]{40}$`)

// TestStepsOfWorkflows: what a workflow or the action uses is pinned by its commit, nothing is checked out, and no
// expression is in a script, of which it would be a part, no matter who wrote its value. Inputs exist.
func TestStepsOfWorkflows(t *testing.T) {
	action := readAction(t)
	steps := map[string][]ciStep{"action.yml": action.Runs.Steps}
	for name, w := range ciAll(t) {
		for _, j := range w.Jobs {
			steps[name] = append(steps[name], j.Steps...)
		}
	}
	mod := read(t, filepath.Join("..", "..", "go.mod"))
	for name, all := range steps {
		for _, s := range all {
			if s.Uses != "" && !pinned.MatchString(s.Uses) || strings.Contains(s.Uses, "checkout") {
				t.Errorf("%s uses %s", name, s.Uses)
			}
			if strings.Contains(s.Run, "${{") || strings.Contains(s.Shell, "${{") || s.Run != "" && name != "action.yml" {
				t.Errorf("%s has the script\n%s", name, s.Run)
			}
			for key, value := range s.Env {
				if strings.Contains(value, "github.event") || strings.Contains(value, "head_ref") {
					t.Errorf("%s: %s is %s", name, key, value)
				}
				input, given := strings.CutPrefix(key, "IN_")
				if input = strings.ToLower(strings.ReplaceAll(input, "_", "-")); given && value != "${{ inputs."+input+" }}" {
					t.Errorf("%s: %s is %s", name, key, value)
				}
			}
			for input := range s.With {
				if _, ok := action.Inputs[input]; !ok && name != "action.yml" {
					t.Errorf("%s: the action has no input %s", name, input)
				}
			}
			if v := s.With["go-version"]; v != "" && !regexp.MustCompile(`(?m)^go `+regexp.QuoteMeta(v)+`(\.|$)`).MatchString(mod) {
				t.Errorf("%s builds with Go %s", name, v)
			}
		}
	}
	used := fmt.Sprint(action.Runs.Steps)
	for input, about := range action.Inputs {
		if about.Description == "" || !strings.Contains(used, "inputs."+input) {
			t.Errorf("the input %s does nothing, or nobody says what", input)
		}
	}
}

// TestPermissionsAreTheLeast: each job may do what it needs, and where secrets meet pull requests from forks, the event is
// one whose workflow the pull request cannot change.
func TestPermissionsAreTheLeast(t *testing.T) {
	const (
		post = "map[checks:write contents:read pull-requests:write]"
		look = "map[contents:read pull-requests:read]"
	)
	want := map[string]string{
		".github/workflows/precedent.yml":                   "pull_request",
		".github/workflows/precedent.yml review":            post,
		".github/workflows/precedent.yml fork":              look,
		".github/workflows/precedent-forks.yml":             "workflow_run",
		".github/workflows/precedent-forks.yml review":      post,
		".github/workflows/precedent-outcomes.yml":          "pull_request_target",
		".github/workflows/precedent-outcomes.yml outcomes": look,
		".gitea/workflows/precedent.yml":                    "pull_request",
		".gitea/workflows/precedent.yml review":             "map[contents:read issues:write pull-requests:write]",
		".gitea/workflows/precedent.yml fork":               look,
		".gitea/workflows/precedent.yml outcomes":           look,
	}
	got := map[string]string{}
	for name, w := range ciAll(t) {
		if w.Permissions == nil || len(w.Permissions) > 0 {
			t.Errorf("%s gives every job %v", name, w.Permissions)
		}
		got[name] = strings.Join(slices.Sorted(maps.Keys(w.On)), " ")
		_, own := w.On["pull_request"] // of the event that may write its cache anyway
		for job, j := range w.Jobs {
			got[name+" "+job] = fmt.Sprint(j.Permissions)
			if (j.Steps[0].With["memory"] == "keep" && !own) != (j.CacheMode == "write") {
				t.Errorf("%s: %s has the cache-mode %q, by which GitHub saves its memory", name, job, j.CacheMode)
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestForksGetNothing: the one job that runs as a pull request from a fork says
// has no secret, no token but its own, no cache, and posts nothing.
func TestForksGetNothing(t *testing.T) {
	for _, name := range []string{".github/workflows/precedent.yml", ".gitea/workflows/precedent.yml"} {
		w := ciAll(t)[name]
		fork := w.Jobs["fork"]
		if len(fork.Steps) != 1 || len(fork.Env) > 0 {
			t.Fatalf("%s: %+v", name, fork)
		}
		with := fork.Steps[0].With
		for key, value := range with {
			if strings.Contains(value, "${{") || slices.Contains([]string{"post", "memory", "memory-db", "token"}, key) {
				t.Errorf("%s gives forks %s: %s", name, key, value)
			}
		}
		if with["engine"] != "none" {
			t.Errorf("%s lets forks ask %q", name, with["engine"])
		}
		if !strings.Contains(fork.If, "head.repo.full_name != github.repository") ||
			!strings.Contains(w.Jobs["review"].If, "head.repo.full_name == github.repository") {
			t.Errorf("%s does not tell forks from others: %q", name, fork.If)
		}
		for job, j := range w.Jobs { // another base branch makes another change of the head
			if job != "outcomes" && !strings.Contains(j.If, "(github.event.action != 'edited' || github.event.changes.") ||
				!slices.Contains(w.On["pull_request"].Types, "edited") {
				t.Errorf("%s: %s does not review for another base branch: %q", name, job, j.If)
			}
		}
	}
	// GitHub treats a run like that of a fork if Dependabot caused it, no matter who opened the pull request. What the one
	// workflow leaves out, the other reviews.
	w := ciAll(t)
	for name, cond := range map[string]string{
		"github.actor != 'dependabot[bot]'":                          w[".github/workflows/precedent.yml"].Jobs["review"].If,
		"github.actor == 'dependabot[bot]'":                          w[".github/workflows/precedent.yml"].Jobs["fork"].If,
		"github.event.workflow_run.actor.login == 'dependabot[bot]'": w[".github/workflows/precedent-forks.yml"].Jobs["review"].If,
		// A run that somebody approved.
		"workflow_run.event == 'pull_request' &&": w[".github/workflows/precedent-forks.yml"].Jobs["review"].If,
		"conclusion == 'success' ||":              w[".github/workflows/precedent-forks.yml"].Jobs["review"].If,
		"conclusion == 'failure') &&":             w[".github/workflows/precedent-forks.yml"].Jobs["review"].If,
	} {
		if !strings.Contains(cond, name) {
			t.Errorf("%q does not have %q", cond, name)
		}
	}
	after := w[".github/workflows/precedent-forks.yml"].On["workflow_run"].Workflows
	if !cmp.Equal(after, []string{w[".github/workflows/precedent.yml"].Name}) {
		t.Errorf("it runs after %q", after)
	}
	if types := w[".github/workflows/precedent-outcomes.yml"].On["pull_request_target"].Types; !cmp.Equal(types, []string{"closed"}) {
		t.Errorf("outcomes are learned when a pull request is %v", types)
	}
	action := readAction(t)
	for input, want := range map[string]string{"post": "false", "memory": "none", "memory-db": "", "anthropic-api-key": "", "marker-key": ""} {
		if d := action.Inputs[input].Default; d == nil || *d != want {
			t.Errorf("by default the action's %s is not %q", input, want)
		}
	}
}

// stepOf is the script of a step of the action.
func stepOf(t *testing.T, id string) string {
	t.Helper()
	steps := readAction(t).Runs.Steps
	return steps[slices.IndexFunc(steps, func(s ciStep) bool { return s.ID == id })].Run
}

// shell runs a script as a runner does.
func shell(t *testing.T, script string, env ...string) *exec.Cmd {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	cmd := exec.Command(bash, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
	cmd.Env = append(env, "PATH="+os.Getenv("PATH"))
	return cmd
}

// TestActionRuns runs the action's script with a program in Precedent's place,
// which notes how it was called.
func TestActionRuns(t *testing.T) {
	t.Parallel()
	script := stepOf(t, "run")
	for name, test := range map[string]struct {
		env    []string
		status int // of the program
		want   string
		exit   int
		not    bool // the program is not called
	}{
		"review":         {[]string{"IN_COMMAND=pr", "IN_FORMAT=text"}, 0, "pr --format=text", 0, false},
		"post":           {[]string{"IN_COMMAND=pr", "IN_FORMAT=text", "IN_POST=true", "IN_FAIL_ON=low", "IN_MODEL=m", "IN_THRESHOLD=80"}, 1, "pr --format=text --post --model=m --threshold=80 --fail-on=low", 1, false},
		"not failing":    {[]string{"IN_COMMAND=pr", "IN_FORMAT=text", "IN_FAIL=false"}, 3, "pr --format=text", 0, false},
		"failing anyway": {[]string{"IN_COMMAND=pr", "IN_FORMAT=text", "IN_FAIL=false"}, 2, "pr --format=text", 2, false},
		"arguments":      {[]string{"IN_COMMAND=pr", "IN_FORMAT=json", "IN_ARGS=--again\n\n--timeout=$(id) `id`\n"}, 0, "pr --format=json --again --timeout=$(id) `id`", 0, false},
		"an address that is an option": {
			[]string{"IN_COMMAND=pr", "IN_FORMAT=text", "IN_ENGINE=none", "IN_PULL_REQUEST=--post"}, 0, "pr --format=text --engine=none -- --post", 0, false,
		},
		"outcomes": {[]string{"IN_COMMAND=outcomes", "IN_PULL_REQUEST=https://x/pull/7"}, 0, "outcomes -- https://x/pull/7", 0, false},
		"shared memory": {
			[]string{"IN_COMMAND=outcomes", "IN_MEMORY=sync"},
			0,
			"memory sync --repo https://forge.example/team/app --read-only\noutcomes\nmemory sync --repo https://forge.example/team/app", 0, false,
		},
		"the first run of a pull request": {[]string{"IN_COMMAND=pr", "IN_FORMAT=text", "IN_MEMORY=keep", "GITHUB_EVENT_NAME=pull_request"}, 0, "pr --format=text", 0, false},
		"a later run of a pull request": {
			[]string{"IN_COMMAND=pr", "IN_FORMAT=text", "IN_MEMORY=keep", "GITHUB_EVENT_NAME=pull_request"},
			0,
			"memory export --memory-db DIR/precedent-memory/memory.db --repo https://forge.example/team/app --out DIR/shared.jsonl\n" +
				"memory import --memory-db DIR/precedent-pull/memory.db --repo https://forge.example/team/app --skip-refused DIR/shared.jsonl\n" +
				"pr --format=text", 0, false,
		},
		"a pull request that was closed": {[]string{"IN_COMMAND=outcomes", "IN_MEMORY=keep", "GITHUB_EVENT_NAME=pull_request_target"}, 0, "outcomes", 0, false},
		"no such command":                {[]string{"IN_COMMAND=pr; id"}, 0, "", 2, true},
		"a memory of ours":               {[]string{"IN_COMMAND=outcomes", "IN_MEMORY_DB=/var/x.db"}, 0, "outcomes", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			program := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>%s/called\necho \"$PRECEDENT_MEMORY_DB\" >%[1]s/memory\nexit %d\n", dir, test.status)
			needs.WriteProgram(t, filepath.Join(dir, "precedent"), program)
			env := inputs("RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_REPOSITORY=team/app")
			folder := "precedent-memory"
			writeFile(t, filepath.Join(dir, folder, "memory.db"), "shared", 0o600)
			writeFile(t, filepath.Join(dir, folder, "memory.db-wal"), "log", 0o600)
			if strings.HasSuffix(name, "run of a pull request") {
				folder = "precedent-pull"
			}
			if strings.HasPrefix(name, "a later") {
				writeFile(t, filepath.Join(dir, folder, "memory.db"), "own", 0o600)
			}
			ends(t, test.exit, shell(t, script, append(env, test.env...)...))
			called, err := os.ReadFile(filepath.Join(dir, "called"))
			if test.not {
				if err == nil {
					t.Errorf("called with %s", called)
				}
				return
			}
			if got := strings.ReplaceAll(strings.TrimSuffix(string(called), "\n"), dir, "DIR"); got != test.want {
				t.Errorf("called with %q, want %q", got, test.want)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, "output")); string(got) != fmt.Sprintf("status=%d\nmemory=%s\n", test.status, folder) {
				t.Errorf("the output is %q", got)
			}
			if _, err := os.Stat(filepath.Join(dir, folder, "memory.db-wal")); (err == nil) == strings.HasPrefix(name, "a later") {
				t.Errorf("the log of the memory: %v", err)
			}
			memory, _ := os.ReadFile(filepath.Join(dir, "memory"))
			if got := strings.TrimSpace(string(memory)); got != filepath.Join(dir, folder, "memory.db") && !slices.Contains(test.env, "IN_MEMORY_DB="+got) {
				t.Errorf("the memory is %q", got)
			}
		})
	}
}

// releaseServer serves a release for this machine, whose program is the given script, and returns its address and the
// checksum of its list of checksums.
func releaseServer(t *testing.T, version, program string) (address, sums string) {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	err := archive.WriteHeader(&tar.Header{Name: "precedent-" + version + "/precedent", Mode: 0o755, Size: int64(len(program))})
	_, written := archive.Write([]byte(program))
	needs.NoError(t, errors.Join(err, written, archive.Close(), zipped.Close()))
	name := "precedent-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	list := fmt.Sprintf("%x  %s\n", sha256.Sum256(packed.Bytes()), name)
	files := http.NewServeMux()
	files.HandleFunc("/download/"+version+"/SHA256SUMS", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(list)) })
	files.HandleFunc("/download/"+version+"/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed.Bytes()) })
	server := httptest.NewServer(files)
	t.Cleanup(server.Close)
	return server.URL, fmt.Sprintf("%x", sha256.Sum256([]byte(list)))
}

// TestActionInstallsARelease runs the step that installs, against a server with a release for this machine.
func TestActionInstallsARelease(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("needs Linux or macOS")
	}
	script := stepOf(t, "install")
	address, sums := releaseServer(t, "v1.2.3", "#!/bin/sh\necho released\n")
	root := needs.Value(filepath.Abs(filepath.Join("..", "..")))(t)
	for what, test := range map[string]struct{ version, checksums, says string }{
		"released":        {"v1.2.3", "", ""},
		"pinned":          {"v1.2.3", sums, ""},
		"another release": {"v1.2.3", strings.Repeat("0", 64), "another checksum"},
		"not released":    {"v1.2.4", "", "could not be downloaded"},
		"no version":      {"main; id", "", "must be that of a release"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			out, err := shell(t, script, "HOME="+dir, "RUNNER_TEMP="+dir, "ACTION_PATH="+root, "FROM="+address,
				"IN_VERSION="+test.version, "IN_CHECKSUMS="+test.checksums).CombinedOutput()
			said, _ := exec.Command(filepath.Join(dir, "precedent")).Output() // nothing if it is not there
			installs := test.says == ""
			ran := string(said) == "released\n"
			if (err == nil) != installs || ran != installs || !strings.Contains(string(out), test.says) {
				t.Errorf("%v, %q\n%s", err, said, out)
			}
		})
	}
}

// TestGitLabJob runs the job for GitLab with a release for this machine: it reviews the change, or installs nothing.
func TestGitLabJob(t *testing.T) {
	t.Parallel()
	_, noCurl := exec.LookPath("curl")
	program, programErr := exec.LookPath("precedent")
	if noCurl != nil || programErr != nil || runtime.GOOS != "linux" {
		t.Skip("needs curl on Linux")
	}
	address, sums := releaseServer(t, "v1.2.3", "#!/bin/sh\nexec "+program+` "$@"`+"\n")
	files := needs.Value(workflowsAt("gitlab", ciFolders["gitlab"], strings.Repeat("ab", 20), "v1.2.3"))(t)
	var parsed struct {
		Precedent struct {
			Variables map[string]string
			Before    []string `yaml:"before_script"`
			Script    []string
		}
	}
	if err := yaml.Unmarshal(files[0].data, &parsed); err != nil || len(files) != 1 {
		t.Fatal(err)
	}
	job := parsed.Precedent
	for name, test := range map[string]struct{ sums, says string }{
		"released":        {"", "Unresolved merge conflict"},
		"pinned":          {sums, "Unresolved merge conflict"},
		"another release": {strings.Repeat("0", 64), "FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPRStage(t)
			top := filepath.Join(t.TempDir(), "app")
			s.git(s.home, "clone", "--quiet", s.origin, top)
			cmd := shell(t, strings.Join(slices.Concat(job.Before, job.Script), "\n"))
			cmd.Dir = top
			for name, value := range job.Variables {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
			base := s.git(s.origin, "merge-base", "main", "feature")
			cmd.Env = append(cmd.Env, "HOME="+t.TempDir(), "PRECEDENT_RELEASES="+address+"/download",
				"PRECEDENT_SUMS="+test.sums, "CI_MERGE_REQUEST_DIFF_BASE_SHA="+base, "CI_COMMIT_SHA="+s.id("feature"), "PRECEDENT_CONSOLIDATION=off")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.says) {
				t.Errorf("%v, want %q\n%s", err, test.says, out)
			}
			if _, err := os.Stat(filepath.Join(top, ".precedent", "precedent")); (err == nil) != strings.HasPrefix(test.says, "Unresolved") {
				t.Errorf("the program: %v\n%s", err, out)
			}
		})
	}
}

// inputs is an environment with all inputs of the script, which are empty, and more.
func inputs(given ...string) (all []string) {
	const names = "COMMAND PULL_REQUEST POST MEMORY MEMORY_DB FORMAT ENGINE MODEL THRESHOLD FAIL_ON FAIL ARGS"
	for name := range strings.FieldsSeq(names) {
		all = append(all, "IN_"+name+"=")
	}
	return append(append(all, "GITHUB_SERVER_URL=https://forge.example", "GITHUB_EVENT_NAME=push"), given...)
}

func TestCommitOfTheAction(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	info := func(version string, settings ...string) *debug.BuildInfo {
		b := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			b.Settings = append(b.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return b
	}
	for name, test := range map[string]struct {
		info            *debug.BuildInfo
		commit, version string
	}{
		"release":       {info("v1.2.3", "vcs.revision", commit, "vcs.modified", "false"), commit, "v1.2.3"},
		"between two":   {info("(devel)", "vcs.revision", commit, "vcs.modified", "false"), commit, ""},
		"changed":       {info("v1.2.3", "vcs.revision", commit, "vcs.modified", "true"), "", ""},
		"not known":     {info("v1.2.3"), "", ""},
		"no git commit": {info("v1.2.3", "vcs.revision", "12", "vcs.modified", "false"), "", ""},
	} {
		if c, v := actionCommit(test.info, true); c != test.commit || v != test.version {
			t.Errorf("%s: %q, %q", name, c, v)
		}
	}
	if c, _ := actionCommit(nil, false); c != "" {
		t.Errorf("without any information: %q", c)
	}
}
