package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
)

// maxPatch bounds the diff that Patch returns, in bytes.
const maxPatch = 16 << 20

// history is the opened git repository of a folder; nil if it has none.
type history struct{ repo *git.Repo }

// history opens the repository for one request, so that each request sees the latest
// pushes.
func (f *Forge) history(ctx context.Context, r repository) (*history, error) {
	if r.Git == "" {
		return nil, nil
	}
	repo, err := git.Open(ctx, r.Git, f.git)
	if err != nil {
		return nil, err
	}
	return &history{repo}, nil
}

func (h *history) close() {
	if h != nil {
		h.repo.Close()
	}
}

// resolve fills in the commits of base and head.
func (h *history) resolve(ctx context.Context, s *pullRequest) error {
	for _, e := range []*pullEnd{&s.Base, &s.Head} {
		if e.SHA != "" || s.explicit() {
			continue
		}
		rg, err := h.repo.Resolve(ctx, git.Spec{Whole: e.Ref})
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		e.SHA = rg.Head
	}
	return nil
}

// between returns the range from the merge base to the head.
func (h *history) between(ctx context.Context, s *pullRequest) (git.Range, error) {
	if err := h.resolve(ctx, s); err != nil {
		return git.Range{}, err
	}
	return h.repo.Resolve(ctx, git.Spec{Range: s.Base.SHA + "..." + s.Head.SHA})
}

// change returns the changes of the pull request.
func (h *history) change(ctx context.Context, s *pullRequest) (*diff.Change, error) {
	if s.explicit() {
		c, err := diff.ParsePatch(strings.NewReader(s.diff()), diff.DefaultLimits)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		return c, nil
	}
	rg, err := h.between(ctx, s)
	if err != nil {
		return nil, err
	}
	return h.compare(ctx, rg)
}

func (h *history) compare(ctx context.Context, rg git.Range) (*diff.Change, error) {
	var c *diff.Change
	err := h.repo.ForgeDiff(ctx, rg, func(r io.Reader) error {
		var err error
		c, err = diff.Parse(r, diff.DefaultLimits)
		return err
	})
	return c, err
}

// Patch returns the diff of a pull request, of at most 16 MiB.
func (f *Forge) Patch(ctx context.Context, repo precedent.Repo, number int) ([]byte, []precedent.SkippedFile, error) {
	doing := fmt.Sprintf("read diff of pull request %s#%d", repo, number)
	s, err := f.loadPull(ctx, repo, number)
	if err != nil {
		return nil, nil, fail(doing, err)
	}
	var patch []byte
	if s.explicit() {
		patch = []byte(s.diff())
	} else {
		h, err := f.history(ctx, s.repository)
		if err != nil {
			return nil, nil, fail(doing, err)
		}
		defer h.close()
		rg, err := h.between(ctx, &s)
		if err == nil {
			err = h.repo.ForgeDiff(ctx, rg, func(r io.Reader) error {
				var err error
				patch, err = plainPatch(r)
				return err
			})
		}
		if err != nil {
			return nil, nil, fail(doing, err)
		}
	}
	if len(patch) > maxPatch {
		return nil, nil, &forge.Error{Kind: forge.KindTooLarge, Msg: doing + ": the diff is larger than 16 MiB"}
	}
	return patch, nil, nil
}

// plainPatch drops the records of files that git prints before a patch, up to an
// empty record. It reads little more than a patch may have.
func plainPatch(r io.Reader) ([]byte, error) {
	in := bufio.NewReader(io.LimitReader(r, 2*maxPatch))
	for {
		record, err := in.ReadBytes(0)
		if errors.Is(err, io.EOF) && len(record) == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if len(record) == 1 {
			return io.ReadAll(in)
		}
	}
}

// outdatedFinder finds comments on code that has changed since.
type outdatedFinder struct {
	h    *history
	head string
	now  *diff.Change            // the changes of the pull request
	then map[string]*diff.Change // by commit: the changes since then; nil if unknown
}

// outdated reports whether the lines of a comment have changed.
func (a *outdatedFinder) outdated(ctx context.Context, c comment) bool {
	if c.Commit == a.head {
		return false
	}
	if c.Start == 0 || c.Side == precedent.Left {
		// The file is in the pull request, and so are its old lines.
		for i := range a.now.Files {
			file := &a.now.Files[i]
			if file.Path == c.Path || file.OldPath == c.Path {
				return c.Start > 0 && file.HunkAt(precedent.Left, c.Start) < 0
			}
		}
		return true
	}
	since, asked := a.then[c.Commit]
	if !asked {
		since = a.since(ctx, c.Commit)
		a.then[c.Commit] = since
	}
	if since == nil {
		return true
	}
	for i := range since.Files {
		if file := &since.Files[i]; file.OldPath == c.Path {
			return file.Status == diff.Deleted || file.Binary || touchesLines(file, c.Start, c.End)
		}
	}
	return false
}

// since returns the changes from a commit to the head; nil if the commit no longer
// exists.
func (a *outdatedFinder) since(ctx context.Context, commit string) *diff.Change {
	rg, err := a.h.repo.Resolve(ctx, git.Spec{Range: commit + ".." + a.head})
	if err != nil {
		return nil
	}
	c, err := a.h.compare(ctx, rg)
	if err != nil {
		return nil
	}
	return c
}

// touchesLines reports whether a change deletes lines of the old file, or inserts
// lines between them. A file whose diff exceeds a limit counts as changed.
func touchesLines(f *diff.File, start, end int) bool {
	if f.TooLarge {
		return true
	}
	for _, h := range f.Hunks {
		if h.Cut != "" {
			return true
		}
		before := h.OldStart - 1 // the old line before the one that is looked at
		if h.OldLines == 0 {
			before = h.OldStart
		}
		for _, l := range h.Lines {
			switch {
			case l.Op == diff.Delete && start <= l.Old && l.Old <= end:
				return true
			case l.Op == diff.Add && start <= before && before < end:
				return true
			}
			if l.Op != diff.Add {
				before = l.Old
			}
		}
	}
	return false
}
