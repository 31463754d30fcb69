package workflow

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
)

// write writes a file of a work tree.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBaseThatCannotBeRead: guide, policy and attributes are "read from base SHA"; where that
// fails, the review is "fail closed = neutral/incomplete", never clean.
func TestBaseThatCannotBeRead(t *testing.T) {
	for _, test := range []struct {
		name  string
		base  func(t *testing.T, work string) // what main gets before the change
		after func(t *testing.T, work string)
		want  precedent.Verdict
	}{
		{"nothing to read", nil, nil, precedent.Clean},
		{"all is well", func(t *testing.T, work string) {
			write(t, work, ".precedent.yaml", "threshold: 60\n")
			write(t, work, "CLAUDE.md", "- Never divide by zero.\n")
			write(t, work, ".gitattributes", "*.pb.js linguist-generated\n")
		}, nil, precedent.Clean},
		{"a notice", func(t *testing.T, work string) { write(t, work, ".precedent.yaml", "gate: {}\n") }, nil, precedent.Clean},
		{"a folder is the policy", func(t *testing.T, work string) { write(t, work, ".precedent.yaml/x", "") }, nil, precedent.Clean},
		{"a folder is the guide", func(t *testing.T, work string) { write(t, work, "CLAUDE.md/x", "") }, nil, precedent.Partial},
		{"a folder has the attributes", func(t *testing.T, work string) { write(t, work, ".gitattributes/x", "") }, nil, precedent.Partial},
		{"a submodule is the policy", func(t *testing.T, work string) {
			runGit(t, filepath.Dir(work), work, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",.precedent.yaml")
		}, nil, precedent.Clean},
		{"a link is the policy", func(t *testing.T, work string) {
			blob := strings.TrimSpace(runGit(t, filepath.Dir(work), work, "rev-parse", "HEAD:a.txt"))
			runGit(t, filepath.Dir(work), work, "update-index", "--add", "--cacheinfo", "120000,"+blob+",.precedent.yaml")
		}, nil, precedent.Clean},
		{"the policy is malformed", func(t *testing.T, work string) { write(t, work, ".precedent.yaml", "treshold: 60\n") }, nil, precedent.Clean},
		{"the policy is not text", func(t *testing.T, work string) { write(t, work, ".precedent.yaml", "a: \x00\n") }, nil, precedent.Clean},
		{"the policy is too large", func(t *testing.T, work string) {
			write(t, work, ".precedent.yaml", strings.Repeat("# x\n", maxPolicy/4+1))
		}, nil, precedent.Clean},
		{"the guide is too large", func(t *testing.T, work string) {
			write(t, work, "AGENTS.md", strings.Repeat("- Never panic.\n", 1<<20))
		}, nil, precedent.Partial},
		{"the guide is not text", func(t *testing.T, work string) { write(t, work, "AGENTS.md", "\xff\xfe- Never panic.\n") }, nil, precedent.Partial},
		{"the attributes are too large", func(t *testing.T, work string) {
			write(t, work, ".gitattributes", strings.Repeat("#\n", MaxFile/2+1))
		}, nil, precedent.Partial},
		{"the policy is missing", func(t *testing.T, work string) { write(t, work, ".precedent.yaml", "threshold: 60\n") }, lose(".precedent.yaml"), precedent.Partial},
		{"the guide is missing", func(t *testing.T, work string) { write(t, work, "CLAUDE.md", "- Never panic.\n") }, lose("CLAUDE.md"), precedent.Partial},
		{"the attributes are missing", func(t *testing.T, work string) { write(t, work, ".gitattributes", "*.js text\n") }, lose(".gitattributes"), precedent.Partial},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := t.TempDir()
			work := repository(t, home)
			if test.base != nil {
				runGit(t, home, work, "checkout", "-q", "main")
				test.base(t, work)
				runGit(t, home, work, "add", "--ignore-removal", ".")
				runGit(t, home, work, "commit", "-q", "-m", "base")
				runGit(t, home, work, "checkout", "-q", "-f", "feature")
				runGit(t, home, work, "rebase", "-q", "main")
			}
			if test.after != nil {
				test.after(t, work)
			}
			r := newReviewer(home, forgetest.NewStage(t).Clock)
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
		id := runGit(t, filepath.Dir(work), work, "rev-parse", "main:"+name)
		if err := os.Remove(filepath.Join(work, ".git", "objects", id[:2], id[2:])); err != nil {
			t.Fatal(err)
		}
	}
}

// reviewLocal reviews a local change without an engine.
func reviewLocal(t *testing.T, r *Reviewer, work string, spec git.Spec) *precedent.Review {
	t.Helper()
	repo, err := r.OpenRepository(t.Context(), Location{Dir: work})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	job := newJob(nil)
	job.Engine = EngineSetup{WhyNone: "none"}
	p, err := r.PrepareLocal(t.Context(), repo, spec, job)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	made, err := p.Run(t.Context(), Watch{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Review
}

// TestPullThatGitRefuses: a line of 3,000 bytes in .gitattributes fails git's check of the
// head. The base is fetched alone, so that its guide and policy count; without the files of
// the head, the review is incomplete all the same.
func TestPullThatGitRefuses(t *testing.T) {
	s := newStage(t)
	work := filepath.Join(s.home, "work")
	runGit(t, s.home, work, "checkout", "-q", "main")
	write(t, work, ".precedent.yaml", "threshold: 60\n")
	write(t, work, "CLAUDE.md", "- Never divide by zero.\n")
	runGit(t, s.home, work, "add", "-A")
	runGit(t, s.home, work, "commit", "-q", "-m", "policy")
	runGit(t, s.home, work, "checkout", "-q", "feature")
	runGit(t, s.home, work, "rebase", "-q", "main")
	write(t, work, ".gitattributes", strings.Repeat("a", 3000)+"\n")
	runGit(t, s.home, work, "add", "-A")
	runGit(t, s.home, work, "commit", "-q", "-m", "attributes")
	runGit(t, s.home, work, "update-ref", "refs/pull/7/head", "feature")
	s.World.Change(func() {
		s.pull.Base.SHA, s.pull.Head.SHA = runGit(t, s.home, work, "rev-parse", "main"), runGit(t, s.home, work, "rev-parse", "feature")
		s.pull.Diff = runGit(t, s.home, work, "diff", "main...feature") + "\n"
	})
	repo, err := s.reviewer.OpenPullRepository(t.Context(), Location{Dir: s.home}, precedent.Repo{Host: s.connection.Host(), Owner: "acme", Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	pull, err := s.reviewer.ReadPull(t.Context(), s.connection, repo, 7)
	if err != nil {
		t.Fatal(err)
	}
	defer pull.Close()
	p, err := pull.Prepare(t.Context(), newJob(&scripted{arrive: meeting(1)}))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if in := p.Input; in.Policy.Threshold == nil || *in.Policy.Threshold != 60 || len(in.Guide.Docs) != 1 {
		t.Errorf("policy %+v, guide %+v", in.Policy, in.Guide)
	}
	made, err := p.Run(t.Context(), Watch{})
	if err != nil {
		t.Fatal(err)
	}
	refused := func(f precedent.Failure) bool { return f.Step == "fetch" && strings.Contains(f.Error, "gitattributes") }
	if made.Review.Verdict != precedent.Partial || made.Status != precedent.ExitIncomplete || !slices.ContainsFunc(made.Review.Failures, refused) {
		t.Errorf("%s, status %d, %+v", made.Review.Verdict, made.Status, made.Review.Failures)
	}
}
