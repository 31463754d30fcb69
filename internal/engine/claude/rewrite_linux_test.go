package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// edits are what the test binary, as the engine's program, changes about the
// command before it becomes the real CLI: how a test takes a defence away.
type edits struct {
	Program string
	Drop    []string          // flags, with their values
	Set     map[string]string // flags' values
	Unset   []string          // variables
	Dir     string            // working directory; empty for the engine's
}

// editsVariable holds them as JSON.
const editsVariable = "PRECEDENT_TEST_EDITS"

func rewrite() int {
	var e edits
	if err := json.Unmarshal([]byte(os.Getenv(editsVariable)), &e); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	args := []string{e.Program}
	for given := os.Args[1:]; len(given) > 0; {
		flag := given[0]
		given = given[1:]
		var value []string
		if len(given) > 0 && !strings.HasPrefix(given[0], "--") {
			value, given = given[:1], given[1:]
		}
		if set, ok := e.Set[flag]; ok {
			value = []string{set}
		}
		if !slices.Contains(e.Drop, flag) {
			args = append(append(args, flag), value...)
		}
	}
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == part || name == editsVariable || slices.Contains(e.Unset, name)
	})
	if e.Dir != "" {
		if err := os.Chdir(e.Dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	fmt.Fprintln(os.Stderr, syscall.Exec(e.Program, args, env))
	return 2
}
