package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
)

// TestTasks: every kind of event and action, and the work that it makes.
func TestTasks(t *testing.T) {
	for event, want := range map[string]string{
		"pull_request opened": "review 7", "pull_request reopened": "review 7", "pull_request synchronized": "review 7",
		"pull_request ready": "review 7", "pull_request labeled": "review 7", "pull_request unlabeled": "review 7",
		"pull_request edited": "review 7", "pull_request review-requested": "review 7",
		"pull_request closed": "reply 7 outcomes 7", "pull_request merged": "reply 7 outcomes 7 catch-up 0",
		"pull_request created": "", "comment ": "reply 7", "comment created": "reply 7", "comment edited": "reply 7",
		"comment deleted": "reply 7", "comment resolved": "review 7", "comment unresolved": "",
		"run completed": "check-ci 7", "run created": "", "run pending": "", "push created": "", " ": "",
	} {
		kind, action, _ := strings.Cut(event, " ")
		var got []string
		for _, task := range tasks(forge.Event{
			Kind: forge.EventKind(kind), Action: action, Repo: shop, Pulls: []int{7}, Head: sha(1),
		}) {
			got = append(got, fmt.Sprint(task.Kind, " ", task.Pull))
			if task.Repo != shop || task.Reason == "" || task.Pull > 0 && task.Head != sha(1) {
				t.Errorf("%s: %+v", event, task)
			}
		}
		needs.Equal(t, want, strings.Join(got, " "))
	}
	checks := tasks(forge.Event{Kind: forge.RunEvent, Action: forge.ActionCompleted, Repo: shop, Head: sha(1)})
	if len(checks) != 1 || checks[0] != (queue.Task{
		Kind: queue.CheckCI, Repo: shop, Head: sha(1), Reason: "run completed",
	}) {
		t.Errorf("a check of no pull request: %+v", checks)
	}
	many := forge.Event{Kind: forge.RunEvent, Repo: shop, Head: sha(1)}
	for i := range forge.MaxEventList {
		many.Pulls = append(many.Pulls, i+1)
	}
	needs.Equal(t, maxPullsOfEvent, len(tasks(many)))
}
