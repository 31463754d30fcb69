package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// burstClock is what the parent of a bursting program says of the time: when its test began, in
// nanoseconds, and how wrong the clock of the process is, also in nanoseconds. In-process times have a
// monotonic reading, so that a clock that is set shows in what is stored: the clocks of an earlier
// process and of another replica.
const burstClock = "BURST_CLOCK"

// burstSpeed is how much faster than here time passes at the forge and for bursting programs, so
// that pauses are short, and expiry is seen.
const burstSpeed = 20

// burstNow is the time at the forge.
func burstNow(began time.Time) time.Time {
	return forgetest.Epoch.Add(burstSpeed * time.Since(began))
}

// bursting is the program with an engine of its own and a fast clock.
func bursting() {
	first, second, _ := strings.Cut(os.Getenv(burstClock), " ")
	start, err1 := strconv.ParseInt(first, 10, 64)
	wrong, err2 := strconv.ParseInt(second, 10, 64)
	if err1 != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, err1, err2)
		syscall.Exit(9)
	}
	began := time.Unix(0, start)
	now := func() time.Time { return burstNow(began).Add(time.Duration(wrong)) }
	sleep := func(ctx context.Context, d time.Duration) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d / burstSpeed):
			return nil
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: environment(os.Environ()), now: now, sleep: sleep,
		fixedEngine: riskEngine{},
	}
	end := a.makeTemp()
	status := a.run(ctx, os.Args[1:])
	end()
	syscall.Exit(status) // os.Exit takes a second in a binary with the race detector
}

// risks are words, each of which names one defect of a shop.
var risks = []string{
	"refund", "average", "listener", "timeout", "currency", "discount", "voucher", "receipt", "ledger",
	"stock", "invoice", "carrier",
}

// riskLine is a line that has one.
var riskLine = regexp.MustCompile(`(?m)  till\.(\w+)\((\d+)\)$`)

// shopFile is the file of a shop, and shopText its text with these risks.
func shopFile(shop int) string { return filepath.ToSlash(fmt.Sprintf("src/shop%d.js", shop)) }

func shopText(shop int, has []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "export function shop%d(till) {\n", shop)
	for i, risk := range risks {
		line := "// There is nothing about " + risk
		for _, n := range has {
			if n == i {
				line = fmt.Sprintf("  till.%s(%d)", risk, shop)
			}
		}
		fmt.Fprintf(&b, "%s\n  step(%d)\n", line, i)
	}
	return b.String() + "}\n"
}

// riskEngine finds the risks that its prompt shows.
type riskEngine struct{}

// Info says what it is.
func (riskEngine) Info() engine.Info {
	return engine.Info{Name: "risks", Line: "risks, on this machine", Who: "risks"}
}

// Run answers a task.
func (riskEngine) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	find := func() []map[string]any {
		found, seen := []map[string]any{}, map[string]bool{}
		for _, m := range riskLine.FindAllStringSubmatch(t.User(), -1) {
			shop, err := strconv.Atoi(m[2])
			if err != nil || seen[m[0]] {
				continue
			}
			seen[m[0]] = true
			found = append(found, map[string]any{
				"path": shopFile(shop), "quote": m[0], "severity": "medium", "confidence": 90, "category": "bugs", "side": "RIGHT",
				"title": strings.ToUpper(m[1][:1]) + m[1][1:] + " fails when the till is closed",
				"body": "The call about " + m[1] + " is made without a look at the state of the till, so that its " + m[1] +
					" is lost.",
			})
		}
		return found
	}
	same := func(pair string) bool {
		first, second, _ := strings.Cut(strings.ToLower(pair), "the second remark")
		for _, risk := range risks {
			if strings.Contains(first, risk) && strings.Contains(second, risk) {
				return true
			}
		}
		return false
	}
	look := func(thread string) (state, reply string) {
		remark, lines, _ := strings.Cut(thread, "The lines ")
		for _, risk := range risks {
			if strings.Contains(remark, "The call about "+risk) && strings.Contains(lines, "till."+risk+"(") {
				return "still_there", ""
			}
		}
		return "addressed", ""
	}
	return play(t, "risks", find, same, look)
}
