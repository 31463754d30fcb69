package sandbox

// Trap is one way out of a sandbox, and whether the sandbox blocked it.
type Trap struct {
	Name   string
	Held   bool
	Detail string // what was reached, or why the attempt could not run; empty if the sandbox blocked it
}

// probeOutput is what the probe's command prints.
const probeOutput = "hello from the sandbox\n"
