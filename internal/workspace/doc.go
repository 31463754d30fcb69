// Package workspace opens what a run needs, and serves the commands that only read and write a memory.
//
// An [Env] is what all runs of a process share: clock, log, git, folders, the database of a server.
// It opens a [Repository], which is a clone with its identities and the place of its memory, and a
// [Workspace], which is that with the memory open:
//
//	env.OpenRepository(ctx, at)   // a clone around a folder
//	env.OpenWorkspace(ctx, at)    // with its memory; an empty one answers where there is none yet
//	env.OpenForReview(ctx, repo)  // a review goes on, and says so, if its memory cannot be opened
//	env.OpenMemory(ctx, repo)     // the database alone; it is made if there is none
//	env.SharedWorkspace(ctx, id)  // the rows of a repository in a server's database, without a clone
//	env.OpenInstallation(ctx, …)  // that database, for the commands of an operator
//
// The memory is beside the repository only if nobody else can have made it there: a commit, a link
// or another user could otherwise decide what is hidden ([Env.MemoryFile]).
//
// # What commands do with a memory
//
// [Env.Dismiss] and [Env.Restore] say that findings do not apply, [Env.Learn] and its siblings teach
// directives, [Workspace.Explain] explains a finding and what would have been decided without one of
// its reasons, [Workspace.ReplayStored] decides stored reviews again. [Env.ExportMemory],
// [Env.ImportMemory] and [Env.SyncMemory] carry a memory elsewhere. [Env.SyncCorpus],
// [Env.ImportCorpus] and [Env.SearchCorpus] fill and search what people wrote in reviews.
// [Env.Consolidate] looks for patterns; [Env.KeepConsolidating] does so as long as it is not stopped.
//
// A server keeps more: how it last saw a pull request ([Env.Watched]), and its work ([Env.OpenJobs]).
//
// # What all runs need
//
// A [Connection] is a forge, and how git reaches it. [Permissions] asks it what people may do, once
// for each. An [EngineSetup] makes engines. A [BookedBudget] bounds what they spend, across processes:
// for one run, for a pull request and for a day.
//
// Nothing here prints or reads an environment variable: notices go to the log of the Env, and everything else
// is returned. An [Error] has a hint for people, which [HintOf] finds whichever package attached it.
package workspace
