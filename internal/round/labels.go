package round

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// labelNames returns the names of the labels: the policy's, then the default. If they cannot be
// used together, the policy's do not count.
func labelNames(ctx context.Context, r *workspace.Env, policy label.Names) label.Names {
	names := policy.WithDefaults(label.DefaultNames())
	if err := names.Validate(); err != nil {
		r.Notice(ctx, "%v; the policy's labels are not used", err)
		return label.DefaultNames()
	}
	return names
}

// labelsTime is how long other rounds leave the labels of a repository to the one that creates them. It may have
// been killed.
const labelsTime = 5 * time.Minute

// makeLabels creates the labels of the cycle in the repository, once for each set of names: people have to
// be able to choose them. Reviews do not need them, so that only an end of the job is an error. One round at a
// time does so, because Gitea makes a second label of the same name.
func (x *round) makeLabels(ctx context.Context) error {
	if !slices.Contains(x.triggers.On, precedent.OnLabel) {
		return nil
	}
	names := x.names.All()
	const ofRepository = 0 // no pull request has this number
	p := x.pub
	key := "labels." + workspace.ShortHash(strings.Join(names, "\n"))
	handled, err := p.Rows.HandledComments(ctx, ofRepository)
	if err != nil {
		return err
	}
	now := p.Pull.Env.Now()
	before, begun := handled[key] // the hash is empty once they are made
	if begun && (before.Hash == "" || now.Sub(before.At) < labelsTime) {
		return nil
	}
	made := store.HandledComment{Comment: key, Document: json.RawMessage("{}"), At: now}
	making := made
	making.Hash = now.Format(time.RFC3339Nano)
	if mine, err := p.Rows.SaveHandledOnce(ctx, ofRepository, before, making); err != nil || !mine {
		return err
	}
	unsupported, err := p.Pull.Conn.MakeLabels(ctx, p.Pull.Repo.Repo, names)
	if e, ok := errors.AsType[*forge.Error](err); ok && ctx.Err() == nil && e.Kind != forge.KindRate &&
		e.Kind != forge.KindFenced {
		unsupported, err = forge.Unsupported(e.Msg), nil
	}
	if err != nil {
		return err
	}
	if unsupported != "" {
		p.Pull.Env.Notice(ctx, "%s; create them on the forge: %s", unsupported, strings.Join(names, ", "))
	}
	return p.Rows.SaveHandled(ctx, ofRepository, made)
}

// enter gives the pull request the label of a state, and takes the others away. It first reads
// the pull request again: nothing is changed if its head has moved or if people have changed its
// labels, which count more.
func (x *round) enter(ctx context.Context, to label.State) error {
	pull := x.pub.Pull
	now, err := pull.Conn.PullRequest(ctx, pull.Repo.Repo, pull.Number)
	switch {
	case err != nil:
		return pull.Conn.Explain(err)
	case now.State != forge.Open:
		x.did.Why = "it was closed meanwhile"
		return nil
	case now.Head.SHA != pull.Head.SHA:
		x.did.Why, x.did.Again = "it has new commits, so that the result does not count", soon
		return nil
	case label.Of(now.Labels, x.names) != x.did.Before:
		x.did.Why, x.did.Again = "its labels were changed meanwhile", soon
		return nil
	}
	add, remove := label.Swap(now.Labels, x.names, to)
	if x.did.After = to; add == "" && len(remove) == 0 {
		return nil
	}
	// Before, because this process may be killed after the change; and after it, because a poll may
	// look in between.
	if err := x.pub.Rows.ForgetWatchedShape(ctx, pull.Number); err != nil {
		return err
	}
	x.did.After = x.did.Before
	if err := x.swap(ctx, add, remove, to); err != nil {
		return err
	}
	return x.pub.Rows.ForgetWatchedShape(ctx, pull.Number)
}

func (x *round) swap(ctx context.Context, add string, remove []string, to label.State) error {
	pull := x.pub.Pull
	if add != "" {
		unsupported, err := pull.Conn.AddLabel(ctx, pull.Repo.Repo, pull.Number, add)
		if no := denied(unsupported, err); no != "" {
			return x.sayUnlabelled(ctx, add, no)
		}
		if err != nil {
			return pull.Conn.Explain(err)
		}
	}
	x.did.After = to
	for _, name := range remove {
		now, err := pull.Conn.PullRequest(ctx, pull.Repo.Repo, pull.Number)
		if err != nil {
			return pull.Conn.Explain(err)
		}
		if !slices.Contains(label.Found(now.Labels, x.names), to) { // what a person set meanwhile stays
			x.did.Why, x.did.Again = "its labels were changed meanwhile", soon
			return nil
		}
		unsupported, err := pull.Conn.RemoveLabel(ctx, pull.Repo.Repo, pull.Number, name)
		if no := denied(unsupported, err); no != "" {
			return x.sayUnlabelled(ctx, name, no)
		}
		if err != nil {
			return pull.Conn.Explain(err)
		}
	}
	return nil
}

// mayLabel reports whether labels can be changed now: it adds the one that the pull request has.
func (x *round) mayLabel(ctx context.Context) (bool, error) {
	p := x.pub.Pull
	for _, name := range p.Labels {
		if !slices.Contains(label.Found([]string{name}, x.names), x.did.Before) {
			continue
		}
		unsupported, err := p.Conn.AddLabel(ctx, p.Repo.Repo, p.Number, name)
		if denied(unsupported, err) != "" {
			return false, nil
		}
		return err == nil, p.Conn.Explain(err)
	}
	return true, nil
}

// denied says why the forge does not let us change a label; empty if it does, or if the request failed.
func denied(unsupported forge.Unsupported, err error) string {
	if e, ok := errors.AsType[*forge.Error](err); ok && e.Kind == forge.KindAuth {
		return e.Msg
	}
	return string(unsupported)
}

// sayUnlabelled says, once for a head, that a label could not be changed. What was reviewed counts
// all the same.
func (x *round) sayUnlabelled(ctx context.Context, name, why string) error {
	x.did.Why, x.did.Again = "the label "+name+" could not be changed: "+why, relabelPause
	x.pub.Pull.Env.Notice(ctx, "#%d: %s", x.pub.Pull.Number, x.did.Why)
	return x.say(ctx, comment.Remark, x.unlabelledKey(), "", comment.Note{
		Lead:  "**A label could not be changed.** The cycle of reviews and fixes waits for somebody who may change it:",
		Items: []comment.NoteItem{{Name: name, Words: why}},
	})
}

// unlabelledKey identifies the note of sayUnlabelled.
func (x *round) unlabelledKey() string { return "labels." + x.pub.Pull.Head.SHA }
