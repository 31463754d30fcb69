package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/doctor"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

type pairs = map[string]string

// diagnosed is what precedent doctor says in an environment. No row shows a secret.
func diagnosed(
	t *testing.T, a *app, diagnose func(context.Context) (*doctor.Diagnosis, error),
) *doctor.Diagnosis {
	t.Helper()
	d := needs.Value(diagnose(t.Context()))(t)
	said := fmt.Sprint(d.Checks)
	for name, value := range a.env {
		secret := strings.Contains(name, "KEY") || strings.Contains(name, "TOKEN") || strings.Contains(name, "SECRET")
		if secret && len(value) > 3 && !strings.HasSuffix(name, "_FILE") && strings.Contains(said, value) {
			t.Errorf("%s is shown: %s", name, said)
		}
	}
	return d
}

// wanted is what a row has to say.
type wanted struct {
	state      doctor.State
	says, hint string
}

func ok(says string) wanted          { return wanted{doctor.OK, says, ""} }
func warns(says, hint string) wanted { return wanted{doctor.Warning, says, hint} }
func lacks(says, hint string) wanted { return wanted{doctor.Missing, says, hint} }

// row returns the first row with a name, an empty one if there is none.
func row(d *doctor.Diagnosis, name string) doctor.Check {
	i := slices.IndexFunc(d.Checks, func(c doctor.Check) bool { return c.Name == name })
	if i < 0 {
		return doctor.Check{}
	}
	return d.Checks[i]
}

func (w wanted) compare(t *testing.T, got doctor.Check) {
	t.Helper()
	if got.State != w.state || !strings.Contains(got.Text, w.says) || !strings.Contains(got.Hint, w.hint) {
		t.Errorf("said %+v, want %s, %q and the hint %q", got, w.state, w.says, w.hint)
	}
}

// TestDoctorModels: which engine and embedding model there are, why, and where the code goes; with --try, what they
// answer to one request.
func TestDoctorModels(t *testing.T) {
	claude := t.TempDir()
	program := filepath.Join(claude, "claude")
	writeFile(t, program, "#!/bin/sh\n", 0o755)
	const shortOf = "Could not finish the message because max_tokens or model output limit was reached."
	openAI := func(r llmtest.Reply) pairs {
		at := llmtest.OpenAI(t, func(asked llmtest.Request) llmtest.Reply {
			if asked.MaxTokens != 1 {
				t.Errorf("asked for %d tokens, want one", asked.MaxTokens)
			}
			return r
		}).URL
		return pairs{"OPENAI_API_KEY": "sk-canary-77", "OPENAI_BASE_URL": at, "PRECEDENT_MODEL": "gpt-5"}
	}
	vectors := func(model, timeout string, r llmtest.VectorReply) pairs {
		return pairs{
			"PRECEDENT_EMBEDDINGS_URL": llmtest.Embeddings(t, llmtest.VectorScript(r)).URL, "PRECEDENT_EMBEDDINGS_MODEL": model,
			"PRECEDENT_EMBEDDINGS_TIMEOUT": timeout, "PRECEDENT_EMBEDDINGS_KEY": "vec-canary-9",
		}
	}
	for _, test := range []struct {
		name, row, engine string
		env               pairs
		try               bool
		wanted
	}{
		{"nothing", "engine", "", nil, false, warns("none: only the analyzers run; ANTHROPIC_API_KEY is not set, OPENAI_", "docs/getting-started.md")},
		{"a key", "engine", "", pairs{"ANTHROPIC_API_KEY": "sk-canary"}, false, ok("(ANTHROPIC_API_KEY is set) → api.anthropic.com; ")},
		{"no key", "engine", "openai", nil, false, lacks("OPENAI_API_KEY is not set", "another engine")},
		{"a program", "engine", "command:" + program, nil, false, ok("this program gets the code")},
		{"no Claude Code", "engine", "claude", pairs{"PATH": "/nowhere"}, false, lacks("the program is not in PATH", "npm install")},
		{"Claude Code", "engine", "claude", pairs{"PATH": claude}, false, ok("/claude (flag --engine)")},
		{"untried", "try", "", openAI(llmtest.Reply{Status: 401}), false, wanted{}},
		{"OpenAI answers", "try", "", openAI(llmtest.Reply{Text: "ok"}), true, ok("gpt-5 answered: ")},
		{"the key is wrong", "try", "", openAI(llmtest.Reply{Status: 401, Message: "no such key"}), true, lacks("answered 401", "")},
		{"one token is too little", "try", "", openAI(llmtest.Reply{Status: 400, Message: shortOf}), true, warns("the key was accepted", "")},
		{"embeddings", "embeddings", "", vectors("text-embedding-3-small", "1m", llmtest.VectorReply{}), false, ok("$0.02 per million tokens; ")},
		{"untried embeddings", "try embeddings", "", vectors("m", "1m", llmtest.VectorReply{Status: 401}), false, wanted{}},
		{"vectors", "try embeddings", "", vectors("m", "1m", llmtest.VectorReply{}), true, ok("answered with a vector of 8 dimensions")},
		{"a wrong key for embeddings", "try embeddings", "", vectors("m", "1m", llmtest.VectorReply{Status: 401, Message: "no such key: vec-canary-9"}), true, warns("no such key: [key]", "check the key")},
		{"slow embeddings", "try embeddings", "", vectors("m", "100ms", llmtest.VectorReply{Hold: llmtest.Never}), true, warns("did not answer within 100ms", "embeddings.timeout")},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &app{env: test.env, dir: t.TempDir(), now: time.Now}
			flags := pairs{}
			if test.engine != "" {
				flags["engine"] = test.engine
			}
			d := diagnosed(t, a, func(ctx context.Context) (*doctor.Diagnosis, error) {
				d := doctor.New(hintOf)
				op, err := a.settings(flags)
				if err == nil {
					a.checkEngine(ctx, d, op, test.try)
					a.checkEmbeddings(ctx, d, op, test.try)
				}
				return d, err
			})
			test.compare(t, row(d, test.row))
			if d.Works != (test.state != doctor.Missing) {
				t.Errorf("works: %t", d.Works)
			}
		})
	}
}

// TestDoctorNamesTheForge: which, as whom, and what is left; asked only with a token, and no review depends on it.
func TestDoctorNamesTheForge(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	s.door.api.Budget(4321, forgetest.Epoch.Add(time.Hour))
	ours, bot := s.door.URL+"/octo/app.git", forgetest.Bot.Login
	for _, test := range []struct {
		name, remote string
		env, flags   pairs
		requests     int
		wanted
	}{
		{"a token", ours, nil, nil, 1, ok("(environment GITHUB_API_URL), as " + bot + ", 432")},
		{"a remote elsewhere", "https://example.org/team/app", nil, nil, 1, warns("the clone's remote is on example.org", "--forge gitea:")},
		{"a wrong token", ours, pairs{"GH_TOKEN": "ghp_wrong"}, nil, 1, warns("look up the account of the token", "is in GITHUB_TOKEN or GH_TOKEN")},
		{"no token", ours, pairs{"GH_TOKEN": ""}, nil, 0, wanted{doctor.OK, "it can read public pull requests, but not post", "set GITHUB_TOKEN"}},
		{"a folder that holds no forge", ours, nil, pairs{"forge": "local:" + s.app.dir}, 0, warns("no repo.json", "docs/github.md")},
		{"a folder", "", nil, pairs{"forge": "local:" + folderForge(t)}, 0, ok("forge.localhost (flag --forge), as precedent")},
		{"GitHub", "git@github.com:octo/app.git", pairs{"GITHUB_API_URL": "", "GH_TOKEN": ""}, nil, 0, wanted{doctor.OK, "github.com (default), without a token", "GITHUB_TOKEN"}},
		{"nobody there", "", pairs{"GITEA_TOKEN": forgetest.Secret}, pairs{"forge": "gitea:http://127.0.0.1:1"}, 0, warns("127.0.0.1:1", "network")},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, env := len(s.door.stage.Script.Requests()), s.app.env
			s.app.env = maps.Clone(env)
			maps.Copy(s.app.env, test.env)
			dir := t.TempDir()
			s.git(dir, "init", "-q")
			if test.remote != "" {
				s.git(dir, "remote", "add", "origin", test.remote)
			}
			repo := needs.Value(git.Open(t.Context(), dir, s.app.gitOptions()))(t)
			defer repo.Close()
			d := diagnosed(t, s.app, func(ctx context.Context) (*doctor.Diagnosis, error) {
				d := doctor.New(hintOf)
				op, err := s.app.settings(test.flags)
				if err == nil {
					s.app.checkForge(ctx, d, op, repo)
				}
				return d, err
			})
			s.app.env = env
			test.compare(t, row(d, "forge"))
			if n := len(s.door.stage.Script.Requests()) - before; n != test.requests || !d.Works {
				t.Errorf("%d requests, want %d; works: %t", n, test.requests, d.Works)
			}
		})
	}
}

// serverSays is what precedent doctor --server says.
func (s *prStage) serverSays(t *testing.T, flags pairs) *doctor.Diagnosis {
	t.Helper()
	return diagnosed(t, s.app, func(ctx context.Context) (*doctor.Diagnosis, error) {
		return s.app.diagnoseServer(ctx, flags, false)
	})
}

// TestDoctorServer: what a server lacks is named, and a server that has everything works.
func TestDoctorServer(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	const hook, url = "webhooks", "https://reviews.example.org/webhooks/github"
	short, long := "s3s3s3s3", strings.Repeat("s3", 16)
	type rows = map[string]wanted
	for name, test := range map[string]struct {
		env, flags pairs
		rows       rows
	}{
		"a token": {nil, nil, rows{
			"forge":        ok("as " + forgetest.Bot.Login),
			"repositories": {doctor.OK, "1 that the account may write to", "docs/server.md"},
			"labels":       ok("the first round in a repository creates bot-review-needed, "),
			hook:           {doctor.OK, "none; changes are found within 1m0s", webhookSecret},
			"database":     ok("none yet; the first start creates "),
			"marker key":   ok("none yet"),
		}},
		"no token":      {pairs{"GH_TOKEN": ""}, nil, rows{"forge": lacks("without a token", "set GITHUB_TOKEN or GH_TOKEN")}},
		"a wrong token": {pairs{"GH_TOKEN": "ghp_wrong"}, nil, rows{"forge": lacks("look up the account of the token", "GITHUB_TOKEN")}},
		"elsewhere":     {nil, pairs{"repositories": "example.org/octo/app"}, rows{"repositories": lacks("is not on", "")}},
		"a short old secret": {
			pairs{webhookSecret: long, webhookSecretOld: short, markerKeyVariable + "_FILE": "/nowhere/key", databaseVariable: "mysql://x"},
			nil,
			rows{hook: lacks("fewer than 16 bytes", "openssl"), "secrets": lacks(markerKeyVariable+"_FILE", ""), "database": lacks("postgres://", "")},
		},
		"the old secret only": {
			pairs{webhookSecretOld: long, "HOME": ""},
			nil,
			rows{hook: warns("only "+webhookSecretOld, webhookSecret), "database": lacks("no data folder", "XDG_DATA_HOME")},
		},
		"a secret": {
			pairs{webhookSecret: long, markerKeyVariable: long},
			nil,
			rows{hook: ok(webhookSecret + " is set"), "marker key": ok("from " + markerKeyVariable)},
		},
		"no sandbox": {pairs{"PATH": "/nowhere"}, nil, rows{"sandbox": warns("", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			env := s.app.env
			s.app.env = maps.Clone(env)
			maps.Copy(s.app.env, test.env)
			d := s.serverSays(t, test.flags)
			s.app.env = env
			if name == "no sandbox" && row(d, "sandbox").State == doctor.OK { // Precedent makes its own here
				t.Skip("a sandbox needs no program here")
			}
			for name, want := range test.rows {
				want.compare(t, row(d, name))
				if want.state == doctor.Missing && d.Works {
					t.Error("it works")
				}
			}
			if files, _ := filepath.Glob(filepath.Join(s.home, ".local", "share", "precedent", "*")); len(files) > 0 {
				t.Errorf("it made %q", files)
			}
		})
	}
}

// TestDoctorServerChangesNothing: the database of a server is looked at without making or upgrading
// its tables, on both engines.
func TestDoctorServerChangesNothing(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgresql"} {
		t.Run(engine, func(t *testing.T) {
			s := newPRStage(t)
			if engine == "postgresql" {
				s.app.env[databaseVariable] = needs.PostgreSQL(t)
			} else {
				writeFile(t, filepath.Join(s.app.workflow().DataDir, "server.db"), "", 0o600)
			}
			says := func(name, words string) {
				t.Helper()
				if got := row(s.serverSays(t, nil), name); !strings.Contains(got.Text, words) {
					t.Errorf("%+v", got)
				}
			}
			for range 2 { // the second look finds what the first one left
				says("database", "empty; the first start makes its tables")
			}
			db := needs.Value(s.app.workflow().OpenInstallation(t.Context(), s.app.env[databaseVariable]))(t)
			defer db.Close()
			says("database", "undamaged")
			says("marker key", "none yet")
			if _, err := db.KeepValue(t.Context(), markerKeyName, strings.Repeat("k3", 16)); err != nil {
				t.Fatal(err)
			}
			says("marker key", "in the database")
		})
	}
}
