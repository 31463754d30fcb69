package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/settings"
)

// described is what the reference says of a setting beyond what the program
// knows: the values that it takes, with one that is good and one that is not.
type described struct{ values, good, bad string }

var describedSettings = map[string]described{
	"engine":                    {"`anthropic`, `openai`, `claude`, `command:PATH`, `none`", "command:/usr/local/bin/my-model", "gpt"},
	"model":                     {"names, separated by commas", "claude-sonnet-5-5,claude-haiku-4-5", ""},
	"context":                   {"4,000 to 10,000,000 tokens", "32000", "3999"},
	"concurrency":               {"1 to 64 requests", "2", "65"},
	"max_cost":                  {"dollars above 0", "0.50", "0"},
	"max_tokens":                {"from 1", "500000", "0"},
	"max_cost_per_day":          {"dollars above 0", "20", "nothing"},
	"max_cost_per_pull_request": {"dollars above 0", "5", "-1"},
	"forge":                     {"`github`, `github:https://HOST/api/v3`, `gitea:https://HOST`, `local:DIR`", "gitea:https://git.example.org", "gitlab"},
	"memory_db":                 {"a file; `~/` is your home folder", "~/precedent.db", ""},
	"transcripts":               {"a folder; `~/` is your home folder", "~/transcripts", ""},
	"memory_ref":                {"the full name of a ref", "refs/heads/precedent-memory", ""},
	"repo":                      {"`host/owner/name`", "example.org/team/app", "app"},
	"consolidation":             {"auto or off", "off", ""},
	"learnings":                 {"`true`, `false`", "false", "maybe"},
	"precedents":                {"`true`, `false`", "false", "maybe"},
	"embeddings.url":            {"a URL: https, or http on this machine", "https://api.openai.com/v1", "http://example.org/v1"},
	"embeddings.model":          {"a name", "text-embedding-3-small", ""},
	"embeddings.dimensions":     {"1 to 16,384", "512", "0"},
	"embeddings.timeout":        {"a duration above 0", "5s", "5"},
	"trusted_branch":            {"a branch or another revision", "origin/develop", ""},
	"threshold":                 {"0 to 100 percent", "60", "101"},
	"max_inline":                {"from 1", "10", "0"},
	"deep":                      {"`true`, `false`", "true", "maybe"},
	"fail_on":                   {"`critical`, `high`, `medium`, `low`, `nit`", "medium", "severe"},
	"timeout":                   {"a duration above 0", "90s", "10"},
	"repositories":              {"`host/owner/name`, separated by commas, or a list", "github.com/team/app", "app"},
	"owners":                    {"names, separated by commas, or a list", "team", ""},
	"listen":                    {"`HOST:PORT`, `off`", "0.0.0.0:8787", "8787"},
	"webhook_url":               {"a URL", "https://reviews.example.org/webhooks/github", ""},
	"dashboard_url":             {"`https://HOST`; http on this machine only", "https://reviews.example.org", "http://reviews.example.org"},
	"operators":                 {"logins, separated by commas, or a list", "carol,dave", ""},
	"interval":                  {"a duration from 10s", "2m", "1s"},
	"jobs":                      {"2 to 64", "8", "1"},
	"fixes":                     {"`true`, `false`", "false", "maybe"},
	"gates":                     {"`true`, `false`", "false", "maybe"},
	"reviews":                   {"`open`, `ready`, `push`, `request`, `command`, `label`, `drafts`, separated by commas, or a list; `none`", "open,push,command", "merge"},
	"run_local":                 {"`true`, `false`", "true", "maybe"},
	"log_format":                {"`text`, `json`", "json", "xml"},
}

var describedPolicy = []struct {
	key, values, fallback, good, bad, does string
}{
	{"threshold", "0 to 100 percent", "75", "80", "101", "Findings with a lower confidence are counted but not shown. The operator's setting has precedence. If neither sets it, it is tuned by what became of earlier findings."},
	{"max_inline_comments", "1 to 100", "20", "10", "0", "How many findings are shown in full."},
	{"focus_areas", "a list of categories", "none", "[security, data-loss]", "[speed]", "Findings of these categories gain confidence."},
	{"ignore", "a list of globs", "none", `["third_party/**"]`, `["**"]`, "Findings in these files are not shown."},
	{"finders", "names with true or false", "see [finders.md](finders.md)", "{style: false}", "{nobody: false}", "Turns finders and analyzers on or off by name."},
	{"instructions", "a list of `paths` and `text`", "none", `[{paths: "migrations/**", text: Every migration must be reversible.}]`, "[{paths: a}]", "Instructions for the finders, for the given paths."},
	{"severity_floors", "a list of `paths` and `severity`", "none", `[{paths: "examples/**", severity: high}]`, "[{paths: a, severity: bad}]", "Findings below this severity are not shown in these files, except those about security, secrets, data loss, crashes and races."},
	{"maintainers", "a list of logins", "none", "[mona, j.doe]", "[@mona]", "Whose replies and reactions count where the forge does not tell who has write permission, see [gitea.md](gitea.md#who-is-heard). What it does tell counts more."},
	{"linters", "a list of built-in names, see above", "none", "[ruff, shellcheck]", "[a b]", "Runs these linters on the change, in the sandbox, if they are installed."},
	{"minor", "`fold`, `show` or `off`", "fold", "off", "hide", "How findings are shown that are likely true but that most teams would not change code for: those of severity nit, those of severity low that break no rule of the team and that the verifier does not want changed before the merge, and those that it would leave. In a list of their own, which a comment folds; like all others; or not at all, which saves verifying them."},
	{"include_positive_feedback", "true or false", "true", "false", "maybe", "Whether a review may have one positive remark."},
	{"request_changes", "true or false", "false", "true", "maybe", "Whether a posted review requests changes if it has a finding at or above `--fail-on`. It never approves."},
	{"pass_without_model", "true or false", "false", "true", "maybe", "Whether the check can succeed although no model read the change. Otherwise it is neutral, or a failure if a finding is at or above `--fail-on`."},
	{"learnings", "`enabled`, `scope`, `max_age_days` and `capture`", "enabled", "{scope: global, max_age_days: 365}", "{scope: everywhere}", "What reviews use of what people taught, see [memory.md](memory.md): nothing (`enabled: false`); with `scope: global` also what other repositories of the owner share; nothing older than `max_age_days`, 1 to 3650. Nothing is deleted. `capture` says what becomes of the reason of a dismissal on a pull request, which nobody asked to remember: with `auto`, that of an administrator, or of somebody in `maintainers`, becomes an active exception, that of anybody else a pending one; with `ask`, all are pending; with `off`, none is stored. Nor is what people with write permission say in passing about how the project does things, which is pending otherwise."},
	{"precedents", "`quiet`, `full`, `anonymous` or `off`", "quiet", "anonymous", "loud", "How comments cite what people wrote in earlier reviews: with number, author and link, but without notifying anybody or linking back (`quiet`); as live references, which notify the author (`full`); without the author (`anonymous`); or not at all, and nothing is searched (`off`)."},
	{"fix", "`enabled`, `lock_files`, `ungated`, `max_files`, `max_lines`, `max_cycles` and `ci_timeout`", "20 files, 500 lines, 5 cycles, 10m", "{lock_files: true, max_lines: 200}", "{max_lines: 501}", "What a fix round may change and when it may push, see [fix.md](fix.md). The numbers of files and lines can only be lowered; there may be 1 to 20 cycles, and checks may take 1m to 6h ([labels.md](labels.md)); `lock_files: true` allows lock files; `ungated: true` pushes also what no gate has built and tested; `enabled: false` allows no fixes."},
	{"gate", "`enabled`, `commands`, `dependencies`, `timeout` and `flaky`", "commands of the documents", "{commands: [{name: test, run: go test ./...}], timeout: 5m}", "{commands: [go test]}", "What a server builds and tests in the sandbox before it reviews a pull request, see [gate.md](gate.md): `commands` is a list of `name` and `run`; `dependencies` are those that the base's lock files list (`base`), the change's (`head`), or none (`off`); `timeout` is the time limit of one command, at most 1h; a flaky command does not block (`flaky: allow`), or does (`fail`). `enabled: false` runs nothing."},
	{"reviews", "`on` and `drafts`", "label, request, command", "{on: [label, push]}", "{on: push}", "When a server reviews a pull request, see [labels.md](labels.md): `on` lists `open`, `ready`, `push`, `request`, `command` and `label`; `drafts: true` also reviews drafts when they are opened and pushed to."},
	{"labels", "`review_needed`, `changes_needed`, `ci_pending`, `human_review` and `human_intervention`", "[labels.md](labels.md)", "{review_needed: please review}", "{review_needed: bot-ci-pending}", "The labels of the cycle of reviews and fixes on a server: five different names."},
	{"language", "a language tag", "en", "pt-BR", "Klingon language", "The language of the findings."},
}

// otherVariables are those of the environment that are no setting of a review.
var otherVariables = []struct{ names, does string }{
	{"`ANTHROPIC_API_KEY` `OPENAI_API_KEY`", "the API key for the model; it also selects the engine, if none is set"},
	{"`ANTHROPIC_BASE_URL` `OPENAI_BASE_URL`", "the URL of a compatible server or of a proxy, instead of the provider's"},
	{"`PRECEDENT_EMBEDDINGS_KEY`", "the API key for the server of `embeddings`, which gets no other key"},
	{"`GITHUB_TOKEN` `GH_TOKEN` `GITEA_TOKEN`", "the tokens that `precedent pr` and `precedent outcomes` use for GitHub, and for Gitea or Forgejo; engines and linters do not get them"},
	{"`PRECEDENT_GITHUB_APP_ID` `PRECEDENT_GITHUB_APP_KEY`", "the ID of a GitHub App and the file with its private key, instead of a token"},
	{"`PRECEDENT_MARKER_KEY`", "signs the hidden markers in posted comments, at least 16 characters; without it, the key of an App is used"},
	{"`DATABASE_URL`", "for `precedent serve` and the commands about a server: a PostgreSQL database, `postgres://user:password@host/name`, instead of a file in the data folder"},
	{"`PRECEDENT_WEBHOOK_SECRET` `PRECEDENT_WEBHOOK_SECRET_OLD`", "for `precedent serve`: the secret of the webhook, and the one before while it is replaced; without one there are no webhooks"},
	{"`PRECEDENT_OAUTH_CLIENT_ID`, `PRECEDENT_OAUTH_CLIENT_SECRET`", "for `precedent serve`: the OAuth application of the forge through which people sign in to its pages"},
	{"`PRECEDENT_READER_TOKEN`", "for `precedent serve`: who has it may read all of its pages; at least 16 characters"},
	{"`PRECEDENT_SERVER_TOKEN`", "for `precedent serve`: opens `/metrics` and the details of `/readyz` to other machines, as `Authorization: Bearer`"},
	{"`GITHUB_TOKEN_FILE` `DATABASE_URL_FILE` …", "for `precedent serve`: each secret can be in the only line of a file, which `NAME_FILE` names"},
	{"`GITHUB_API_URL`", "the URL of GitHub Enterprise, if no `forge` is set"},
	{"`GITHUB_EVENT_PATH` `GITHUB_EVENT_NAME`", "in a workflow: the event; its pull request is used if none is given"},
	{"`GITHUB_ACTIONS` `GITHUB_REF` `GITLAB_CI` `CI_COMMIT_BRANCH` `CI_DEFAULT_BRANCH`", "in CI: whether `precedent memory sync` writes, or only reads"},
	{"`CI`", "look for patterns in the memory before the command ends, because no process outlives the job; `false` means no. `precedent memory sync` only reads there, unless it knows that the job is of the default branch"},
	{"`GITEA_ACTIONS` `GITHUB_SERVER_URL`", "in a workflow on Gitea or Forgejo: show that it is one, and the URL of the forge"},
	{"`HTTPS_PROXY` `HTTP_PROXY` `NO_PROXY`", "the proxy for requests to the forge, for git and for the packages of a gate, also in lower case"},
	{"`ACTIONS_RUNTIME_TOKEN` `ACTIONS_ID_TOKEN_REQUEST_TOKEN` and the tokens of other forges and registries", "read only to keep them out of what is posted; engines and linters do not get them"},
	{"`SSL_CERT_FILE`", "a PEM file with the trusted certificate authorities for fetching pull requests, instead of the system's"},
	{"`PRECEDENT_SKIP_HOOK`", "if not empty, the hook of `precedent install-hook` does not review"},
	{"`NO_COLOR` `TERM`", "no colours, if `NO_COLOR` is not empty or `TERM` is `dumb`"},
	{"`XDG_CONFIG_HOME` `XDG_DATA_HOME` `HOME`", "where the configuration file and memories without a work tree are; git also looks for its configuration there"},
	{"`TMPDIR`", "where temporary folders are created"},
	{"`PATH`", "where git, go and the engine's program are found; relative entries are ignored"},
	{"`GOGC`", "for `precedent serve`: how much memory may grow between two collections, in percent; the default is 50"},
	{"`GOPROXY`", "for `precedent serve`: the first server in it is where a gate gets Go modules, if its address begins with https://; the default is https://proxy.golang.org"},
	{"`NPM_CONFIG_REGISTRY` `PIP_INDEX_URL` `CARGO_REGISTRIES_CRATES_IO_INDEX`", "for `precedent serve`: where a gate gets packages of npm, pnpm and yarn, wheels and crates; addresses that begin with https://, and `off` for none; the defaults are https://registry.npmjs.org, https://pypi.org/simple and https://index.crates.io"},
	{"`GOMODCACHE` `GOPATH` `XDG_CACHE_HOME`", "where the Go analyzers find modules; commits of pull requests are stored in the last one, or in `~/.cache`"},
	{"`GIT_INDEX_FILE`", "the index of a commit that is being created, for `precedent review --staged` in a git hook"},
	{"`GIT_NO_LAZY_FETCH`", "if set, a review of a local change in a partial clone does not fetch the files that the clone lacks"},
	{"`SSH_AUTH_SOCK`", "the ssh agent for that fetch; engines and linters do not get it"},
	{"`USER`", "the name stored with a dismissal, if git has none"},
}

// TestReferenceOfSettings: docs/configuration.md says what the settings are.
func TestReferenceOfSettings(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Configuration\n\n")
	fmt.Fprintf(&b, madeBy, "settings")
	b.WriteString("There are two kinds of configuration. The *operator*, who runs the program, sets engines, keys, programs, files and costs. The\n*repository* " +
		"has a policy for its own reviews. It is an allow-list: nothing in it can name a program, an address or a file to write.\n\n" +
		"`precedent config` prints every current value and where it comes from; `precedent doctor` checks whether it works.\n\n" +
		"## The operator's settings\n\nFlags take precedence over the environment, the environment over the configuration file, and the file over the defaults. " +
		"For\n`threshold` and `max_inline`, the order is: the operator's flag or variable, the repository's policy, the default.\nIf neither sets `threshold`, what became of at least 22 posted findings tunes it ([decision 41](decisions/0041-threshold-and-calibration.md)).\n\n" +
		"The file is `$XDG_CONFIG_HOME/precedent/config.yaml`, or `~/.config/precedent/config.yaml`: one `key: value` per\nline. An unknown key is an error, reported with its line. " +
		"API keys are read from the environment only, never from a file.\n\n" +
		"| key | flag | environment | file | values | default | what it does |\n|---|---|---|---|---|---|---|\n")
	defaults := defaultsOf(t)
	for _, k := range settings.All {
		d, ok := describedSettings[k.Key]
		if !ok {
			t.Errorf("the reference does not know the setting %s", k.Key)
		}
		checkDescribed(t, k, d)
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", k.Key, code("--", k.Flag), code("", k.Env), tick(k.InFile), d.values, defaults[k.Key], plainUsage(k))
	}
	if len(describedSettings) != len(settings.All) {
		t.Errorf("the reference describes %d settings, and there are %d", len(describedSettings), len(settings.All))
	}
	b.WriteString("\nFor example:\n\n```yaml\n# ~/.config/precedent/config.yaml\n")
	b.WriteString(settingsExample() + tablesExample + "```\n\n`prices` and `linters` have no flags. `prices` is a table of model prices, in dollars per million tokens, by the beginning of their\n" +
		"names, and takes precedence over the providers' list prices. `linters` are programs that run on the change in the sandbox\n([linters.md](linters.md)): " +
		"built-in ones by their name (" + strings.Join(lint.PresetNames(), ", ") + "), others with\ntheir command. A policy can name only built-in ones.\n\n## Other variables\n\n| variable | what it does |\n|---|---|\n")
	for _, v := range otherVariables {
		fmt.Fprintf(&b, "| %s | %s |\n", v.names, v.does)
	}
	policyReference(&b)
	golden.Compare(t, "../../docs/configuration.md", b.String())
	everyVariable(t, b.String())
	path := filepath.Join(t.TempDir(), "config.yaml")
	writeFile(t, path, settingsExample()+tablesExample, 0o600)
	if _, err := settings.Read(settings.Sources{File: path, Env: map[string]string{"HOME": "/home/dana"}}); err != nil {
		t.Errorf("the example is not a configuration file: %v", err)
	}
}

const (
	tablesExample = "prices:\n  my-model: {input: 1.25, cached: 0.125, output: 10}\n" +
		"linters:\n  - ruff\n  - {name: mine, command: [my-linter, \"{files}\"], files: [\"*.x\"], errorformat: [\"%f:%l:%c: %m\"]}\n"
)

// settingsExample is a file with all settings but the tables.
func settingsExample() string {
	var b strings.Builder
	group := ""
	for _, k := range settings.All {
		before, part, grouped := strings.Cut(k.Key, ".")
		switch {
		case !k.InFile:
		case !grouped:
			fmt.Fprintf(&b, "%s: %s\n", k.Key, describedSettings[k.Key].good)
		default:
			if before != group {
				fmt.Fprintf(&b, "%s:\n", before)
			}
			fmt.Fprintf(&b, "  %s: %s\n", part, describedSettings[k.Key].good)
			group = before
		}
	}
	return b.String()
}

// policyReference writes the part about the policy.
func policyReference(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## The repository's policy\n\n`%s` in the top folder. `precedent init` writes it with all settings commented out. A review uses the file from the *base* of the\n"+
		"change, so a change cannot steer its own review. An uncommitted file applies to your own local reviews. A section with an error is\n"+
		"ignored, the others apply, and the review says so in one line. If the file is not valid YAML, all of it is ignored. An ignored section never loosens\n"+
		"anything: with an error in `gate` nothing is built, in `fix` nothing is fixed, in `precedents` nothing is cited, and in `request_changes` blocking\n"+
		"findings request changes.\n\n"+
		"| key | values | default | what it does |\n|---|---|---|---|\n", guide.PolicyFile)
	for _, p := range describedPolicy {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.key, p.values, p.fallback, p.does)
	}
	fmt.Fprintf(b, "\nFor example:\n\n```yaml\n# %s\n", guide.PolicyFile)
	for _, p := range describedPolicy {
		fmt.Fprintf(b, "%s: %s\n", p.key, p.good)
	}
	b.WriteString("```\n")
}

// TestReferenceOfThePolicy: the table of the policy's keys is whole, its
// examples are taken, and what is beyond the values is not.
func TestReferenceOfThePolicy(t *testing.T) {
	_, errs := guide.ParsePolicy([]byte("unheard_of: 1\n"), guide.PolicyFile, review.Names())
	if len(errs) != 1 {
		t.Fatal(errs)
	}
	known := map[string]bool{}
	for key := range strings.SplitSeq(strings.TrimPrefix(hintOf(errs[0]), "known: "), ", ") {
		known[key] = true
	}
	for _, p := range describedPolicy {
		if !known[p.key] {
			t.Errorf("a policy has no %s", p.key)
		}
		delete(known, p.key)
		for value, want := range map[string]bool{p.good: true, p.bad: false} {
			_, errs := guide.ParsePolicy([]byte(p.key+": "+value+"\n"), guide.PolicyFile, review.Names())
			if got := len(errs) == 0; got != want {
				t.Errorf("%s: %s: taken %t, want %t: %v", p.key, value, got, want, errs)
			}
		}
	}
	if len(known) > 0 {
		t.Errorf("the reference does not know %v", slices.Sorted(maps.Keys(known)))
	}
}

// defaultsOf asks the program itself, with nothing set and outside of a repository.
func defaultsOf(t *testing.T) map[string]string {
	t.Helper()
	a := &app{env: environment(os.Environ()), dir: t.TempDir()}
	for name := range a.env {
		if name != "PATH" {
			delete(a.env, name)
		}
	}
	c, _, err := a.configuration(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defaults := map[string]string{}
	for _, s := range c.Settings {
		defaults[s.Key] = strings.TrimPrefix(strings.TrimPrefix(s.Source, "default: "), "default")
		if s.Value != "" {
			defaults[s.Key] = code("", s.Value)
		}
	}
	defaults["repo"] = "the remote `upstream`, else `origin`, else the first commit"
	defaults["memory_db"] = "`.precedent/memory.db` beside the main work tree"
	defaults["engine"] = "what there is a key for, else `none`"
	return defaults
}

func checkDescribed(t *testing.T, k settings.Def, d described) {
	t.Helper()
	check := func(text string) error {
		from := settings.Sources{Env: map[string]string{"HOME": "/"}, Dir: "/"}
		switch {
		case k.Flag != "":
			from.Flags = map[string]string{k.Flag: text}
		default:
			from.File = filepath.Join(t.TempDir(), "config.yaml")
			line := k.Key + ": " + text
			if group, part, ok := strings.Cut(k.Key, "."); ok {
				line = group + ": {" + part + ": " + text + "}"
			}
			writeFile(t, from.File, line+"\n", 0o600)
		}
		_, err := settings.Read(from)
		return err
	}
	if err := check(d.good); err != nil {
		t.Errorf("%s: the example is refused: %v", k.Key, err)
	}
	if d.bad != "" && check(d.bad) == nil {
		t.Errorf("%s: %q is taken", k.Key, d.bad)
	}
}

// everyVariable: what the program reads of the environment is in the reference.
func everyVariable(t *testing.T, reference string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`(?:\.env\[|\.xdg\()"([A-Z_]+)"`)
	for _, file := range files {
		for _, m := range variable.FindAllStringSubmatch(read(t, file), -1) {
			if !strings.Contains(reference, "`"+m[1]+"`") {
				t.Errorf("%s reads %s, which the reference does not name", file, m[1])
			}
		}
	}
}

func code(before, s string) string {
	if s == "" {
		return ""
	}
	return "`" + before + s + "`"
}

func tick(b bool) string {
	if b {
		return "yes"
	}
	return ""
}
