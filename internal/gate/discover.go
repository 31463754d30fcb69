package gate

import "github.com/precedent-dev/precedent"

// Document is a file of the base commit that may name commands.
type Document struct {
	Path string
	Text string
}

// Discover returns the commands of a gate: those of the policy, else those of the first
// document that has any.
func Discover(policy precedent.Gate, docs []Document) []Command {
	return nil
}
