// Package converse hears what people write on a pull request, answers it, and learns from it.
//
// [Answer] is the story. It reads the comments that no run has handled, oldest first, and does for
// each what it asks:
//
//	hear    chat.Parse finds commands; what is not one is free text
//	act     each command is carried out: store, forget, approve, dismiss, resolve, pause, fix …
//	talk    the engine answers free text, without tools, within the budget of the pull request
//	answer  one comment answers all that one comment asked, and says in words what was stored
//
// What people with write permission say in passing about how the project does things is proposed, without an answer.
//
// It runs before a review, which then has what people said. What must be decided about a thread is
// not decided here: a dismissal follows from the comment itself, each time the thread is read.
//
// # Who counts
//
// People with write permission teach, dismiss and ask for work. What others teach is pending until
// one of these approves it. The author may end findings that are not severe. Anybody else is answered
// once, so that nobody can make us flood a pull request. A comment that was edited after it was read
// counts as written without permission, because forges do not say who edited it.
//
// # Once
//
// Everything that handling a comment does can be repeated with the same result until its answer is
// planned, which happens in one transaction with the record that it is handled. What cannot be
// repeated, such as forgetting "the last one", first stores what it is about to change. A run that is
// killed in between is finished by the next one, and answers the same.
package converse
