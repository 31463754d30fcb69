// Command reviewdog reads a format on standard input with reviewdog's own parser and prints the diagnostics as
// JSON.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/reviewdog/reviewdog/parser"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(format string) error {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	p, err := parser.New(&parser.Option{FormatName: format})
	if err != nil {
		return err
	}
	found, err := p.Parse(strings.NewReader(string(in)))
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}
