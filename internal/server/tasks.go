package server

import (
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/queue"
)

// pullTasks are what the actions of events of a pull request lead to. Others lead to nothing:
// whether a review is due, the labels and the policy say, which the job reads from the forge.
var pullTasks = map[string][]queue.Kind{
	forge.ActionOpened:       {queue.Review},
	forge.ActionReopened:     {queue.Review},
	forge.ActionSynchronized: {queue.Review},
	forge.ActionReady:        {queue.Review},
	forge.ActionLabeled:      {queue.Review},
	forge.ActionUnlabeled:    {queue.Review},
	forge.ActionEdited:       {queue.Review}, // its base may be another one
	forge.ActionReview:       {queue.Review},
	forge.ActionClosed:       {queue.Reply, queue.Outcomes}, // reactions to answers make no events
	forge.ActionMerged:       {queue.Reply, queue.Outcomes, queue.CatchUp},
}

// commentTasks are the same for comments. The round after a conversation was resolved updates the summary and the
// check.
var commentTasks = map[string][]queue.Kind{
	forge.ActionCreated:  {queue.Reply},
	forge.ActionEdited:   {queue.Reply},
	forge.ActionDeleted:  {queue.Reply},
	forge.ActionResolved: {queue.Review},
	"":                   {queue.Reply},
}

// tasks returns the work that an event makes.
func tasks(e forge.Event) []queue.Task {
	var kinds []queue.Kind
	switch e.Kind {
	case forge.PullEvent:
		kinds = pullTasks[e.Action]
	case forge.CommentEvent:
		kinds = commentTasks[e.Action]
	case forge.RunEvent:
		if e.Action != forge.ActionPending && e.Action != forge.ActionCreated {
			kinds = []queue.Kind{queue.CheckCI}
		}
		if len(kinds) > 0 && len(e.Pulls) == 0 { // some forges do not name them
			return []queue.Task{{Kind: queue.CheckCI, Repo: e.Repo, Head: e.Head, Reason: reasonOf(e)}}
		}
	}
	var all []queue.Task
	for _, kind := range kinds {
		if kind == queue.CatchUp {
			all = append(all, queue.Task{Kind: kind, Repo: e.Repo, Reason: reasonOf(e)})
			continue
		}
		for _, n := range e.Pulls[:min(len(e.Pulls), maxPullsOfEvent)] {
			all = append(all, queue.Task{Kind: kind, Repo: e.Repo, Pull: n, Head: e.Head, Reason: reasonOf(e)})
		}
	}
	return all
}

// maxPullsOfEvent bounds the pull requests of one event that get a job; the poller finds others.
const maxPullsOfEvent = 50

// reasonOf names an event in words of this program, never in those of the payload.
func reasonOf(e forge.Event) string {
	if e.Action == "" {
		return string(e.Kind)
	}
	return string(e.Kind) + " " + e.Action
}
