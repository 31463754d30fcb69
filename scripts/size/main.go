// Size prints what compiling the program from nothing costs, in seconds of processor time and in
// bytes of the program by module, and fails above the bounds.
//
//	go run ./scripts/size
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// The bounds, on a computer of 2024 with two cores.
const (
	mostSeconds = 240
	// Of the program without symbols. If anything in it calls methods by name, as text/template does when it is executed,
	// the linker keeps all exported methods of all types; go build -ldflags=-dumpdep prints ReflectMethod there.
	mostBytes = 39_000_000
)

const program = "./cmd/precedent"

// shown is how many modules are listed; the others are one line.
const shown = 20

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

// cost is what a module costs.
type cost struct {
	spent time.Duration // processor time
	bytes int64
}

func run(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "precedent-size-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env := []string{"GOCACHE=" + filepath.Join(dir, "cache"), "CGO_ENABLED=0"}
	moduleOf, err := modules(ctx, env)
	if err != nil {
		return err
	}
	graph, bare, whole := filepath.Join(dir, "graph.json"), filepath.Join(dir, "bare"), filepath.Join(dir, "whole")
	if _, err := golang(ctx, env, "build", "-trimpath", "-ldflags", "-s -w", "-debug-actiongraph", graph, "-o", bare,
		program); err != nil {
		return err
	}
	if _, err := golang(ctx, env, "build", "-trimpath", "-o", whole, program); err != nil {
		return err
	}
	data, err := os.ReadFile(graph)
	if err != nil {
		return err
	}
	costs := map[string]cost{}
	if err := addSeconds(costs, moduleOf, data); err != nil {
		return err
	}
	symbols, err := golang(ctx, env, "tool", "nm", "-size", whole)
	if err != nil {
		return err
	}
	addBytes(costs, moduleOf, symbols)
	file, err := os.Stat(bare)
	if err != nil {
		return err
	}
	return report(out, costs, file.Size())
}

// golang runs the go command with more variables in its environment.
func golang(ctx context.Context, env []string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Env, c.Stderr = append(c.Environ(), env...), os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return out, nil
}

// modules returns the module of each package of the program.
func modules(ctx context.Context, env []string) (map[string]string, error) {
	list, err := golang(ctx, env, "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", program)
	if err != nil {
		return nil, err
	}
	of := map[string]string{"main": "the program itself"}
	for line := range strings.Lines(string(list)) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		of[path] = cmp.Or(module, "standard library")
	}
	return of, nil
}

// addSeconds adds the processor time of the actions of a build.
func addSeconds(costs map[string]cost, moduleOf map[string]string, graph []byte) error {
	var actions []struct {
		Mode, Package   string
		CmdUser, CmdSys time.Duration
	}
	if err := json.Unmarshal(graph, &actions); err != nil {
		return fmt.Errorf("read the action graph: %w", err)
	}
	for _, a := range actions {
		module := cmp.Or(moduleOf[a.Package], "other")
		if a.Mode == "link" {
			module = "linking"
		}
		c := costs[module]
		c.spent += a.CmdUser + a.CmdSys
		costs[module] = c
	}
	return nil
}

// zeroMemory is 32 MB that are not in the file, although nm calls them data.
const zeroMemory = "crypto/internal/fips140/drbg.memory"

// addBytes adds the sizes of the symbols that the program's file contains.
func addBytes(costs map[string]cost, moduleOf map[string]string, symbols []byte) {
	for line := range strings.Lines(string(symbols)) {
		f := strings.Fields(line) // address, size, type, name
		if len(f) < 4 || strings.EqualFold(f[2], "b") || f[3] == zeroMemory {
			continue
		}
		size, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			continue
		}
		module := cmp.Or(moduleOf[packageOf(f[3])], "other")
		c := costs[module]
		c.bytes += size
		costs[module] = c
	}
}

// packageOf returns the import path in a symbol's name.
func packageOf(symbol string) string {
	symbol, _, _ = strings.Cut(symbol, "[") // type arguments have paths, too
	from := strings.LastIndexByte(symbol, '/') + 1
	last, _, _ := strings.Cut(symbol[from:], ".")
	return symbol[:from] + strings.ReplaceAll(last, "%2e", ".")
}

// report prints the modules, most seconds first, and returns which bound is exceeded.
func report(out io.Writer, costs map[string]cost, size int64) error {
	names := make([]string, 0, len(costs))
	var sum, rest cost
	for name, c := range costs {
		names = append(names, name)
		sum.spent += c.spent
		sum.bytes += c.bytes
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(costs[b].spent, costs[a].spent), cmp.Compare(costs[b].bytes, costs[a].bytes),
			cmp.Compare(a, b))
	})
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name string, c cost) {
		fmt.Fprintf(w, "%.1f s\t%.2f MB\t  %s\n", c.spent.Seconds(), float64(c.bytes)/1e6, name)
	}
	for i, name := range names {
		if i < shown {
			line(name, costs[name])
			continue
		}
		rest.spent += costs[name].spent
		rest.bytes += costs[name].bytes
	}
	if len(names) > shown {
		line(fmt.Sprintf("%d more", len(names)-shown), rest)
	}
	line("in all", sum)
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%.0f s of processor time (at most %d), %.1f MB without symbols (at most %.0f)\n",
		sum.spent.Seconds(), mostSeconds, float64(size)/1e6, mostBytes/1e6)
	if sum.spent > mostSeconds*time.Second || size > mostBytes {
		return fmt.Errorf("the program is larger than its bounds")
	}
	return nil
}
