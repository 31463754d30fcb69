package needs

import "testing"

// test is what a test and a part of a random one have in common.
type test interface {
	Helper()
	Fatal(args ...any)
}

// NoError ends the test if there is an error.
func NoError(t test, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Value is the result of a call that must not fail, as Value(r.Count(ctx))(t).
func Value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		NoError(t, err)
		return v
	}
}
