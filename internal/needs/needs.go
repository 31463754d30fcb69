// Package needs is for tests that need more than Go and git, or more time than a usual run has. What is missing
// skips a test, and names it; under make test, which fetches what it can and sets PRECEDENT_TEST_ALL, it is a
// failure. What takes long is for make soak, which sets PRECEDENT_TEST_SOAK, too: Soak, and all of the Rounds.
// NoError and Value end a test if a step fails; Equal, Result and Len compare. Home, Exits and Expand are for stories.
package needs

import (
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	allVariable  = "PRECEDENT_TEST_ALL"  // if set, nothing may be missing
	soakVariable = "PRECEDENT_TEST_SOAK" // if set, everything runs that takes long
	seedVariable = "PRECEDENT_TEST_SEED" // repeats the draws of Random
)

// All reports whether nothing may be missing.
func All() bool {
	return os.Getenv(allVariable) != "" //nolint:forbidigo // only tests call this
}

// Soaking reports whether everything runs that takes long.
func Soaking() bool {
	return os.Getenv(soakVariable) != "" //nolint:forbidigo // only tests call this
}

// Missing ends a test that cannot run without something: it skips the test, or fails
// it under make test. If the variable is "off", it always skips.
func Missing(t testing.TB, variable, what string) {
	t.Helper()
	switch {
	case Off(variable):
		t.Skipf("needs %s (%s=off)", what, variable)
	case All():
		t.Fatalf("needs %s (make deps or make soak fetches it; %s=off does without)", what, variable)
	}
	t.Skipf("needs %s (make deps or make soak fetches it)", what)
}

// Off reports whether the variable turns off the tests that need what it names.
func Off(variable string) bool {
	return os.Getenv(variable) == "off" //nolint:forbidigo // only tests call this
}

// Soak skips a test that takes long, except under make soak.
func Soak(t testing.TB, why string) {
	t.Helper()
	if !Soaking() {
		t.Skipf("needs time: it %s (make soak runs it)", why)
	}
}

// Rounds is a number for a test that takes longer the higher it is, such as of rounds with random input, or of
// bytes: all under make soak, else few.
func Rounds(all, few int) int {
	if Soaking() {
		return all
	}
	return few
}

// Path is the path of something that tests read: the value of the variable, else
// below .tools in the root of the project.
func Path(variable, below string) string {
	if named := os.Getenv(variable); named != "" { //nolint:forbidigo // only tests call this
		return named
	}
	dir := "."
	for range 8 { // no package is deeper
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Join("..", dir)
	}
	return filepath.Join(dir, ".tools", below)
}

// File returns Path, and ends the test if the file does not exist.
func File(t testing.TB, variable, below, what string) string {
	t.Helper()
	path := Path(variable, below)
	if _, err := os.Stat(path); err != nil {
		Missing(t, variable, what)
	}
	return path
}

// MCPTool returns the command line of a public program of the Model Context Protocol, which runs with Node.js.
func MCPTool(t testing.TB, name string) []string {
	t.Helper()
	modules := File(t, "PRECEDENT_TEST_MCP", "mcp/node_modules", "the MCP inspector and its conformance tests")
	modules, err := filepath.Abs(modules)
	NoError(t, err)
	node := "node"
	if own, _ := filepath.Glob(filepath.Join(modules, "node-*", "bin", "node")); len(own) > 0 {
		node = own[0]
	}
	return []string{node, filepath.Join(modules, ".bin", name)}
}

// Program is File for a program, as an absolute path. The variable may name a command
// on PATH.
func Program(t testing.TB, variable, below, what string) string {
	t.Helper()
	path, err := exec.LookPath(Path(variable, below))
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil || Off(variable) {
		Missing(t, variable, what)
	}
	return path
}

// Command returns the path of a program on PATH, and ends the test if it is not there.
func Command(t testing.TB, variable, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil || Off(variable) {
		Missing(t, variable, name)
	}
	return path
}

// Seed returns a seed and logs it: a new one, or PRECEDENT_TEST_SEED.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64) //nolint:forbidigo // only tests call this
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d; %s repeats it", seed, seedVariable)
	return seed
}

// waitLimit is how long WaitUntil waits. It only has to end before the time of all tests is over: on
// a machine with much else to do, what takes a second may take half a minute.
const waitLimit = 3 * time.Minute

// WaitUntil calls done until it is true. The test fails if it takes minutes.
func WaitUntil(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !done(); {
		if time.Now().After(end) {
			t.Fatalf("waited %v until %s", waitLimit, what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// WriteProgram writes a program that a test executes. While the file is open no other test starts a
// process: that would have it open for a moment, too, and Linux does not execute a file that
// somebody writes ("text file busy").
func WriteProgram(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), 0o755) //nolint:gosec // it is executed, also by another user
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}

// Busy is the processor time that do takes in this process, including other work at
// the same time. Unlike wall time, it does not grow while the machine is busy with
// other processes.
func Busy(do func()) time.Duration {
	before := processorTime()
	do()
	return processorTime() - before
}

// Random returns randomness from Seed.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 0))
}

// Variables of a Gitea or Forgejo that runs elsewhere.
const (
	giteaVariable = "PRECEDENT_TEST_GITEA"       // its URL
	adminVariable = "PRECEDENT_TEST_GITEA_ADMIN" // name:password of an administrator
)

// Gitea returns the URL of a running Gitea or Forgejo, and an administrator of it. Without one it skips the
// test, also under make test: make soak runs these tests.
func Gitea(t testing.TB) (address string, admin *url.Userinfo) {
	t.Helper()
	address = os.Getenv(giteaVariable)                                  //nolint:forbidigo // only tests call this
	name, password, found := strings.Cut(os.Getenv(adminVariable), ":") //nolint:forbidigo // only tests call this
	switch {
	case address == "" || Off(giteaVariable):
		t.Skipf("needs a running Gitea (%s=URL and %s=NAME:PASSWORD of an administrator)", giteaVariable, adminVariable)
	case !found:
		t.Fatalf("%s is set, but %s is not NAME:PASSWORD of an administrator", giteaVariable, adminVariable)
	}
	return address, url.UserPassword(name, password)
}
