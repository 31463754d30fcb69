package local

import (
	"context"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// MakeLabels does nothing: a pull request here can have any label.
func (f *Forge) MakeLabels(context.Context, precedent.Repo, []string) (forge.Unsupported, error) {
	return "", nil
}

// AddLabel adds a label to a pull request.
func (f *Forge) AddLabel(ctx context.Context, repo precedent.Repo, number int, label string) (forge.Unsupported, error) {
	doing := fmt.Sprintf("add label %q to %s#%d", label, repo, number)
	return "", fail(doing, f.relabel(ctx, repo, number, func(labels []string) []string {
		if slices.Contains(labels, label) {
			return labels
		}
		return append(labels, label)
	}))
}

// RemoveLabel removes a label from a pull request.
func (f *Forge) RemoveLabel(ctx context.Context, repo precedent.Repo, number int, label string) (forge.Unsupported, error) {
	doing := fmt.Sprintf("remove label %q from %s#%d", label, repo, number)
	return "", fail(doing, f.relabel(ctx, repo, number, func(labels []string) []string {
		return slices.DeleteFunc(labels, func(l string) bool { return l == label })
	}))
}

// relabel changes the labels in the file of a pull request.
func (f *Forge) relabel(ctx context.Context, repo precedent.Repo, number int, do func([]string) []string) error {
	s, err := f.loadPull(ctx, repo, number)
	switch {
	case err != nil:
		return err
	case s.Archived:
		return &forge.Error{Kind: forge.KindClosed, Msg: "the repository is archived"}
	}
	return updateFile(ctx, f, s.name, func(p *pull) error {
		p.Labels = do(p.Labels)
		return nil
	})
}
