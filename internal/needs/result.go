package needs

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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

// Equal reports how a value differs from what it should be.
func Equal(t testing.TB, want, got any, o ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, o...); diff != "" {
		t.Error(diff)
	}
}

// Result checks what a call returns, as Result(t, "names", want)(r.Names(ctx)).
func Result[T any](t testing.TB, what string, want T) func(T, error) {
	t.Helper()
	return func(got T, err error) {
		t.Helper()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", what, err, diff)
		}
	}
}

// Len checks how many a call returns, as Len(t, "by id", 1)(r.FindingsByID(ctx, id, 10)).
func Len(t testing.TB, what string, want int) func(any, error) {
	t.Helper()
	return func(got any, err error) {
		t.Helper()
		if n := reflect.ValueOf(got).Len(); err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d: %+v", what, n, err, want, got)
		}
	}
}

// Each is what a function makes of each element, as Each(found, func(f precedent.Finding) string { return f.Title }).
func Each[T, U any](list []T, of func(T) U) []U {
	var all []U
	for _, one := range list {
		all = append(all, of(one))
	}
	return all
}
