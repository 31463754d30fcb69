package settings

import (
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Def defines one setting. An empty name means that it cannot come from there.
type Def struct {
	Key, Flag, Env string
	InFile         bool   // whether the configuration file may set it
	Server         bool   // whether only a server uses it
	Default        string // empty for none
	Usage          string // of its flag

	unsetText string // shown in place of "default"
	read      func(s *Settings, g given, set bool) error
	line      func(s *Settings) Line
}

// All defines the settings, in the order in which they are listed.
var All = []Def{
	def(engineOfText, func(s *Settings) *Value[Engine] { return &s.Engine }, Def{
		Key: "engine", Flag: "engine", Env: "PRECEDENT_ENGINE", InFile: true,
		Usage: "the `engine` that reads the change: anthropic, openai, claude (Claude Code), command:PATH (any program) " +
			"or none",
	}),
	def(names, func(s *Settings) *Value[[]string] { return &s.Model }, Def{
		Key: "model", Flag: "model", Env: "PRECEDENT_MODEL", InFile: true, unsetText: "the engine's default",
		Usage: "the `name` of the model; fallback models may follow after commas",
	}),
	// The smallest window holds a prompt with a part of a change, and the largest
	// is beyond those that models have.
	def(between(4_000, 10_000_000, "tokens"), func(s *Settings) *Value[int] { return &s.Context }, Def{
		Key: "context", Flag: "context", Env: "PRECEDENT_CONTEXT", InFile: true, unsetText: "default: a large window",
		Usage: "the model's context window is `N` tokens; for small local models",
	}),
	// Four requests fill a slow network, and are below every provider's limits.
	def(between(1, 64, "requests"), func(s *Settings) *Value[int] { return &s.Concurrency }, Def{
		Key: "concurrency", Flag: "concurrency", Env: "PRECEDENT_CONCURRENCY", InFile: true, Default: "4",
		Usage: "send at most `N` requests to the engine at a time",
	}),
	def(dollars, func(s *Settings) *Value[float64] { return &s.MaxCost }, Def{
		Key: "max_cost", Flag: "max-cost", InFile: true, Default: fmt.Sprintf("%.2f", engine.DefaultReviewUSD),
		Usage: "limit the cost of the review to this many `dollars`",
	}),
	def(positive, func(s *Settings) *Value[int] { return &s.MaxTokens }, Def{
		Key: "max_tokens", Flag: "max-tokens", InFile: true, Default: fmt.Sprint(engine.DefaultReviewTokens),
		Usage: "limit the review to `N` tokens, input and output together",
	}),
	def(dollars, func(s *Settings) *Value[float64] { return &s.MaxCostPerDay }, Def{
		Key: "max_cost_per_day", InFile: true, Default: fmt.Sprintf("%.2f", engine.DefaultDayUSD),
		Usage: "limit the cost of all reviews of a repository to this many dollars per day (UTC)",
	}),
	def(dollars, func(s *Settings) *Value[float64] { return &s.MaxCostPull }, Def{
		Key: "max_cost_per_pull_request", InFile: true, Default: fmt.Sprintf("%.2f", engine.DefaultPullUSD),
		Usage: "limit the cost of all reviews of a pull request to this many dollars",
	}),
	def(filePath, func(s *Settings) *Value[string] { return &s.MemoryDB }, Def{
		Key: "memory_db", Flag: "memory-db",
		Env: "PRECEDENT_MEMORY_DB", InFile: true, Usage: "the database `file` of the memory",
	}),
	def(filePath, func(s *Settings) *Value[string] { return &s.Transcripts }, Def{
		Key: "transcripts", Env: "PRECEDENT_TRANSCRIPTS", InFile: true, unsetText: "none",
		Usage: "keep the prompts and the output of Claude Code in this folder, for the last 30 reviews; they contain code",
	}),
	def(automatic, func(s *Settings) *Value[bool] { return &s.Consolidation }, Def{
		Key: "consolidation", Env: "PRECEDENT_CONSOLIDATION", InFile: true, Default: "auto",
		Usage: "look for patterns in the memory after a review: auto or off",
	}),
	def(repo, func(s *Settings) *Value[precedent.Repo] { return &s.Repo }, Def{
		Key: "repo", Flag: "repo",
		Usage: "the identity of the repository as `host/owner/name`, instead of the one of its remote",
	}),
	def(text, func(s *Settings) *Value[string] { return &s.MemoryRef }, Def{
		Key: "memory_ref", Flag: "ref", Env: "PRECEDENT_MEMORY_REF", InFile: true, Default: "refs/precedent/memory",
		Usage: "exchange the memory through this `ref` of the remote; where only branches are allowed, " +
			"refs/heads/precedent-memory",
	}),
	def(boolean, func(s *Settings) *Value[bool] { return &s.Learnings }, Def{
		Key: "learnings", Env: "REVIEW_LEARNINGS_ENABLED", InFile: true, Default: "true",
		Usage: "use learnings in reviews and save new ones: true or false",
	}),
	def(boolean, func(s *Settings) *Value[bool] { return &s.Precedents }, Def{
		Key: "precedents", Env: "REVIEW_PRECEDENTS_ENABLED", InFile: true, Default: "true",
		Usage: "search what people wrote in earlier reviews, and cite it: true or false",
	}),
	def(endpointURL, func(s *Settings) *Value[string] { return &s.EmbeddingsURL }, Def{
		Key: "embeddings.url", Env: "PRECEDENT_EMBEDDINGS_URL", InFile: true,
		unsetText: "default: comments are compared by their words alone",
		Usage:     "the address of a server that is compatible with OpenAI's embeddings, without /embeddings",
	}),
	def(text, func(s *Settings) *Value[string] { return &s.EmbeddingsModel }, Def{
		Key: "embeddings.model",
		Env: "PRECEDENT_EMBEDDINGS_MODEL", InFile: true, Usage: "the name of the embedding model",
	}),
	// The largest vectors of known models have 8,192 dimensions.
	def(between(1, 16_384, "dimensions"), func(s *Settings) *Value[int] { return &s.EmbeddingsDimensions }, Def{
		Key: "embeddings.dimensions", Env: "PRECEDENT_EMBEDDINGS_DIMENSIONS", InFile: true,
		unsetText: "default: the model's own",
		Usage:     "ask for vectors with this number of dimensions, and accept no others",
	}),
	// A hosted model answers a batch within a second, a local one after it has been loaded.
	def(duration, func(s *Settings) *Value[time.Duration] { return &s.EmbeddingsTimeout }, Def{
		Key: "embeddings.timeout", Env: "PRECEDENT_EMBEDDINGS_TIMEOUT", InFile: true, Default: "20s",
		Usage: "stop waiting for the vectors of a review or a search after this duration",
	}),
	def(forgeOfText, func(s *Settings) *Value[forge.Address] { return &s.Forge }, Def{
		Key: "forge", Flag: "forge", Env: "PRECEDENT_FORGE", InFile: true,
		Usage: "the `forge` of pull requests: github, github:https://HOST/api/v3, gitea:https://HOST or local:DIR",
	}),
	def(text, func(s *Settings) *Value[string] { return &s.TrustedBranch }, Def{
		Key: "trusted_branch", Flag: "trusted-branch", Env: "PRECEDENT_TRUSTED_BRANCH", InFile: true,
		unsetText: "default: the default branch of the remote",
		Usage:     "read guide and policy from this `branch` if a change is not in it yet",
	}),
	def(boolean, func(s *Settings) *Value[bool] { return &s.RunLocal }, Def{
		Key: "run_local", InFile: true, Default: "false",
		Usage: "let precedent gate run the commands of your own work tree without a sandbox where there is none: true or " +
			"false",
	}),
	def(percent, func(s *Settings) *Value[*int] { return &s.Threshold }, Def{
		Key: "threshold", Flag: "threshold",
		Env: "REVIEW_CONFIDENCE_THRESHOLD", Usage: "show findings with at least this confidence, in `percent`",
	}),
	def(positive, func(s *Settings) *Value[int] { return &s.MaxInline }, Def{
		Key: "max_inline", Flag: "max-inline", Usage: "show at most `N` findings in full",
	}),
	def(boolean, func(s *Settings) *Value[bool] { return &s.Deep }, Def{
		Key: "deep", Flag: "deep", Env: "PRECEDENT_DEEP", InFile: true, Default: "false",
		Usage: "run all finders that the policy does not turn off, not only those that the change calls for: true or false",
	}),
	def(severity, func(s *Settings) *Value[precedent.Severity] { return &s.FailOn }, Def{
		Key: "fail_on", Flag: "fail-on", InFile: true, Default: string(precedent.High),
		Usage: "exit with status 1 if a finding has at least this `severity`: critical, high, medium, low or nit; none " +
			"for never",
	}),
	// Ten minutes are a review's share of the time of CI.
	def(duration, func(s *Settings) *Value[time.Duration] { return &s.Timeout }, Def{
		Key: "timeout", Flag: "timeout",
		InFile: true, Default: "10m0s", Usage: "stop waiting for an answer after this `duration`",
	}),
	def(repositories, func(s *Settings) *Value[[]precedent.Repo] { return &s.Repositories }, Def{
		Key: "repositories", Flag: "repositories", Env: "PRECEDENT_REPOSITORIES", InFile: true, Server: true,
		unsetText: "default: all that the token may write to",
		Usage:     "serve these repositories: `host/owner/name`, more after commas",
	}),
	def(names, func(s *Settings) *Value[[]string] { return &s.Owners }, Def{
		Key: "owners", Flag: "owners", Env: "PRECEDENT_OWNERS", InFile: true, Server: true,
		Usage: "serve all repositories of these `owners` that the token may write to; more after commas",
	}),
	def(listenAddress, func(s *Settings) *Value[string] { return &s.Listen }, Def{
		Key: "listen", Flag: "listen", Env: "PRECEDENT_LISTEN", InFile: true, Server: true, Default: "127.0.0.1:8787",
		Usage: "listen on this `address`: HOST:PORT, or off",
	}),
	def(pagesURL, func(s *Settings) *Value[string] { return &s.DashboardURL }, Def{
		Key: "dashboard_url", Flag: "dashboard-url", Env: "PRECEDENT_DASHBOARD_URL", InFile: true, Server: true,
		unsetText: "default: pages are for browsers on this machine",
		Usage:     "the `URL` at which people reach the pages of the server",
	}),
	def(names, func(s *Settings) *Value[[]string] { return &s.Operators }, Def{
		Key: "operators", Flag: "operators", Env: "PRECEDENT_OPERATORS", InFile: true, Server: true,
		Usage: "let people with these `logins` see and change the jobs of the server on its pages; more after commas",
	}),
	// A conditional request costs a forge little, but not nothing.
	def(interval, func(s *Settings) *Value[time.Duration] { return &s.Interval }, Def{
		Key: "interval", Flag: "interval", Env: "PRECEDENT_INTERVAL", InFile: true, Server: true, Default: "1m0s",
		Usage: "look for changes after this `duration`, at least 10s",
	}),
	// Each may run a gate, and reviews wait for the model most of the time.
	def(between(2, 64, "jobs"), func(s *Settings) *Value[int] { return &s.Jobs }, Def{
		Key: "jobs", Flag: "jobs",
		Env: "PRECEDENT_JOBS", InFile: true, Server: true, Default: "4", Usage: "run at most `N` jobs at a time",
	}),
	def(occasions, func(s *Settings) *Value[*precedent.ReviewTriggers] { return &s.Reviews }, Def{
		Key: "reviews", Flag: "reviews", Env: "PRECEDENT_REVIEWS", InFile: true, Server: true,
		unsetText: "default: label,request,command",
		Usage: "review on these `occasions` where the policy of the repository names none: open, ready, push, request, " +
			"command, label; with drafts, drafts, too; or none",
	}),
	def(boolean, func(s *Settings) *Value[bool] { return &s.Fixes }, Def{
		Key: "fixes", Env: "PRECEDENT_FIXES", InFile: true, Server: true, Default: "true",
		Usage: "fix labelled pull requests and push the fixes: true or false",
	}),
	def(boolean, func(s *Settings) *Value[bool] { return &s.Gates }, Def{
		Key: "gates", Env: "PRECEDENT_GATES", InFile: true, Server: true, Default: "true",
		Usage: "build and test pull requests in the sandbox before a review: true or false",
	}),
	def(logFormat, func(s *Settings) *Value[string] { return &s.LogFormat }, Def{
		Key: "log_format", Flag: "log-format", Env: "PRECEDENT_LOG_FORMAT", InFile: true, Server: true, Default: "text",
		Usage: "write logs in this `format`: text or json",
	}),
}

// def completes the definition of a setting that parse reads into the field.
func def[T any](parse func(given) (T, error), field func(*Settings) *Value[T], d Def) Def {
	d.read = func(s *Settings, g given, set bool) error {
		v := Value[T]{Text: g.text, Source: g.from}
		if set {
			var err error
			if v.Value, err = parse(g); err != nil {
				return err
			}
		}
		*field(s) = v
		return nil
	}
	d.line = func(s *Settings) Line {
		v := field(s)
		return Line{d.Key, v.Text, v.Source.Words}
	}
	return d
}
