package needs

import (
	"os"
	"testing"
)

// Self returns this test binary, for tests that start it as another program.
func Self(t testing.TB) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}
