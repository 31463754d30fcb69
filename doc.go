// Package precedent defines the types of Precedent, the code reviewer that remembers: change, finding, review
// and memory. It imports only the standard library, and every other package imports it.
//
// # A tour, bottom up
//
// Data moves one way: gather, compute, act. A package imports from lower floors
// only, never a neighbour; floors_test.go enforces this.
//
// Words. [Repo] is the identity that memory belongs to: the remote, never a path. [Span] is a place in a change.
// [Finding] is one remark, from the finder to the database; [Place], [Fingerprint] and [FindingID] give it an
// identity that depends on neither line numbers nor prose. [Review] is the result of one run, and its JSON form is a
// stable contract. [Dismissal] is the record that a person dismissed a finding, [Learning] a directive that a person gave for later
// reviews. [Thread] is a posted finding with its conversation, and [Outcome] is what happened to it. [Policy] is what
// a repository may set for its own reviews. [Untrusted] marks text from outside.
//
// Tools. internal/git is the only package that runs git, and treats every repository as hostile. internal/diff parses
// the diffs that git prints. internal/text splits, compares, cleans and shows text. internal/secret finds and redacts
// credentials. internal/sarif defines the objects of SARIF. internal/backoff says how long to wait before a request
// is sent again. internal/strict reads JSON from outside, without
// keys that stand in an object twice. internal/intent decides what a directive of a person means. internal/label is
// the table of the labels on a pull request. internal/calibration tunes the threshold and refits confidences by what
// became of findings. internal/child runs a program and ends it with all its children. internal/background starts one
// that outlives this process, and knows whether it runs. internal/temp keeps the temporary files of a process in one
// private folder.
//
// Speech and sources. internal/forge is the interface to the hosts of pull requests, for reading and for
// writing. internal/chat finds the commands in the comments of people. internal/llm sends a request to a
// model, runs a tool loop, and makes both reliable. internal/guide reads guide files, rules and policy of the
// base commit. internal/markdown turns text from outside into inert Markdown. internal/prompt builds the
// prompts for models. internal/match decides whether two remarks are the same, for merging, memory, threads
// and their measurement. internal/search finds the documents that share the most telling words with a query.
// internal/store keeps everything in SQLite or PostgreSQL. internal/sandbox runs hostile commands in a
// sandbox, or not at all.
//
// Hands. internal/lint runs the analyzers that need no model, and linters in the sandbox. internal/gate runs
// the repository's own build and tests, in the sandbox or, except for a person's own work tree, not at all.
// internal/queue keeps the jobs of a server and runs them. internal/hook is the pre-push hook of git.
// internal/engine is the interface to what reads with a model. internal/report prints a review.
// internal/comment writes all comments on a forge, checks them for secrets and active content, and recognizes
// them by their marker. internal/forge/wire sends requests to a forge's API: it guards the token, and reports
// whether a request was carried out.
//
// Mind. internal/memory recalls before a review and records after it: history,
// hotspots, dismissals and learnings. internal/thread follows what was posted: it assembles
// conversations, relocates them to a new head, and determines the outcome of each
// finding. internal/corpus keeps what people wrote in reviews, and finds what they said
// before about the same thing. internal/settings reads the operator's settings once, typed, each value
// with its source. internal/fixround has an engine edit a copy, and decides whether that may be committed.
//
// Acts. internal/review turns a change into findings. Finders run in parallel; then these stages annotate them
// and delete none, so that each hidden finding has a reason:
//
//	place → redact → merge → recall → threads → suppress → verify →
//	cite → score → refit → weigh → answer → precedents → select
//
// On a later push it recognizes findings by their threads, reads what the push changed, and answers
// each open thread. internal/post posts a review on its pull request, each comment
// exactly once. internal/portable carries what people said between databases: as a
// file, through a ref of the remote, and as a file that is reviewed like code.
//
// Flow. internal/workspace opens a repository with its memory, and serves the commands that only read and
// write that. internal/run prepares a change for its review, and runs it; a local change needs no more.
// internal/pull gathers a pull request, has it reviewed, and publishes the review. internal/converse hears
// what people write there, answers and learns. internal/fix addresses what is open. internal/round does the
// one thing that is due. Commands call them, and so do jobs of a server.
//
// Front ends and adapters. internal/doctor checks what a review needs, and internal/progress shows what it is
// doing. internal/mcp serves the memory to agents, and internal/server reviews pull requests as they change.
// internal/engine/api asks a model behind an API, internal/engine/claude asks Claude Code,
// internal/engine/command lets any program be the model, internal/engine/enginetest is the suite that every
// engine passes, and internal/llm/llmtest plays the servers that models are behind. internal/forge/github is
// GitHub, internal/forge/gitea is Gitea and Forgejo, internal/forge/local is a folder of JSON for trying, and
// internal/forge/forgetest plays the servers and is the suite that the clients pass.
// internal/markdown/markdowntest checks how a forge and its bots read Markdown.
//
// cmd/precedent wires them: one file a subcommand, and the only reader of the
// environment. cmd/precedent-eval, a program of its own, measures quality on folders
// of data and on merged pull requests, with internal/eval.
//
// # Where to look first
//
// To follow one review through the code: cmd/precedent/review.go calls internal/run, in which local.go
// gathers and run.go computes (review.Run) and keeps (memory.Record). Then report.Text prints.
//
// To follow a pull request: cmd/precedent/pr.go calls internal/round, in which Post answers comments
// (internal/converse, chat.Parse) and reviews (Publisher.Review of internal/pull). There fetch.go
// fetches the commits, discussion.go reads what people said, and follow.go our threads
// (thread.Assemble, thread.Relocate). Plan of post.Poster plans the posts, which are stored with the
// review; publish.go delivers them, and learn.go stores the outcomes of earlier findings (memory.Learn).
package precedent
