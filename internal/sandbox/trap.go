package sandbox

// Trap is one way out of a box, and whether the box held.
type Trap struct {
	Name   string
	Held   bool
	Detail string // what came through, or why the trap could not be tried; empty if the box held
}

// hello is what the command says with which a kind is probed.
const hello = "hello from the box\n"
