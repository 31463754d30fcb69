package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/hook"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Repository looks at a clone. The forge says which remotes are on it.
func (d *Diagnosis) Repository(ctx context.Context, repo *git.Repo, at forge.Address) {
	where := cmp.Or(repo.Top(), "bare")
	id, err := repo.Identity(ctx, at.Remote)
	_, none := repo.Resolve(ctx, git.Spec{Whole: "HEAD"})
	switch {
	case errors.Is(err, git.ErrNoCommits):
		d.Add("repository", OK, "a review reads what is not committed, and is not stored", "%s, no remote; no commit yet", where)
	case err != nil:
		d.AddError("repository", Missing, err)
	case none != nil:
		d.Add("repository", OK, "precedent review --staged and --worktree work", "%s, %s; no commit yet", where, id)
	case repo.Shallow():
		d.Add("repository", Warning, "git fetch --unshallow: a review needs the commit that the change starts from",
			"%s, %s; shallow clone", where, id)
	case id.IsLocal():
		d.Add("repository", OK, "with such a remote, all clones share the IDs of findings",
			"%s; no remote upstream or origin, so it is identified by its first commit", where)
	default:
		d.Add("repository", OK, "", "%s, %s", where, id)
	}
}

// Memory checks the memory of a repository if it exists. It creates nothing.
func (d *Diagnosis) Memory(ctx context.Context, r *workspace.Env, repo *workspace.Repository) {
	const name = "memory"
	file := repo.File.Value
	if repo.Foreign != nil {
		d.AddError(name, Warning, repo.Foreign)
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		probe, err := os.MkdirTemp(existing(filepath.Dir(file)), ".precedent-doctor-")
		if err != nil {
			d.Add(name, Warning, "make the folder writable, or set another file with --memory-db",
				"none yet, and reviews cannot create %s: %v", file, err)
			return
		}
		d.Add(name, OK, "", "none yet; the first review creates %s", file)
		_ = os.Remove(probe)
		return
	}
	db, err := r.OpenMemory(ctx, repo)
	if err != nil {
		d.AddError(name, Warning, err) // a review goes on without, and says so
		return
	}
	defer db.Close()
	schema, state, err := Undamaged(ctx, db)
	if err != nil {
		d.AddError(name, Warning, err)
		return
	}
	size, err := db.Size(ctx)
	if err != nil {
		d.AddError(name, Warning, err)
		return
	}
	about := fmt.Sprintf("%s, %d KiB, schema %d, %s", file, (size+1023)/1024, schema, state)
	others, err := workspace.OtherMemories(ctx, db, repo.IDs[0])
	switch {
	case err != nil:
		d.AddError(name, Warning, err)
	case len(others) > 0:
		d.Add(name, Warning, "if that is this repository: precedent memory adopt "+others[0].Name.String(),
			"%s; it has also %s under the name of %s", about, others[0].Has, others[0].Name)
	default:
		d.Add(name, OK, "", "%s", about)
	}
}

// existing returns the folder, or the first one above it that is there.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// Undamaged reads a database to detect damage, and returns its schema and what it found, for people. If the context has a
// deadline, it stops after half of the time: a page of a server cannot wait until gigabytes are read.
func Undamaged(ctx context.Context, db *store.DB) (schema int64, state string, err error) {
	within := ctx
	if at, limited := ctx.Deadline(); limited {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, time.Until(at)/2)
		defer cancel()
	}
	if schema, err = db.Check(within); err != nil && within.Err() != nil && ctx.Err() == nil {
		return schema, "too large to look for damage here; precedent doctor does", nil
	}
	return schema, "undamaged", err
}

// Policy checks the policy. Source is empty without a policy, and errs are its errors.
func (d *Diagnosis) Policy(p precedent.Policy, source string, errs []error) {
	const name = "policy"
	switch {
	case len(errs) > 0:
		d.AddError(name, Warning, errors.Join(errs...))
	case source == "":
		d.Add(name, OK, "precedent init writes one", "none: the defaults apply")
	default:
		if off := turnedOff(p); len(off) > 0 {
			source += "; it turns off or hides: " + strings.Join(off, ", ")
		}
		d.Add(name, OK, "", "%s", source)
	}
}

// turnedOff returns what a policy removes from a review.
func turnedOff(p precedent.Policy) []string {
	var off []string
	for name, on := range p.Finders {
		if !on {
			off = append(off, name)
		}
	}
	slices.Sort(off)
	if len(p.Ignore) > 0 {
		off = append(off, "findings in "+strings.Join(p.Ignore, ", "))
	}
	for _, f := range p.Floors {
		off = append(off, fmt.Sprintf("findings below %s in %s", f.Severity, f.Paths))
	}
	return off
}

// lastCommit returns a function that reads files of the last commit, nil if that is not possible. none is what there is
// without a commit.
func (d *Diagnosis) lastCommit(ctx context.Context, repo *git.Repo, name, none string) func(path string) ([]byte, error) {
	rg, err := repo.Resolve(ctx, git.Spec{Whole: "HEAD"})
	if err != nil {
		d.Add(name, OK, "", "%s: no commit yet", none)
		return nil
	}
	return run.FilesAt(repo.Blobs(ctx), rg.Head)
}

// Guide checks the guide at the last commit.
func (d *Diagnosis) Guide(ctx context.Context, repo *git.Repo) {
	const name = "guide"
	read := d.lastCommit(ctx, repo, name, "none")
	if read == nil {
		return
	}
	g, failures := guide.Load(read, guide.Files)
	var names []string
	for _, doc := range g.Docs {
		names = append(names, doc.Path)
	}
	switch {
	case len(failures) > 0:
		d.Add(name, Warning, "", "%s", failures[0].Error)
	case len(names) == 0:
		d.Add(name, OK, "write what reviewers should know into "+guide.Files[0]+" or AGENTS.md", "none")
	default:
		d.Add(name, OK, "", "%s; %s", strings.Join(names, ", "), report.Plural(len(g.Rules), "rule"))
	}
}

// Hook looks at the hook that reviews pushes.
func (d *Diagnosis) Hook(repo *git.Repo) {
	const name = "hook"
	h, err := hook.Inspect(repo)
	switch {
	case err != nil:
		d.AddError(name, Warning, err)
	case h.Ours:
		d.Add(name, OK, "", "%s", h.Path)
	case h.Husky:
		d.Add(name, OK, "add this line to "+h.Path+": "+hook.Line, "husky's: pushes are not reviewed")
	case h.Exists:
		d.Add(name, OK, "precedent install-hook --force keeps it and runs it from a new hook",
			"%s was not installed by precedent: pushes are not reviewed", h.Path)
	default:
		d.Add(name, OK, "precedent install-hook", "not installed: pushes are not reviewed")
	}
}
