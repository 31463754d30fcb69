package secret

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestOrdinaryCodeIsShown: what is redacted without need is not reviewed. Of the lines of
// this repository and of Go's standard library, at most 0.5 % are.
func TestOrdinaryCodeIsShown(t *testing.T) {
	patterns := []string{"../*/*.go", "../../cmd/*/*.go", "../../docs/*.md", "../../docs/decisions/*.md", "../../scripts/*", "../../*.md", "../../*.go"}
	for _, dir := range []string{"encoding/xml", "text/template", "net/url", "encoding/json", "go/parser", "go/types", "regexp/syntax"} {
		patterns = append(patterns, filepath.Join(runtime.GOROOT(), "src", filepath.FromSlash(dir), "*.go"))
	}
	lines, hidden := 0, 0
	for _, pattern := range patterns {
		names := needs.Value(filepath.Glob(pattern))(t)
		for i, name := range names {
			data, err := os.ReadFile(name)
			if err != nil || i%needs.Rounds(1, 2) != 0 {
				continue // a folder
			}
			clean := strings.Split(string(RedactFile(filepath.ToSlash(name), data)), "\n")
			for i, line := range strings.Split(string(data), "\n") {
				lines++
				if line != clean[i] {
					hidden++
					if testing.Verbose() {
						t.Logf("%s:%d: %s\n\t%s", name, i+1, line, clean[i])
					}
				}
			}
		}
	}
	t.Logf("%d of %d lines are redacted", hidden, lines)
	if lines < 50_000 || hidden*200 > lines {
		t.Errorf("%d of %d lines are redacted", hidden, lines)
	}
}

// TestImportsOfHooks: a path with a folder of hooks is the address of a webhook only if an id of that form follows.
func TestImportsOfHooks(t *testing.T) {
	for _, line := range []string{
		`import { useProviderModelSelection } from "@/hooks/useProviderModelSelection"`,
		`vi.mock("@/hooks/useprovidermodelselection", () => ({}))`,
		`import useLocalStorageState from "../hooks/use-local-storage-state/index"`,
	} {
		if got := string(RedactFile("src/a.tsx", []byte(line))); got != line {
			t.Errorf("%s became %s", line, got)
		}
	}
}

// TestTranslations: in a catalogue of messages, a sentence about a password and the name of the next member are no
// credentials.
func TestTranslations(t *testing.T) {
	for _, line := range []string{
		`"password": "Hasło1 musi zawierać co najmniej 8 znaków",`,
		`"passwordRule": "Almeno8caratteri e un numero",`,
		`"token": { "token_2fa": { "title": "x" } },`,
		`"auth": {"authLogin2Title": {"text": "x"}},`,
		`"passwords": {"newPassword2Repeat" : "x"},`,
	} {
		if got, n := Redact("src/locales/pl.json", line); n != 0 {
			t.Errorf("%s became %s", line, got)
		}
	}
	value := "q8Zt!4mW" + "xP2v"
	for _, line := range []string{`{"password": {"value": "` + value + `"}}`, `"password": "` + value + `",`} {
		if got, _ := Redact("src/locales/pl.json", line); strings.Contains(got, value) {
			t.Errorf("%s is shown", got)
		}
	}
}
