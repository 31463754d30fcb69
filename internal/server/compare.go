package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

type news struct {
	tasks []queue.Task
	seen  []store.WatchedPull // those that changed, as they are now
	gone  []int               // those that are no longer open
}

// maxTitle limits the stored title of a pull request, in characters.
const maxTitle = 200

// unsettled is how old an update is, by the forge's clock, after which no other one can have the same time: forges
// tell whole seconds.
const unsettled = 3 * time.Second

// compare compares the open pull requests of a repository with how they were last seen. now is what the
// forge's clock said at most took after it listed them. Its times are compared only with each other: our clock may differ.
func compare(repo precedent.Repo, before map[int]store.WatchedPull, open []forge.PullRequest, now time.Time,
	took time.Duration,
) news {
	var n news
	listed := map[int]bool{}
	for i := range open {
		p := &open[i]
		listed[p.Number] = true
		is := store.WatchedPull{
			Pull: p.Number, Head: p.Head.SHA, Shape: shapeOf(p), Updated: p.Updated,
			Title: text.VisibleLine(text.Cut(secret.RedactText(string(p.Title)), maxTitle)), Labels: slices.Sorted(slices.Values(p.Labels)),
		}
		if now.Sub(p.Updated).Abs() < unsettled+took { // it is looked at once more
			is.Updated = p.Updated.Add(-time.Millisecond)
		}
		was, known := before[p.Number]
		task := queue.Task{Kind: queue.Review, Repo: repo, Pull: p.Number, Head: is.Head}
		switch {
		case !known:
			task.Reason = "poll: new"
		case was.Head != is.Head:
			task.Reason = "poll: push"
		case was.Shape != is.Shape:
			task.Reason = "poll: changed"
		case !was.Updated.Equal(p.Updated): // somebody commented, or edited a text
			task = queue.Task{Kind: queue.Reply, Repo: repo, Pull: p.Number, Reason: "poll: updated"}
		default:
			continue
		}
		n.tasks = append(n.tasks, task)
		n.seen = append(n.seen, is)
	}
	for pull := range before {
		if !listed[pull] {
			n.gone = append(n.gone, pull)
		}
	}
	slices.Sort(n.gone)
	for _, pull := range n.gone { // somebody may have commented right before
		for _, kind := range []queue.Kind{queue.Reply, queue.Outcomes} {
			n.tasks = append(n.tasks, queue.Task{Kind: kind, Repo: repo, Pull: pull, Reason: "poll: closed"})
		}
	}
	if len(n.gone) > 0 {
		n.tasks = append(n.tasks, queue.Task{Kind: queue.CatchUp, Repo: repo, Reason: "poll: closed"})
	}
	return n
}

// shapeOf stands for what, beside the head, can make a review due: labels, the base, whether it is a
// draft or locked, and who is asked for a review.
func shapeOf(p *forge.PullRequest) string {
	labels, asked := slices.Clone(p.Labels), []precedent.ForgeID{}
	for _, who := range p.Requested {
		asked = append(asked, who.ID)
	}
	slices.Sort(labels)
	slices.Sort(asked)
	text, _ := json.Marshal([]any{labels, p.Base.Name, p.Draft, p.Locked, asked}) // these always have a form
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
