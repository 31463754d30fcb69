package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent/internal/forge"
)

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	needs.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestReadSources: a flag beats the environment, which beats the file, as the story of config shows; what is overridden
// is not even checked, and relative paths of the environment begin in the working folder.
func TestReadSources(t *testing.T) {
	s, err := Read(Sources{
		File: written(t, "engine: claude\ntimeout: nonsense\nmodel: a, b\n"), Dir: "/work", Flags: map[string]string{"timeout": "90s"},
		Env: map[string]string{"PRECEDENT_ENGINE": "command:./mine", "PRECEDENT_FORGE": "local:forge"},
	})
	needs.NoError(t, err)
	if s.Engine.Value != (Engine{Command, "/work/mine"}) || s.Timeout.Value != 90*time.Second ||
		s.Forge.Value != (forge.Address{Kind: forge.Local, At: "/work/forge"}) || strings.Join(s.Model.Value, "|") != "a|b" {
		t.Errorf("engine %+v, timeout %+v, forge %+v, model %+v", s.Engine, s.Timeout, s.Forge, s.Model)
	}
}

// TestReadWrong: the error names the setting and its source, and has a hint.
func TestReadWrong(t *testing.T) {
	embeddings := func(url string) Sources {
		return Sources{Env: map[string]string{"PRECEDENT_EMBEDDINGS_URL": url}}
	}
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
		{Sources{File: written(t, "engine: command:./x\n")}, `"./x" is a relative path`, "absolute"},
		{embeddings("http://203.0.113.7/v1"), "the URL must use https", "http://localhost:PORT/v1"},
		{embeddings("https://me:pass@example.org"), "may contain only a host and a path", "PRECEDENT_EMBEDDINGS_KEY"},
		{embeddings("https://example.org/v1?key=pass"), "may contain only a host and a path", "PRECEDENT_EMBEDDINGS_KEY"},
		{embeddings("example.org/v1"), "not an http or https URL with a host", "https://HOST/v1"},
		{Sources{File: written(t, "embeddings: {key: abc}\n")}, `unknown key "key" in embeddings`, "known keys: url, model"},
		{Sources{File: written(t, "embeddings: https://example.org\n")}, "embeddings wants url", "write embeddings: {"},
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
			Anthropic, "ANTHROPIC_API_KEY is set", "github", "default",
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
