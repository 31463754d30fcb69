package precedent

import "fmt"

// Untrusted is text from outside: a diff, a title, a comment, a file of the
// change. Only a prompt template, which fences it, or a report, which escapes
// it, may turn it into output; the type keeps it from being formatted by accident.
type Untrusted string

// Format does not print the text: every verb shows only its length.
func (u Untrusted) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "[untrusted text, %d bytes]", len(u))
}
