package forge

import (
	"context"

	"github.com/precedent-dev/precedent"
)

// Fenced returns a forge that calls check right before everything that makes a change. If check
// returns an error, nothing is sent, and the error is an *Error of KindFenced that wraps it.
//
// It is for jobs that may lose their lease: a request that waits, for the rate limit or for the
// time between two changes, is checked after it waited, and each request of a change that takes
// several is checked. What was sent before stays.
func Fenced(f Forge, check func(context.Context) error) Forge {
	return fenced{Forge: f, check: check}
}

// fenced checks before each method that makes a change.
type fenced struct {
	Forge
	check func(context.Context) error
}

type fenceKey struct{}

// PassFence calls the check of the Fenced forge that a change is made through. Implementations
// call it right before each request that makes a change; the error is of KindFenced.
func PassFence(ctx context.Context) error {
	check, ok := ctx.Value(fenceKey{}).(func(context.Context) error)
	if !ok {
		return nil
	}
	if err := check(ctx); err != nil {
		return &Error{Kind: KindFenced, Msg: "not sent: " + err.Error(), Err: err}
	}
	return nil
}

// begin checks once, so that a forge that sends nothing is checked, too, and adds the fence to the
// context for the requests.
func (f fenced) begin(ctx context.Context) (context.Context, error) {
	ctx = context.WithValue(ctx, fenceKey{}, f.check)
	return ctx, PassFence(ctx)
}

func (f fenced) Post(ctx context.Context, repo precedent.Repo, number int, d Draft) (Posted, error) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return Posted{}, err
	}
	return f.Forge.Post(ctx, repo, number, d)
}

func (f fenced) Dismiss(ctx context.Context, repo precedent.Repo, number int, review precedent.ForgeID,
	why string,
) (Unsupported, error) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return "", err
	}
	return f.Forge.Dismiss(ctx, repo, number, review, why)
}

func (f fenced) Comment(ctx context.Context, repo precedent.Repo, number int, body string) (Comment, error) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return Comment{}, err
	}
	return f.Forge.Comment(ctx, repo, number, body)
}

func (f fenced) Reply(ctx context.Context, repo precedent.Repo, number int, to precedent.ForgeID, body string) (Comment,
	error,
) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return Comment{}, err
	}
	return f.Forge.Reply(ctx, repo, number, to, body)
}

func (f fenced) Edit(ctx context.Context, repo precedent.Repo, number int, c CommentRef, body string) error {
	ctx, err := f.begin(ctx)
	if err != nil {
		return err
	}
	return f.Forge.Edit(ctx, repo, number, c, body)
}

func (f fenced) Delete(ctx context.Context, repo precedent.Repo, number int, c CommentRef) (Unsupported, error) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return "", err
	}
	return f.Forge.Delete(ctx, repo, number, c)
}

func (f fenced) Resolve(ctx context.Context, repo precedent.Repo, number int, t Thread, closed bool) (Unsupported,
	error,
) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return "", err
	}
	return f.Forge.Resolve(ctx, repo, number, t, closed)
}

func (f fenced) MakeLabels(ctx context.Context, repo precedent.Repo, labels []string) (Unsupported, error) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return "", err
	}
	return f.Forge.MakeLabels(ctx, repo, labels)
}

func (f fenced) AddLabel(ctx context.Context, repo precedent.Repo, number int, label string) (Unsupported, error) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return "", err
	}
	return f.Forge.AddLabel(ctx, repo, number, label)
}

func (f fenced) RemoveLabel(ctx context.Context, repo precedent.Repo, number int, label string) (Unsupported, error) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return "", err
	}
	return f.Forge.RemoveLabel(ctx, repo, number, label)
}

func (f fenced) Check(ctx context.Context, repo precedent.Repo, c Check) (Unsupported, error) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return "", err
	}
	return f.Forge.Check(ctx, repo, c)
}

func (f fenced) Redeliver(ctx context.Context, repo precedent.Repo, d HookDelivery) (Unsupported, error) {
	ctx, err := f.begin(ctx)
	if err != nil {
		return "", err
	}
	return f.Forge.Redeliver(ctx, repo, d)
}

var _ Forge = fenced{}
