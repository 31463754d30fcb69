// Package precedent holds the words of Precedent, the code reviewer that
// remembers: what a change, a finding, a review and a memory are. It imports
// the standard library alone, and everything else imports it.
//
// # A tour, bottom up
//
// Data moves one way: gather, compute, act. A package imports from lower
// floors only, never a neighbour; floors_test.go holds the code to it.
//
// Words. [Repo] says whose memory it is: the remote, never a path. [Span] is a
// place in a change. [Finding] is one remark, from the finder that makes it to
// the database that keeps it; [Place], [Fingerprint] and [FindingID] give it an
// identity in which no line number and no prose enters. [Review] is everything
// that one run found out, and its JSON form is a stable contract. [Rejection]
// is a person's no. [Policy] is what a repository may say about its own
// reviews. [Untrusted] marks text from outside.
//
// Tools. internal/git is the only place that runs git, and treats every
// repository as hostile. internal/diff reads what git says about a change.
// internal/text splits, compares, cleans and shows text. internal/secret finds
// and blackens credentials. internal/llm sends one request to a model, runs one
// tool loop, and makes both reliable. internal/child runs a program and ends it
// with everything that it started.
//
// Speech and sources. internal/forge is the seam to whatever hosts pull
// requests. internal/guide reads what the repository says about
// itself at the base commit: guide files, rules, policy. internal/prompt builds
// what a model is asked. internal/store keeps everything in SQLite.
// internal/report prints a review. internal/sandbox runs a hostile command in
// a box, or not at all.
//
// Hands. internal/lint runs the analyzers that need no model. internal/engine
// is the seam to whatever reads with one.
//
// Mind. internal/memory recalls before a review and records after it: history,
// hotspots, and what people declined.
//
// Acts. internal/review turns a change into findings. Finders run side by side;
// then place, merge, verify, cite, score, hush and select each annotate every
// finding and delete none, so that a finding that is not shown says why.
//
// Doors and furnishings. internal/eval measures quality on folders of data.
// internal/engine/api asks a model behind an API, internal/engine/claude asks
// Claude Code, internal/engine/command lets any program be the model,
// internal/engine/enginetest is the suite that every engine passes, and
// internal/llm/llmtest plays the servers that models are behind.
// internal/forge/github reads GitHub, and internal/forge/forgetest is the suite
// that every forge passes. internal/fix makes suggestions in a work tree.
//
// cmd/precedent wires them: one file a subcommand, and the only reader of the
// environment.
//
// # Where to look first
//
// To follow one review through the code: cmd/precedent/review.go gathers,
// review.Run computes, memory.Record keeps, report.Text prints.
package precedent
