package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
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
	var start, wrong int64
	if _, err := fmt.Sscan(os.Getenv(burstClock), &start, &wrong); err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(9)
	}
	began := time.Unix(0, start)
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
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: environment(os.Environ()), sleep: sleep, fixedEngine: riskEngine{},
		now: func() time.Time { return burstNow(began).Add(time.Duration(wrong)) },
	}
	a.exit(ctx)
}

// risks are words, each of which names one defect of a shop.
var risks = []string{
	"refund", "average", "listener", "timeout", "currency", "discount", "voucher", "receipt", "ledger",
	"stock", "invoice", "carrier",
}

var (
	riskWord = regexp.MustCompile(strings.Join(risks, "|"))
	// riskLine is a line that has one.
	riskLine = regexp.MustCompile(`(?m)  till\.(\w+)\((\d+)\)$`)
)

// shopFile is the file of a shop, and shopText its text with these risks.
func shopFile(shop string) string { return "src/shop" + shop + ".js" }

func shopText(shop string, has []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "export function shop%s(till) {\n", shop)
	for i, risk := range risks {
		line := "// There is nothing about " + risk
		if slices.Contains(has, i) {
			line = fmt.Sprintf("  till.%s(%s)", risk, shop)
		}
		fmt.Fprintf(&b, "%s\n  step(%d)\n", line, i)
	}
	return b.String() + "}\n"
}

// riskEngine finds the risks that its prompt shows.
type riskEngine struct{}

func (riskEngine) Info() engine.Info {
	return engine.Info{Name: "risks", Line: "risks, on this machine", Who: "risks"}
}

func (riskEngine) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	find := func() []map[string]any {
		found, seen := []map[string]any{}, map[string]bool{}
		for _, m := range riskLine.FindAllStringSubmatch(t.User(), -1) {
			if seen[m[0]] {
				continue
			}
			seen[m[0]] = true
			found = append(found, map[string]any{
				"path": shopFile(m[2]), "quote": m[0], "severity": "medium", "confidence": 90, "category": "bugs", "side": "RIGHT",
				"title": strings.ToUpper(m[1][:1]) + m[1][1:] + " fails when the till is closed",
				"body":  "The call about " + m[1] + " is made without a look at the till, so that its " + m[1] + " is lost.",
			})
		}
		return found
	}
	same := func(pair string) bool {
		first, second, _ := strings.Cut(strings.ToLower(pair), "the second remark")
		word := riskWord.FindString(first)
		return word != "" && word == riskWord.FindString(second)
	}
	look := func(thread string) (state, reply string) {
		remark, lines, _ := strings.Cut(thread, "The lines ")
		if strings.Contains(lines, "till."+riskWord.FindString(strings.ToLower(remark))+"(") {
			return "still_there", ""
		}
		return "addressed", ""
	}
	return play(t, "risks", find, same, look)
}
