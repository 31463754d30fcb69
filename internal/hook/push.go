package hook

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/precedent-dev/precedent/internal/git"
)

// maxInput is how much git may say about a push, in bytes.
const maxInput = 8 << 20

// Pushed is one ref of a push, as git tells its hook; see githooks(5).
type Pushed struct{ LocalRef, Local, RemoteRef, Remote string }

// ReadPushed reads what git tells. What a push deletes is left out.
func ReadPushed(in io.Reader) ([]Pushed, error) {
	var all []Pushed
	lines := bufio.NewScanner(io.LimitReader(in, maxInput))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 4 || !git.IsObjectID(f[1]) || !git.IsObjectID(f[3]) {
			return nil, fmt.Errorf("read push: %q is not what git tells a hook", lines.Text())
		}
		if isZeroID(f[1]) {
			continue
		}
		all = append(all, Pushed{LocalRef: f[0], Local: f[1], RemoteRef: f[2], Remote: f[3]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read push: %w", err)
	}
	return all, nil
}

// shortRef is the name of a branch or tag without what all have in common.
func shortRef(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/tags/")
}

func isZeroID(id string) bool { return strings.Trim(id, "0") == "" }

// Range returns the commits of a ref that the remote does not have yet; the zero Spec if it has all. Of a new
// ref, these are the commits that it adds to the remote's default branch, as last fetched; without a known remote
// branch, all commits. What the ref was rebased onto or has merged of a default branch is left out, unless the ref
// becomes one itself, which others may read. The names of the range are those of the refs.
func (ref Pushed) Range(ctx context.Context, repo *git.Repo, remote string) (git.Spec, error) {
	if ref.Local == ref.Remote {
		return git.Spec{}, nil
	}
	bases := []string{}
	names := git.Spec{HeadName: shortRef(ref.LocalRef), Trunks: []string{"upstream", "origin", remote}}
	if !isZeroID(ref.Remote) {
		bases = append(bases, ref.Remote)
		branch := shortRef(ref.RemoteRef)
		names.BaseName = remote + "/" + branch
		if branch == "main" || branch == "master" {
			names.Trunks = nil
		}
	}
	for _, name := range []string{remote, "origin", "upstream"} {
		base, err := repo.DefaultBranch(ctx, name)
		if err != nil {
			return git.Spec{}, err
		}
		if base != "" {
			bases = append(bases, base)
		}
		if name == remote && base == ref.Remote {
			names.Trunks = nil
		}
	}
	var failed error
	for _, base := range bases {
		spec := names
		spec.Range = base + "..." + ref.Local
		if base != ref.Remote {
			spec.BaseName = base[:12]
		}
		rg, err := repo.Resolve(ctx, spec)
		switch {
		case ctx.Err() != nil:
			return git.Spec{}, err
		case err != nil: // not fetched, or without a common ancestor
			failed = err
		case rg.Base == rg.Head:
			return git.Spec{}, nil
		default:
			return spec, nil
		}
	}
	if len(bases) == 0 {
		names.Whole = ref.Local
		return names, nil
	}
	return git.Spec{}, failed
}
