package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// command finds an invocation of the program in a document.
var invocation = regexp.MustCompile(`(?m)(?:^|[` + "`" + `$ ])precedent ((?:[a-z-]+)(?: [^` + "`" + `#\n]*)?)`)

// inCode finds the blocks and spans of code in a Markdown text.
var inCode = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]+`")

// TestDocumentsNameCommandsThatExist keeps commands and flags in the documents true, and in blocks the arguments.
func TestDocumentsNameCommandsThatExist(t *testing.T) {
	top := filepath.Join("..", "..")
	docs, err := filepath.Glob(filepath.Join(top, "*.md"))
	needs.NoError(t, err)
	err = filepath.WalkDir(filepath.Join(top, "docs"), func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".md") {
			docs = append(docs, name)
		}
		return err
	})
	needs.NoError(t, err)
	root := (&app{}).root()
	found := 0
	for _, doc := range docs {
		code := strings.Join(inCode.FindAllString(read(t, doc), -1), "\n")
		for _, words := range commandsIn(code) {
			if _, err := taken(words); err != nil && filepath.Base(doc) != "commands.md" { // made from the commands
				t.Errorf("%s: %q: %v", filepath.Base(doc), words, err)
			}
		}
		for _, m := range invocation.FindAllStringSubmatch(code, -1) {
			words := strings.Fields(m[1])
			cmd, _, err := root.Find(words)
			if err != nil || cmd == root {
				t.Errorf("%s names precedent %s, which is not a command", filepath.Base(doc), m[1])
				continue
			}
			found++
			for _, w := range words {
				name, _, _ := strings.Cut(strings.TrimPrefix(w, "--"), "=")
				if len(w) > 2 && strings.HasPrefix(w, "--") && cmd.Flag(name) == nil {
					t.Errorf("%s names precedent %s, which has no flag --%s", filepath.Base(doc), m[1], name)
				}
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d commands were found in the documents", found)
	}
}

// serverName are the metrics and variables that a document names.
var serverName = regexp.MustCompile(`\b(precedent_[a-z_]+|(?:PRECEDENT|GITHUB|GITEA|ANTHROPIC|OPENAI|DATABASE|POSTGRES)_[A-Z_]+)\b`)

// TestServerDocuments: every metric and variable that the documents, the unit and the compose file
// of a server name exists in the sources, every metric is described, and each secret has a file that is made.
func TestServerDocuments(t *testing.T) {
	top := filepath.Join("..", "..")
	var sources strings.Builder
	for _, pattern := range []string{"cmd/precedent/*.go", "internal/server/*.go", "internal/settings/*.go"} {
		files := needs.Value(filepath.Glob(filepath.Join(top, pattern)))(t)
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				sources.WriteString(read(t, file))
			}
		}
	}
	var all strings.Builder
	for _, doc := range []string{"docs/server.md", "docs/operation.md", "contrib/systemd/precedent.service", "compose.yaml"} {
		all.WriteString(read(t, filepath.Join(top, doc)))
	}
	for _, m := range serverName.FindAllString(all.String(), -1) {
		name := strings.TrimSuffix(m, "_FILE")
		if metric, ok := strings.CutPrefix(name, "precedent_"); ok {
			name = metric
		}
		if !strings.HasPrefix(name, "POSTGRES_") && !strings.Contains(sources.String(), name) { // those are PostgreSQL's own
			t.Errorf("the documents name %s, which does not exist", m)
		}
	}
	services, declared, _ := strings.Cut(read(t, filepath.Join(top, "compose.yaml")), "\nsecrets:\n")
	for _, use := range regexp.MustCompile(`/run/secrets/([a-z_]+)`).FindAllStringSubmatch(services, -1) {
		if !strings.Contains(declared, use[1]+": {file: ./secrets/") || !strings.Contains(services, "> secrets/"+use[1]+"\n") {
			t.Errorf("compose.yaml has no file for %s, or nothing makes it", use[1])
		}
	}
	metrics := regexp.MustCompile(`(?:"precedent_|counter\(")([a-z_]+)"`).FindAllStringSubmatch(sources.String(), -1)
	for _, m := range metrics {
		if !strings.Contains(all.String(), "precedent_"+m[1]+"`") {
			t.Errorf("docs/operation.md does not describe precedent_%s", m[1])
		}
	}
	if len(metrics) < 10 {
		t.Errorf("only %d metrics were found", len(metrics))
	}
}

func read(t testing.TB, name string) string {
	t.Helper()
	text := needs.Value(os.ReadFile(name))(t)
	return string(text)
}
