// Mutate measures the tests: it changes one thing in the product's code, runs the tests of that package,
// and counts how many of such mutants the tests kill.
//
//	go run ./scripts/mutate -n 200 -results .tools/mutants.jsonl
//
// A seed draws the mutants. A mutant is drawn or not whatever happens to the rest of the code, so two runs
// with one seed compare two versions of the program. A run that was stopped goes on where it was.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// outcome is what became of a mutant.
type outcome string

const (
	killed   outcome = "killed"
	lived    outcome = "lived"
	timedOut outcome = "timed out" // no test failed within the limit; not counted
	invalid  outcome = "invalid"   // it does not compile; not counted
)

// result is a line of the file of results.
type result struct {
	Mutant  string  `json:"mutant"` // its key
	File    string  `json:"file"`
	Line    int     `json:"line"`
	Change  string  `json:"change"`
	Outcome outcome `json:"outcome"`
}

// options are the flags.
type options struct {
	n       int
	seed    uint64
	limit   time.Duration
	results string
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.IntVar(&o.n, "n", 200, "count `N` mutants")
	flags.Uint64Var(&o.seed, "seed", 1, "the `number` that draws them")
	flags.DurationVar(&o.limit, "limit", 90*time.Second, "how long the tests of a mutant may run")
	flags.StringVar(&o.results, "results", "mutants.jsonl", "add the results to this `file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	packages, err := product(ctx, flags.Args())
	if err != nil {
		return err
	}
	mutants, err := draw(packages, o.seed)
	if err != nil {
		return err
	}
	done, err := readResults(o.results)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(o.results, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644) //nolint:gosec // it is for everyone to read
	if err != nil {
		return err
	}
	defer file.Close()
	counts := map[outcome]int{}
	for _, m := range mutants {
		if counts[killed]+counts[lived] >= o.n {
			break
		}
		r, ok := done[m.key]
		if !ok {
			if r, err = try(ctx, m, o.limit); err != nil {
				return err
			}
			if err := json.NewEncoder(file).Encode(r); err != nil {
				return err
			}
		}
		counts[r.Outcome]++
		fmt.Fprintf(out, "%-9s %s:%d %s\n", r.Outcome, m.file, m.line, m.change)
	}
	total := counts[killed] + counts[lived]
	_, err = fmt.Fprintf(out, "\n%d mutants drawn of %d with seed %d: %d killed, %d lived (%.1f %% killed); not counted: %d timed out, %d do not compile\n",
		total, len(mutants), o.seed, counts[killed], counts[lived], 100*float64(counts[killed])/float64(max(total, 1)), counts[timedOut], counts[invalid])
	return err
}

// pkg is a package of the product.
type pkg struct {
	path, dir string
	files     []string
}

// notProduct matches the folders of code that only tests and developers use.
var notProduct = regexp.MustCompile(`test$|/(needs|golden|eval)$|^(scripts|cmd/precedent-eval)\b`)

// product lists the product's packages among those of the patterns, all by default.
func product(ctx context.Context, patterns []string) ([]pkg, error) {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	list, err := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Module"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	var packages []pkg
	for lines := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
			Module          struct{ Path string }
		}
		if err := lines.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		below := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
		if !notProduct.MatchString(below) {
			packages = append(packages, pkg{"./" + below, p.Dir, p.GoFiles})
		}
	}
}

// draw returns all mutants of the packages in the order of the seed.
func draw(packages []pkg, seed uint64) ([]mutant, error) {
	var all []mutant
	for _, p := range packages {
		seen := map[string]int{}
		for _, name := range p.files {
			file := filepath.Join(p.dir, name)
			source, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			of, err := mutantsOf(file, source)
			if err != nil {
				return nil, err
			}
			for _, m := range of {
				m.pkg = p.path
				what := p.path + "\x00" + m.function + "\x00" + m.change
				m.key = key(seed, what, seen[what])
				seen[what]++
				all = append(all, m)
			}
		}
	}
	slices.SortFunc(all, func(a, b mutant) int { return cmp.Compare(a.key, b.key) })
	return all, nil
}

// try runs the tests of the mutant's package.
func try(ctx context.Context, m mutant, limit time.Duration) (result, error) {
	r := result{Mutant: m.key, File: m.pkg + "/" + filepath.Base(m.file), Line: m.line, Change: m.change}
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	changed, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(changed, m.source(), 0o600); err != nil {
		return r, err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{m.file: changed}})
	if err != nil {
		return r, err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return r, err
	}
	binary := filepath.Join(dir, "mutant.test")
	if err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, m.pkg).Run(); err != nil {
		r.Outcome = invalid
		return r, ctx.Err()
	}
	if _, err := os.Stat(binary); err != nil { // the package has no tests
		r.Outcome = lived
		return r, ctx.Err()
	}
	tests, end := context.WithTimeout(ctx, limit)
	defer end()
	cmd := exec.CommandContext(tests, binary, "-test.failfast", "-test.timeout", "0")
	cmd.Dir, cmd.WaitDelay = filepath.Dir(m.file), time.Second
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case tests.Err() != nil:
		r.Outcome = timedOut
	case err != nil:
		r.Outcome = killed
	default:
		r.Outcome = lived
	}
	return r, nil
}

// readResults reads the results of an earlier run, by the keys of their mutants.
func readResults(name string) (map[string]result, error) {
	done := map[string]result{}
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var r result
		if json.Unmarshal(lines.Bytes(), &r) == nil { // the last line may be cut
			done[r.Mutant] = r
		}
	}
	return done, nil
}
