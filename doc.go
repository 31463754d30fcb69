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
// is a person's no. [Thread] is a finding that was posted, with its conversation,
// and [Outcome] is what became of it. [Policy] is what a repository may say about
// its own reviews. [Untrusted] marks text from outside.
//
// Tools. internal/git is the only place that runs git, and treats every repository
// as hostile. internal/diff reads what git says about a change. internal/text
// splits, compares, cleans and shows text. internal/secret finds and redacts
// credentials. internal/sarif has the objects of SARIF. internal/llm sends one
// request to a model, runs one tool loop, and makes both reliable. internal/start
// delays the first garbage collection. internal/child runs a program and ends it
// with everything that it started.
//
// Speech and sources. internal/forge is the seam to whatever hosts pull requests,
// for reading and for writing. internal/guide reads what the repository says about
// itself at the base commit: guide files, rules, policy. internal/markdown makes
// text from outside Markdown that does nothing. internal/prompt builds what a
// model is asked. internal/match decides whether two remarks are the same, for
// merging, memory, threads and their measurement. internal/store keeps everything
// in SQLite. internal/sandbox runs a hostile command in a box, or not at all.
//
// Hands. internal/lint runs the analyzers that need no model, and linters in the
// sandbox. internal/hook is the hook of git that reviews pushes. internal/engine
// is the seam to whatever reads with one. internal/report prints a review.
// internal/comment writes all that is said on a forge, through one gate, and knows
// it again by its marker. internal/forge/wire carries requests to a forge's API:
// it guards the token, and says whether a request was carried out.
//
// Mind. internal/memory recalls before a review and records after it: history,
// hotspots, and what people dismissed. internal/thread follows what was posted: it
// puts conversations together, carries them to a new head, and says what became
// of each finding. internal/settings reads what the operator sets, once: typed,
// each value with its source.
//
// Acts. internal/review turns a change into findings. Finders run side by side;
// then place, merge, verify, cite, score, suppress and select each annotate every
// finding and delete none, so that a finding that is not shown says why. On a
// later push it knows findings again by their threads, reads what the push
// touched, and answers each open thread. internal/post says what a review has to
// say on its pull request, each thing exactly once.
//
// Workflow. internal/workflow takes a review from its beginning to its end: it
// prepares what the review needs, runs it, publishes it and learns from what people
// answered, for a local change and for a pull request. Commands call it, and so can
// jobs of a server.
//
// Front ends and adapters. internal/eval measures quality on folders of data.
// internal/fix makes suggestions in a work tree. internal/doctor looks at what a
// review needs, and internal/progress shows what it is doing.
// internal/engine/api asks a model behind an API, internal/engine/claude asks Claude Code, internal/engine/command
// lets any program be the model, internal/engine/enginetest is the suite that
// every engine passes, and internal/llm/llmtest plays the servers that models are
// behind. internal/forge/github is GitHub, internal/forge/gitea is Gitea and
// Forgejo, internal/forge/local is a folder of JSON beside a git repository, and
// internal/forge/forgetest plays the servers and is the suite that all of them
// pass. internal/markdown/markdowntest judges Markdown as a forge and its bots
// would take it.
//
// cmd/precedent wires them: one file a subcommand, and the only reader of the
// environment.
//
// # Where to look first
//
// To follow one review through the code: cmd/precedent/review.go calls
// internal/workflow, in which prepare.go gathers and run.go computes (review.Run)
// and keeps (memory.Record). Then report.Text prints.
//
// To follow a pull request: cmd/precedent/pr.go calls the same package. pull.go reads
// the pull request, pull_fetch.go the commits, discussion.go what people said, and
// follow.go our threads (thread.Assemble, thread.Carry). What is to be posted is
// planned (Plan of post.Poster) and kept with the review. publish.go delivers it, and
// learn.go keeps what became of earlier findings (memory.Learn).
package precedent
