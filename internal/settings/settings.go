// Package settings reads the operator's settings once: flags take precedence over the environment, the
// configuration file and the defaults. Every value is parsed and checked then, and has its source.
//
// The operator is the person who runs the program. Only the operator sets programs,
// files, addresses and times; what a repository may set is its policy.
package settings

import (
	"cmp"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/llm"
)

// Settings are the operator's. The comments say who needs each.
type Settings struct {
	File  string // path of the configuration file; empty if neither HOME nor XDG_CONFIG_HOME is set
	Found bool   // whether that file exists

	// For commands that use an engine.
	Engine Value[Engine]
	// names; the later ones take over when a model fails; empty for the engine's default
	Model         Value[[]string]
	Context       Value[int]           // tokens, for small local models; 0 for a large window
	Concurrency   Value[int]           // requests at a time
	MaxCost       Value[float64]       // dollars a review
	MaxTokens     Value[int]           // a review, input and output
	MaxCostPerDay Value[float64]       // dollars of all reviews of a repository
	MaxCostPull   Value[float64]       // dollars of all reviews of one pull request
	Timeout       Value[time.Duration] // of a finder
	Prices        llm.Prices           // of models, over those that providers list; nil if the file names none

	// For commands with a memory.
	MemoryDB Value[string]         // absolute path; empty for the usual place
	Repo     Value[precedent.Repo] // zero for that of the remote
	// MemoryRef is the ref with which clones exchange their memory.
	MemoryRef Value[string]
	// Consolidation lets reviews look for patterns in the memory, in the background or, in CI,
	// before they end.
	Consolidation Value[bool]
	// Transcripts is the folder for the prompts and the output of Claude Code; empty to keep none.
	Transcripts Value[string]
	// Learnings tells that reviews use learnings, and that new ones are saved.
	Learnings Value[bool]
	// Precedents tells that reviews search what people wrote in earlier ones.
	Precedents Value[bool]

	// For the search of comments, which uses the vectors of an embedding model, too, if there is
	// an address. The key is in the environment.
	EmbeddingsURL        Value[string] // https, or http on this machine; with the version
	EmbeddingsModel      Value[string]
	EmbeddingsDimensions Value[int]           // 0 for the model's own
	EmbeddingsTimeout    Value[time.Duration] // of the vectors that a review or a search needs

	// For commands that read pull requests.
	Forge Value[forge.Address]

	// For reviews of local changes: the branch whose guide and policy apply; empty for the
	// default branch of the remote.
	TrustedBranch Value[string]

	// For precedent gate: whether it runs commands without a sandbox where there is none. Nothing
	// else reads it, and no policy can set it.
	RunLocal Value[bool]

	// For reviews; they take precedence over the policy.
	Threshold Value[*int] // percent; nil leaves it to the policy
	MaxInline Value[int]  // findings; 0 leaves it to the policy
	Deep      Value[bool] // whether all second readers are asked
	FailOn    Value[precedent.Severity]
	Linters   []lint.Linter

	// For a server.
	Repositories Value[[]precedent.Repo] // that are served; none for those of Owners or, without owners, all
	Owners       Value[[]string]         // whose repositories are served
	Listen       Value[string]           // HOST:PORT; empty for no HTTP
	DashboardURL Value[string]           // of the pages, as browsers know it; empty for this machine only
	Operators    Value[[]string]         // logins of those who may change jobs on the pages
	Interval     Value[time.Duration]    // between two polls of a repository
	Jobs         Value[int]              // at a time
	LogFormat    Value[string]           // text or json
	Fixes        Value[bool]             // whether labelled pull requests are fixed
	Gates        Value[bool]             // whether they are built and tested
	// Reviews says what leads to a review where the policy does not say it; nil for the default.
	Reviews Value[*precedent.ReviewTriggers]

	tables []Line // of the file: prices and linters
}

// Value is a setting with its source.
type Value[T any] struct {
	Value  T
	Text   string // as it was written; of a default, as it could be
	Source Source
}

// Source says who set a value.
type Source struct {
	By    By
	Words string // for people
}

func (s Source) String() string { return s.Words }

// By is the kind of a source.
type By int

// The kinds of sources, from the weakest.
const (
	Default By = iota
	File
	Environment
	Flag
)

// Engine is what reads a change.
type Engine struct {
	Kind    string // one of the engines below
	Program string // of Command: an absolute path, or a name in PATH
}

// The engines.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
	Claude    = "claude" // Claude Code; used only if set explicitly: its login, unlike a key, is not intended for this
	Command   = "command"
	NoEngine  = "none"
)

// KeyOf names the variable that holds the key of an engine.
var KeyOf = map[string]string{Anthropic: "ANTHROPIC_API_KEY", OpenAI: "OPENAI_API_KEY"}

// DefaultModel is the model of an engine if none is set.
var DefaultModel = map[string]string{Anthropic: "claude-sonnet-5-5", OpenAI: "gpt-5"}

// URLOf names the variable that holds the address of an engine. The operator's
// environment may name another host; no file of a repository can.
var URLOf = map[string]string{Anthropic: "ANTHROPIC_BASE_URL", OpenAI: "OPENAI_BASE_URL"}

// EmbeddingsKey names the variable that holds the key of the server of embeddings. Those of
// engines are not sent there.
const EmbeddingsKey = "PRECEDENT_EMBEDDINGS_KEY"

// Line is a setting as the configuration is listed.
type Line struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Error is a setting that cannot be used.
type Error struct {
	Err  error
	Hint string // what the operator can do
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func hinted(err error, hint string, args ...any) error {
	return &Error{Err: err, Hint: fmt.Sprintf(hint, args...)}
}

// Sources are where settings come from.
type Sources struct {
	Flags map[string]string // those that were given, by their names
	Env   map[string]string
	File  string // path of the configuration file; empty for none
	Dir   string // the working folder, which relative paths start from
}

// Read reads every setting, each from the source with the highest precedence.
func Read(from Sources) (*Settings, error) {
	s := &Settings{File: from.File}
	file, err := readFile(from.File)
	if err != nil {
		return s, err
	}
	if s.Found = file != nil; !s.Found {
		file = &configFile{}
	}
	s.Prices, s.Linters, s.tables = file.prices, file.linters, file.tables()
	for i := range All {
		d := &All[i]
		g := given{
			text: d.Default, from: Source{Default, cmp.Or(d.unsetText, "default")}, home: from.Env["HOME"],
			dir: from.Dir,
		}
		set := d.Default != ""
		if v, ok := file.scalars[d.Key]; ok {
			g.text, g.from, set = v.text, v.from, true
		}
		if v := from.Env[d.Env]; d.Env != "" && v != "" {
			g.text, g.from, set = v, Source{Environment, "environment " + d.Env}, true
		}
		if v, ok := from.Flags[d.Flag]; ok && d.Flag != "" {
			g.text, g.from, set = v, Source{Flag, "flag --" + d.Flag}, true
		}
		if err := d.read(s, g, set); err != nil {
			return s, hinted(fmt.Errorf("%s (%s): %w", d.Key, g.from, err), "%s",
				cmp.Or(hintOf(err), "docs/configuration.md describes every setting"))
		}
	}
	if s.Engine.Source.By == Default {
		s.Engine = engineOf(from.Env)
	}
	if s.Forge.Source.By == Default {
		s.Forge = forgeOf(from.Env)
	}
	return s, nil
}

// List lists the settings in their order, and then the tables of the file.
func (s *Settings) List() []Line {
	var lines []Line
	for i := range All {
		lines = append(lines, All[i].line(s))
	}
	return append(lines, s.tables...)
}

// engineOf returns the default engine: the one that the environment has a key for.
func engineOf(env map[string]string) Value[Engine] {
	for _, found := range []struct{ variable, engine string }{
		{KeyOf[Anthropic], Anthropic}, {KeyOf[OpenAI], OpenAI}, {URLOf[OpenAI], OpenAI},
	} {
		if env[found.variable] != "" {
			return Value[Engine]{Engine{Kind: found.engine}, found.engine, Source{Environment, found.variable + " is set"}}
		}
	}
	return Value[Engine]{Engine{Kind: NoEngine}, NoEngine, Source{Default, "default"}}
}

// OnGitea tells whether an environment is that of a workflow of Gitea, which sets GitHub's variables, too.
func OnGitea(env map[string]string) bool { return env["GITEA_ACTIONS"] == "true" }

// forgeOf returns the default forge: the one that a workflow runs on, else GitHub.
func forgeOf(env map[string]string) Value[forge.Address] {
	f, from := forge.Address{Kind: forge.GitHub}, Source{Default, "default"}
	switch {
	case OnGitea(env):
		f, from = forge.Address{Kind: forge.Gitea, At: env["GITHUB_SERVER_URL"]},
			Source{Environment, "environment GITEA_ACTIONS"}
	case env["GITHUB_API_URL"] != "":
		f, from = forge.Address{Kind: forge.GitHub, At: env["GITHUB_API_URL"]},
			Source{Environment, "environment GITHUB_API_URL"}
	}
	return Value[forge.Address]{f, f.String(), from}
}
