package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/pulltest"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// TestBaseThatCannotBeRead: guide, policy and attributes are "read from base SHA"; where that
// fails, the review is "fail closed = neutral/incomplete", never clean.
func TestBaseThatCannotBeRead(t *testing.T) {
	has := func(name, text string) func(t *testing.T, work string) {
		return func(t *testing.T, work string) { pulltest.Write(t, work, name, text) }
	}
	index := func(t *testing.T, work, entry string) {
		pulltest.Git(t, filepath.Dir(work), work, "update-index", "--add", "--cacheinfo", entry)
	}
	for _, test := range []struct {
		name  string
		base  func(t *testing.T, work string) // what main gets before the change
		after func(t *testing.T, work string)
		want  precedent.Verdict
	}{
		{"nothing to read", nil, nil, precedent.NoFindings},
		{"all is well", func(t *testing.T, work string) {
			pulltest.Write(t, work, ".precedent.yaml", "threshold: 60\n")
			pulltest.Write(t, work, "CLAUDE.md", "- Never divide by zero.\n")
			pulltest.Write(t, work, ".gitattributes", "*.pb.js linguist-generated\n")
		}, nil, precedent.NoFindings},
		{"a folder is the policy", has(".precedent.yaml/x", ""), nil, precedent.NoFindings},
		{"a folder is the guide", has("CLAUDE.md/x", ""), nil, precedent.Partial},
		{"a submodule is the policy", func(t *testing.T, work string) {
			index(t, work, "160000,"+strings.Repeat("1", 40)+",.precedent.yaml")
		}, nil, precedent.NoFindings},
		{"a link is the policy", func(t *testing.T, work string) {
			blob := strings.TrimSpace(pulltest.Git(t, filepath.Dir(work), work, "rev-parse", "HEAD:a.txt"))
			index(t, work, "120000,"+blob+",.precedent.yaml")
		}, nil, precedent.NoFindings},
		{"the policy is malformed", has(".precedent.yaml", "treshold: 60\n"), nil, precedent.NoFindings},
		{
			"the policy is too large", has(".precedent.yaml", strings.Repeat("# x\n", maxPolicy/4+1)), nil,
			precedent.NoFindings,
		},
		{"the guide is too large", has("AGENTS.md", strings.Repeat("- Never panic.\n", 1<<20)), nil, precedent.Partial},
		{"the guide is not text", has("AGENTS.md", "\xff\xfe- Never panic.\n"), nil, precedent.Partial},
		{"the policy is missing", has(".precedent.yaml", "threshold: 60\n"), lose(".precedent.yaml"), precedent.Partial},
		{"the guide is missing", has("CLAUDE.md", "- Never panic.\n"), lose("CLAUDE.md"), precedent.Partial},
		{"the attributes are missing", has(".gitattributes", "*.js text\n"), lose(".gitattributes"), precedent.Partial},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := t.TempDir()
			work := pulltest.Repository(t, home)
			if test.base != nil {
				pulltest.Git(t, home, work, "checkout", "-q", "main")
				test.base(t, work)
				pulltest.Git(t, home, work, "add", "--ignore-removal", ".")
				pulltest.Git(t, home, work, "commit", "-q", "-m", "base")
				pulltest.Git(t, home, work, "checkout", "-q", "-f", "feature")
				pulltest.Git(t, home, work, "rebase", "-q", "main")
			}
			if test.after != nil {
				test.after(t, work)
			}
			r := newEnv(home, forgetest.NewStage(t).Clock)
			if got := reviewLocal(t, r, work, git.Spec{Range: "main...feature"}); got.Verdict != test.want {
				t.Errorf("%s, want %s; %+v", got.Verdict, test.want, got.Failures)
			}
		})
	}
}

// lose removes the content of a file of main from the repository.
func lose(name string) func(t *testing.T, work string) {
	return func(t *testing.T, work string) {
		t.Helper()
		id := pulltest.Git(t, filepath.Dir(work), work, "rev-parse", "main:"+name)
		needs.NoError(t, os.Remove(filepath.Join(work, ".git", "objects", id[:2], id[2:])))
	}
}

// reviewLocal reviews a local change without an engine.
func reviewLocal(t *testing.T, r *workspace.Env, work string, spec git.Spec) *precedent.Review {
	t.Helper()
	repo, err := r.OpenRepository(t.Context(), workspace.Location{Dir: work})
	needs.NoError(t, err)
	defer repo.Close()
	job := newJob(nil)
	job.Engine = workspace.EngineSetup{WhyNone: "none"}
	p, err := PrepareLocal(t.Context(), r, repo, spec, job)
	needs.NoError(t, err)
	defer p.Close()
	made, err := p.Run(t.Context(), Watch{})
	needs.NoError(t, err)
	return made.Review
}
