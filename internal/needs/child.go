package needs

import (
	"os"
	"testing"
)

// Self returns this test binary, for tests that start it as another program.
func Self(t testing.TB) string {
	t.Helper()
	return Value(os.Executable())(t)
}
