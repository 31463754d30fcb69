// Package round does the one thing that is due on a pull request.
//
// A server looks at a pull request again and again: after an event, after a poll, after its own last
// round. [Do] is one look:
//
//	read it           it is open, not locked, and still called the same
//	answer comments   they may ask for a review, for a fix, or for a pause
//	read the rules    the policy of the base names labels and what leads to a review
//	count             our own comments say which cycles there were
//	act               what is due: review, fix, look at CI, explain, tidy, or nothing
//
// act, in round.go, reads as that: facts go into due, a pure function, and come out as one step.
// Everything that it decides by is on the forge, so that a round that was killed is repeated by the
// next one, and a round with nothing due writes nothing.
//
// The labels are a state machine, which package label has as a table. A step ends with an event;
// the table says which label follows (steps.go), and labels.go swaps it only if neither the head nor
// the labels have changed meanwhile: people come first.
//
// What is not a review is said in notes (notes.go), each posted once. They count: cycles.go reads
// from them how many reviews and attempts there were, and when people have to look.
//
// A command reviews a pull request by [Post], without labels: it answers the comments, and reviews.
package round
