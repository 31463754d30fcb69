package lint

import "github.com/precedent-dev/precedent"

// vetText describes the findings of an analyzer: category, severity, why they matter
// and what to do.
type vetText struct {
	category precedent.Category
	severity precedent.Severity
	why      string
}

// vetTextFor returns the description of a go vet analyzer.
func vetTextFor(analyzer string) vetText {
	if w, ok := vetTable[analyzer]; ok {
		return w
	}
	return vetText{precedent.Bugs, precedent.Medium, "The code probably does not do what was intended."}
}

// vetTable uses High for code that breaks whenever the line runs, Medium if it
// depends on the situation, and Low if it only misleads readers.
var vetTable = map[string]vetText{
	"appends": {
		precedent.Bugs, precedent.Medium,
		"append without values returns the slice unchanged, so an element was probably forgotten. Add the missing value, " +
			"or remove the call.",
	},
	"asmdecl": {
		precedent.Crash, precedent.High,
		"Assembly that disagrees with its Go declaration reads and writes the wrong stack slots and corrupts memory. Make " +
			"frame size, offsets and argument names match the declaration.",
	},
	"assign": {
		precedent.Bugs, precedent.Medium,
		"Assigning a variable to itself does nothing; another variable or field was probably meant. Correct one side, or " +
			"delete the line.",
	},
	"atomic": {
		precedent.Race, precedent.High,
		"Assigning the result back makes the update non-atomic again, so concurrent increments are lost. Call the atomic " +
			"function for its effect only, or use the atomic types.",
	},
	"bools": {
		precedent.Bugs, precedent.Medium,
		"The condition is redundant or always has the same value, so one side is probably a mistake. Compare the intended " +
			"values.",
	},
	"buildtag": {
		precedent.Bugs, precedent.High,
		"A build constraint that is malformed or misplaced is ignored, so the file is built where it should not be. Put a " +
			"well-formed //go:build line before the package clause.",
	},
	"cgocall": {
		precedent.Crash, precedent.High,
		"Passing Go pointers to memory that holds Go pointers breaks cgo's rules, and the garbage collector may move or " +
			"free what C still uses. Pass a handle or a copy instead.",
	},
	"composites": {
		precedent.Types, precedent.Low,
		"An unkeyed literal of another package's struct stops compiling, or silently fills other fields, when that " +
			"package adds a field. Name the fields.",
	},
	"copylocks": {
		precedent.Race, precedent.High,
		"A copied lock protects nothing: each copy has its own state, so two goroutines can enter the critical section at " +
			"once, or block forever. Pass a pointer.",
	},
	"defers": {
		precedent.Bugs, precedent.Medium,
		"The arguments of a deferred call are evaluated when defer runs, not when the function returns, so the duration " +
			"is always near zero. Defer a function literal that makes the call.",
	},
	"directive": {
		precedent.Bugs, precedent.Medium,
		"A misplaced or misspelt //go: directive is an ordinary comment and has no effect. Put it where the toolchain " +
			"looks for it.",
	},
	"errorsas": {
		precedent.Crash, precedent.High,
		"errors.As panics when its second argument is not a pointer to an error type or an interface. Pass the address of " +
			"the variable.",
	},
	"framepointer": {
		precedent.Crash, precedent.High,
		"Assembly that overwrites the frame pointer before saving it breaks stack traces and profilers, and may crash " +
			"them. Save and restore BP.",
	},
	"hostport": {
		precedent.Bugs, precedent.Medium,
		"An address built as host:port is wrong for IPv6, because IPv6 addresses contain colons, so dialing fails. Use " +
			"net.JoinHostPort.",
	},
	"httpresponse": {
		precedent.Crash, precedent.High,
		"When the request fails the response is nil, and deferring the close of its body panics. Check the error first, " +
			"then defer resp.Body.Close().",
	},
	"ifaceassert": {
		precedent.Crash, precedent.High,
		"No type can implement both interfaces, because their methods conflict, so the assertion always fails, and panics " +
			"in its one-value form. Correct the method or the type.",
	},
	"loopclosure": {
		precedent.Race, precedent.High,
		"Before Go 1.22 all iterations share the loop variable, so the function sees a later value, and reads it while " +
			"the loop writes it. Copy the variable within the loop, or pass it as an argument.",
	},
	"lostcancel": {
		precedent.Bugs, precedent.Medium,
		"A context whose cancel function is not called on every path keeps its timer and its children until the parent " +
			"ends: a leak. Defer cancel() right after the call.",
	},
	"nilfunc": {
		precedent.Bugs, precedent.Medium,
		"A declared function is never nil, so the comparison always has the same result. The intention was probably to " +
			"call the function, or to use a variable.",
	},
	"printf": {
		precedent.Bugs, precedent.Medium,
		"The format string and the arguments do not match, so the output contains text such as %!d(string=x) or loses a " +
			"value, and an error wrapped this way cannot be unwrapped. " +
			"Correct the verb, or the number and order of the arguments.",
	},
	"scannererr": {
		precedent.Bugs, precedent.Medium,
		"bufio.Scanner stops silently on read errors and on lines that are too long, so truncated input looks complete. " +
			"Check scanner.Err() after the loop.",
	},
	"shift": {
		precedent.Bugs, precedent.High,
		"Shifting by the width of the type or more always gives zero, or minus one. Convert to a wider type first, or " +
			"correct the count.",
	},
	"sigchanyzer": {
		precedent.Bugs, precedent.Medium,
		"signal.Notify does not block: a signal is lost if no goroutine is receiving from an unbuffered channel at that " +
			"moment. Use a buffer of at least 1.",
	},
	"slog": {
		precedent.Bugs, precedent.Medium,
		"Keys and values of a log call must alternate; anything else is logged under !BADKEY. Add the missing key or " +
			"value, or use slog.Attr.",
	},
	"sqlrowserr": {
		precedent.Bugs, precedent.Medium,
		"Rows.Next returns false both at the end of the rows and when iteration fails, for example because the connection " +
			"is lost or the context ends. Without a check of rows.Err() " +
			"the function treats a partial result as complete. Check rows.Err() after the loop and return the error.",
	},
	"stdmethods": {
		precedent.Types, precedent.Medium,
		"A method with this well-known name but a different signature does not implement the interface of the standard " +
			"library, and is silently never called. Use the expected signature or another name.",
	},
	"stdversion": {
		precedent.Types, precedent.High,
		"The symbol is newer than the Go version that go.mod promises to support, so the package does not build with that " +
			"version. Raise the go directive, or avoid the symbol.",
	},
	"stringintconv": {
		precedent.Bugs, precedent.High,
		"Converting an integer to a string gives the character with that code point, not its digits: string(65) is \"A\". " +
			"Use strconv.Itoa or fmt.Sprint, or convert to rune first if you want the character.",
	},
	"structtag": {
		precedent.Bugs, precedent.Medium,
		"A malformed or repeated struct tag is ignored or makes encoders drop fields, so data goes missing without an " +
			"error. Correct the tag's quoting, spacing or name.",
	},
	"testinggoroutine": {
		precedent.Tests, precedent.Medium,
		"Fatal and FailNow end only the goroutine that calls them, so the test continues, and may pass or hang. Call " +
			"t.Error and return, and fail in the test's own goroutine.",
	},
	"tests": {
		precedent.Tests, precedent.Medium,
		"A test, fuzz target or example with a wrong name or signature is never run, or documents something that does not " +
			"exist. Correct the name or the parameters.",
	},
	"timeformat": {
		precedent.Bugs, precedent.High,
		"The layout 2006-02-01 means year-day-month, so dates are written and read with day and month swapped. Use " +
			"2006-01-02.",
	},
	"unmarshal": {
		precedent.Bugs, precedent.High,
		"Decoding into something that is not a pointer always fails with an error and fills nothing. Pass the address of " +
			"the variable.",
	},
	"unreachable": {
		precedent.Bugs, precedent.Low,
		"Code after a return, panic or endless loop never runs: it is left over, or the control flow above it is wrong. " +
			"Delete it or correct the flow.",
	},
	"unsafeptr": {
		precedent.Crash, precedent.High,
		"A uintptr does not keep its object alive, so converting it back can produce a pointer to memory that was moved " +
			"or freed. Do the arithmetic and the conversion in one expression, or use unsafe.Add.",
	},
	"unusedresult": {
		precedent.Bugs, precedent.Medium,
		"The function only computes a result, which is discarded, so the call does nothing. Use the result, or delete the " +
			"call.",
	},
	"waitgroup": {
		precedent.Race, precedent.High,
		"If Add runs inside the new goroutine, Wait may return before it is called, without waiting for the work. Call " +
			"Add before the go statement, or use wg.Go.",
	},
}
