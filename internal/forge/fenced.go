package forge

import "context"

type fenceKey struct{}

// WithFence returns a context in which check is called right before everything that changes something on a
// forge. If check returns an error, nothing is sent, and the error is an *Error of KindFenced that wraps it.
//
// It is for jobs that may lose their lease: a request that waits, for the rate limit or for the
// time between two changes, is checked after it waited, and each request of a change that takes
// several is checked. What was sent before stays.
func WithFence(ctx context.Context, check func(context.Context) error) context.Context {
	return context.WithValue(ctx, fenceKey{}, check)
}

// PassFence calls the check of WithFence, if there is one. Implementations of Forge
// call it right before each request that makes a change; the error is of KindFenced.
func PassFence(ctx context.Context) error {
	check, ok := ctx.Value(fenceKey{}).(func(context.Context) error)
	if !ok {
		return nil
	}
	if err := check(ctx); err != nil {
		return &Error{Kind: KindFenced, Msg: "not sent: " + err.Error(), Err: err}
	}
	return nil
}
