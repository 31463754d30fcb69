// Package pull reviews a pull request: it gathers, has it reviewed, and publishes the result.
//
//	repo, err := pull.OpenRepository(ctx, env, at, named)
//	p, err := pull.Read(ctx, env, conn, repo, number)
//	publisher, err := p.Publisher(ctx)
//	did, err := publisher.Review(ctx, job, pull.Hooks{})
//
// [Publisher.Review] is the story: an earlier review of the head is finished, or else the pull
// request is prepared, reviewed and delivered. Only a [Publisher] writes to the forge. Without one,
// [Pull.Prepare] and Run review a pull request for the eyes of the caller, and [Pull.Outcomes] says
// what became of posted findings.
//
// # Gather
//
// [OpenRepository] finds a clone, or opens a mirror in the cache. [Read] reads the pull request once
// for the whole run, and opens the memory of its repository, also if that was renamed meanwhile.
// [Pull.Gather] makes a [State] of how it is now:
//
//	fetch.go       the commits, by git; if git cannot, the forge's own diff
//	discussion.go  what people said: directives of those who may write, claims of the others
//	follow.go      our threads, relocated to the head, and what a push changed since the last review
//	people.go      the conversations that people opened
//
// # Publish
//
// A review is stored together with its posts, before any of them is sent. [Publisher.Deliver] sends
// them: comments that a finding cites are read again first (recheck.go), nothing is posted after the
// head has moved, and a run that is killed posts nothing twice when it is repeated. Then the outcomes
// of earlier findings are learned (learn.go). A review of the head that was made before is not repeated:
// if people closed or reopened findings since, a copy that heeds it takes its place (look.go).
//
// # For the floors above
//
// Packages converse, fix and round do the rest: they answer comments, fix what is open, and decide
// what is due. They use a Publisher and its State, post notes by [Publisher.PlanNotes] and
// [Publisher.DeliverNotes], and show engines what show.go makes of threads.
package pull
