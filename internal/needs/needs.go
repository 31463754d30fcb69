// Package needs is for tests that need more than Go and git, or more time than
// a quick run has. On a machine that lacks something, "go test" skips such a
// test by name. "make test" fetches what can be fetched and sets
// PRECEDENT_TEST_ALL: from then on a missing thing is a failure, and tests with
// random input run all their rounds. Tests of how long something takes find a
// steady clock here.
package needs

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

const (
	allVariable  = "PRECEDENT_TEST_ALL"  // set: nothing may be missing, and all rounds are run
	seedVariable = "PRECEDENT_TEST_SEED" // repeats what Random did
)

// All tells whether nothing may be missing.
func All() bool {
	return os.Getenv(allVariable) != "" //nolint:forbidigo // only tests call this
}

// Missing ends a test that cannot run without what is named: as skipped, and
// under make test as failed. The value "off" of the variable that names the thing
// skips it also there.
func Missing(t testing.TB, variable, what string) {
	t.Helper()
	switch {
	case Off(variable):
		t.Skipf("needs %s (%s=off)", what, variable)
	case All():
		t.Fatalf("needs %s (make deps fetches it; %s=off does without)", what, variable)
	}
	t.Skipf("needs %s (make deps fetches it)", what)
}

// Off tells whether the variable turns off the tests that need what it names.
func Off(variable string) bool {
	return os.Getenv(variable) == "off" //nolint:forbidigo // only tests call this
}

// Long skips a test that takes long: make test runs it.
func Long(t testing.TB, why string) {
	t.Helper()
	if !All() {
		t.Skipf("needs time: it %s (make test runs it)", why)
	}
}

// Rounds is how many rounds a test with random input runs: all of them under
// make test, else few.
func Rounds(all, few int) int {
	if All() {
		return all
	}
	return few
}

// Path is where something lies that tests read: where the variable says, else
// below .tools in the root of the project.
func Path(variable, below string) string {
	if named := os.Getenv(variable); named != "" { //nolint:forbidigo // only tests call this
		return named
	}
	dir := "."
	for range 8 { // no package lies deeper
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Join("..", dir)
	}
	return filepath.Join(dir, ".tools", below)
}

// File returns Path if there is a file, and ends the test if there is none.
func File(t testing.TB, variable, below, what string) string {
	t.Helper()
	path := Path(variable, below)
	if _, err := os.Stat(path); err != nil {
		Missing(t, variable, what)
	}
	return path
}

// Program is File for a program, as an absolute path. What the variable names may
// be a command on PATH.
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

// Seed returns a seed and prints it: a new one, unless PRECEDENT_TEST_SEED names one.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64) //nolint:forbidigo // only tests call this
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d; %s repeats it", seed, seedVariable)
	return seed
}

// Busy is the processor time that do takes in this process, other work at the same
// time included. Unlike what a clock shows it does not grow while the machine is
// busy with something else.
func Busy(do func()) time.Duration {
	before := processor()
	do()
	return processor() - before
}

// Random returns randomness from Seed.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 0))
}
