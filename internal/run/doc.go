// Package run prepares a change for its review, and runs the review.
//
// A local change is reviewed by
//
//	p, err := run.PrepareLocal(ctx, env, repo, spec, job)
//	made, err := p.Run(ctx, run.Watch{})
//
// Package pull prepares pull requests with the same parts.
//
// # Gather
//
// [PrepareLocal] resolves what to review, and reads its diff. What decides about the review comes
// from the base commit, never from the change: classes of files, guide, policy, the file of learnings
// ([Prepared.ReadBase]). A person's own policy that is not committed takes precedence, where nobody
// else can have written it ([ReadPolicy]).
//
// [Prepared.Complete] adds what the memory knows: earlier findings and dismissals, learnings, and
// what people wrote on earlier pull requests. Then it sets up the engine, with its budget, and keeps
// the engine's answers as they arrive, so that a review that is interrupted can go on from them.
// Everything optional fails open: it becomes a failure of the review, which says what is missing.
//
// Last, a local change is compared with the last review of the same work (last.go): what that one
// has read is not read again, and its findings are open threads that nobody sees.
//
// # Compute and keep
//
// [Prepared.Run] calls review.Run, which computes. The review is then stored, with its planned posts
// if it is posted. One that cannot be stored is returned all the same, but never posted: after a
// crash it would be posted twice.
//
// # The gate
//
// [PrepareGate] and [WorkTreeGate.Run] build and test a person's own work tree. [Gate] is what
// that has in common with the gate of a pull request.
package run
