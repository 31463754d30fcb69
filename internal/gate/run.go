package gate

import "context"

// Run runs the commands of a request, one after the other, and stops at the first that
// fails. It never runs anything outside of the sandbox.
func (r Runner) Run(ctx context.Context, q Request) Result {
	_ = ctx
	_ = q
	return Result{Status: Skipped, Why: "no sandbox"}
}

// Tail is the last 2,000 characters of what the failed command printed, which is hostile
// text; empty if none failed.
func (r Result) Tail() string { return "" }
