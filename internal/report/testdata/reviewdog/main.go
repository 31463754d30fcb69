// Command reviewdog reads rdjson, or with an argument another format, on
// standard input with reviewdog's own parser and prints the diagnostics as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/reviewdog/reviewdog/parser"
	"github.com/reviewdog/reviewdog/proto/rdf"
	"google.golang.org/protobuf/encoding/protojson"
)

func main() {
	format := "rdjson"
	if len(os.Args) > 1 {
		format = os.Args[1]
	}
	if err := run(format); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(format string) error {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	// The parser overlooks fields that it does not know. We may write none.
	if format == "rdjson" {
		if err := protojson.Unmarshal(in, new(rdf.DiagnosticResult)); err != nil {
			return err
		}
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
