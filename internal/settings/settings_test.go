package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	needs.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestReadDefaults: every default is right, and without a file nothing is missing.
func TestReadDefaults(t *testing.T) {
	s, err := Read(Sources{})
	needs.NoError(t, err)
	if s.Found || s.Engine.Value.Kind != NoEngine || s.Forge.Value != (forge.Address{Kind: forge.GitHub}) ||
		s.Concurrency.Value != 4 ||
		s.MaxCost.Value <= 0 || s.MaxCostPerDay.Value < s.MaxCost.Value || s.MaxCostPull.Value < s.MaxCost.Value ||
		s.MaxTokens.Value < 1 ||
		s.Threshold.Value != nil || s.FailOn.Value != precedent.High || s.Timeout.Value != 10*time.Minute {
		t.Errorf("%+v", s)
	}
	for _, line := range s.List() {
		if line.Source == "" {
			t.Errorf("%s has no source", line.Key)
		}
	}
}

// TestReadSources: a flag beats the environment, which beats the file; each
// value names its source, and what is overridden is not even checked.
func TestReadSources(t *testing.T) {
	path := written(t, "engine: claude\nfail_on: medium\ntimeout: nonsense\nmemory_db: ~/m.db\nmodel: a, b\n")
	env := map[string]string{
		"HOME": "/home/dana", "PRECEDENT_ENGINE": "command:./mine",
		"PRECEDENT_FORGE": "local:forge", "PRECEDENT_CONTEXT": "8000",
	}
	s, err := Read(Sources{File: path, Env: env, Dir: "/work", Flags: map[string]string{
		"timeout": "90s",
		"context": "4000",
	}})
	needs.NoError(t, err)
	if s.Engine.Value != (Engine{Command, "/work/mine"}) ||
		s.Engine.Source != (Source{Environment, "environment PRECEDENT_ENGINE"}) {
		t.Errorf("engine %+v", s.Engine)
	}
	if s.FailOn.Value != precedent.Medium || s.FailOn.Source != (Source{File, "file " + path + ":2"}) {
		t.Errorf("fail_on %+v", s.FailOn)
	}
	if s.Timeout.Value != 90*time.Second || s.Timeout.Source.By != Flag || s.Context.Value != 4000 ||
		s.Context.Text != "4000" {
		t.Errorf("timeout %+v, context %+v", s.Timeout, s.Context)
	}
	if s.MemoryDB.Value != "/home/dana/m.db" || s.Forge.Value != (forge.Address{Kind: forge.Local, At: "/work/forge"}) ||
		strings.Join(s.Model.Value, "|") != "a|b" {
		t.Errorf("memory %+v, forge %+v, model %+v", s.MemoryDB, s.Forge, s.Model)
	}
}

// TestReadWrong: the error names the setting and its source, and has a hint.
func TestReadWrong(t *testing.T) {
	for _, test := range []struct {
		from       Sources
		says, hint string
	}{
		{
			Sources{Flags: map[string]string{"threshold": "101"}},
			`threshold (flag --threshold): "101" is not a percentage`, "docs/configuration.md",
		},
		{
			Sources{Env: map[string]string{"PRECEDENT_CONCURRENCY": "0"}},
			"concurrency (environment PRECEDENT_CONCURRENCY): ", "docs/configuration.md",
		},
		{Sources{File: written(t, "fail_on: awful\n")}, `:1): unknown severity "awful"`, "docs/configuration.md"},
		{Sources{File: written(t, "memory_db: m.db\n")}, `"m.db" is a relative path`, "absolute"},
		{Sources{File: written(t, "engine: command:./x\n")}, `"./x" is a relative path`, "absolute"},
		{
			Sources{Env: map[string]string{"PRECEDENT_EMBEDDINGS_URL": "http://203.0.113.7/v1"}},
			"embeddings.url (environment PRECEDENT_EMBEDDINGS_URL): the URL must use https", "http://localhost:PORT/v1",
		},
		{
			Sources{Env: map[string]string{"PRECEDENT_EMBEDDINGS_URL": "https://me:pass@example.org"}},
			"may contain only a host and a path", "PRECEDENT_EMBEDDINGS_KEY",
		},
		{
			Sources{Env: map[string]string{"PRECEDENT_EMBEDDINGS_URL": "https://example.org/v1?key=pass"}},
			"may contain only a host and a path", "PRECEDENT_EMBEDDINGS_KEY",
		},
		{
			Sources{Env: map[string]string{"PRECEDENT_EMBEDDINGS_URL": "example.org/v1"}},
			"not an http or https URL with a host", "https://HOST/v1",
		},
		{
			Sources{File: written(t, "embeddings: {url: ftp://example.org}\n")},
			"config.yaml:1): not an http or https URL", "https://HOST/v1",
		},
		{
			Sources{File: written(t, "embeddings: {dimensions: many}\n")},
			`"many" is not a number of dimensions from 1 to 16384`, "docs/configuration.md",
		},
		{
			Sources{File: written(t, "embeddings: {key: abc}\n")},
			`unknown key "key" in embeddings`,
			"known keys: url, model, dimensions, timeout",
		},
		{
			Sources{File: written(t, "embeddings: https://example.org\n")},
			"embeddings wants url, model, dimensions, timeout", "write embeddings: {url: VALUE",
		},
		{Sources{File: written(t, "embeddings.url: https://example.org\n")}, `unknown key "embeddings.url"`, "embeddings"},
		{Sources{Flags: map[string]string{"engine": ""}}, `unknown engine ""`, "docs/configuration.md"},
	} {
		_, err := Read(test.from)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), test.says) || !strings.Contains(e.Hint, test.hint) {
			t.Errorf("%v, want %q and the hint %q", err, test.says, test.hint)
		}
	}
}

// TestReadEmbeddings: the file has a mapping, over which the environment has precedence part by
// part. Servers on this machine need no https.
func TestReadEmbeddings(t *testing.T) {
	path := written(t, "fail_on: low\nembeddings:\n  url: https://example.org/v1/embeddings\n  model: m\n  dimensions: "+
		"256\n")
	s, err := Read(Sources{File: path, Env: map[string]string{"PRECEDENT_EMBEDDINGS_MODEL": "other"}})
	needs.NoError(t, err)
	if s.EmbeddingsURL.Value != "https://example.org/v1" || s.EmbeddingsURL.Source.Words != "file "+path+":3" ||
		s.EmbeddingsModel.Value != "other" ||
		s.EmbeddingsDimensions.Value != 256 || s.EmbeddingsTimeout.Value != 20*time.Second {
		t.Errorf("%+v", s)
	}
	for _, url := range []string{"http://localhost:11434/v1", "http://127.0.0.1:8080", "http://[::1]:8080/v1/"} {
		if s, err := Read(Sources{Env: map[string]string{"PRECEDENT_EMBEDDINGS_URL": url}}); err != nil ||
			s.EmbeddingsURL.Value != strings.TrimRight(url, "/") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestReadFinds: without a word of the operator, the environment tells the engine and the forge.
func TestReadFinds(t *testing.T) {
	for _, test := range []struct {
		env                   map[string]string
		engine, by, forge, on string
	}{
		{map[string]string{"OPENAI_API_KEY": "k"}, OpenAI, "OPENAI_API_KEY is set", "github", "default"},
		{
			map[string]string{"OPENAI_BASE_URL": "u", "ANTHROPIC_API_KEY": "k"},
			Anthropic, "ANTHROPIC_API_KEY is set",
			"github", "default",
		},
		{
			map[string]string{"GITHUB_API_URL": "https://h/api/v3"},
			NoEngine, "default", "github:https://h/api/v3",
			"environment GITHUB_API_URL",
		},
		{
			map[string]string{"GITEA_ACTIONS": "true", "GITHUB_API_URL": "x", "GITHUB_SERVER_URL": "https://g"},
			NoEngine, "default", "gitea:https://g", "environment GITEA_ACTIONS",
		},
	} {
		s, err := Read(Sources{Env: test.env})
		needs.NoError(t, err)
		if s.Engine.Text != test.engine || s.Engine.Source.Words != test.by || s.Forge.Text != test.forge ||
			s.Forge.Source.Words != test.on {
			t.Errorf("%v: %+v, %+v", test.env, s.Engine, s.Forge)
		}
	}
}
