package fix

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/pulltest"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// editor is an engine that finds the findings, and edits the copy of a fix or a merge.
type editor struct {
	pulltest.Engine
	edit  func(tree string) (addressed []string) // of a fix: ids as in the prompt
	merge func(tree string)
	tasks []engine.Task
}

func (e *editor) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	if !t.Edit {
		return e.Engine.Run(ctx, t)
	}
	e.tasks = append(e.tasks, t)
	type addressed struct {
		Thread string `json:"thread"`
		How    string `json:"how"`
	}
	answer := struct {
		Addressed []addressed `json:"threads_addressed,omitempty"`
		Summary   string      `json:"summary"`
	}{Summary: "Checked the list."}
	if t.Role == engine.Merger {
		e.merge(t.Tree)
	} else {
		for _, id := range e.edit(t.Tree) {
			answer.Addressed = append(answer.Addressed, addressed{id, "An empty list has the average 0. @team [skip ci]"})
		}
	}
	data, err := json.Marshal(answer)
	return engine.Answer{Status: precedent.StatusOK, JSON: data, Usage: precedent.Usage{Requests: 1}}, err
}

// fixStage is a pull request on a scripted GitHub with git over HTTP, which has two findings.
type fixStage struct {
	*pulltest.Stage
	env        *workspace.Env
	connection workspace.Connection
	git        *forgetest.Git
	acme       *forgetest.Repo
	bare       string
	head       string
}

// newFixStage opens pull request 7 of acme/shop from the branch feature. base are more files of
// the base, by name. It is reviewed: two threads are open.
func newFixStage(t *testing.T, base map[string]string) *fixStage {
	t.Helper()
	s := &fixStage{Stage: &pulltest.Stage{Stage: forgetest.NewStage(t), T: t, Home: t.TempDir()}}
	s.env = pulltest.NewEnv(s.Home, s.Clock)
	root, work := filepath.Join(s.Home, "root"), filepath.Join(s.Home, "work")
	s.bare = filepath.Join(root, "acme", "shop.git")
	pulltest.Git(t, s.Home, s.Home, "init", "-q", "--bare", "-b", "main", s.bare)
	pulltest.Git(t, s.Home, s.Home, "init", "-q", "-b", "main", work)
	pulltest.Write(t, work, "a.txt", "one\n")
	pulltest.Commit(t, s.Home, work, "base", base)
	pulltest.Git(t, s.Home, work, "checkout", "-q", "-b", "feature")
	pulltest.Write(t, work, "run.sh", "echo run\n")
	needs.NoError(t, os.Chmod(filepath.Join(work, "run.sh"), 0o700))
	pulltest.Commit(t, s.Home, work, "Add a till", map[string]string{"till.js": pulltest.Till})
	pulltest.Git(t, s.Home, work, "push", "-q", s.bare, "main", "feature")

	server := s.GitHub(t)
	s.git = server.Git(root)
	s.acme = &forgetest.Repo{
		ID: 700, Owner: "acme", Name: "shop", Pulls: map[int]*forgetest.Pull{}, ProtectedBranches: []string{"main"},
		Members: []forgetest.Member{
			{Person: forgetest.Ann, Permission: forge.Write},
			{Person: forgetest.Bot, Permission: forge.Write},
		},
	}
	s.World.Add(s.acme)
	repo := precedent.Repo{Owner: "acme", Name: "shop"}
	s.Pull = &forgetest.Pull{PullRequest: forge.PullRequest{
		Number: 7, Title: "Add a till", Author: forgetest.Ann, Updated: forgetest.Epoch, Ref: "refs/pull/7/head",
		Base: forge.Branch{Repo: repo, Name: "main"}, Head: forge.Branch{Repo: repo, Name: "feature"},
	}}
	s.git.Open(s.acme, s.Pull)
	s.head = s.Pull.Head.SHA
	key := needs.Value(comment.NewKey(pulltest.MarkerKey))(t)
	s.connection = workspace.Connection{
		Forge: s.Connect(server.URL), Known: true, Key: key, Secrets: []string{forgetest.Secret},
		Token: func(context.Context, precedent.Repo) (string, error) { return forgetest.Secret, nil },
	}
	needs.NoError(t, s.review())
	return s
}

// review reviews the pull request, and posts that.
func (s *fixStage) review() error {
	e := &pulltest.Engine{Arrive: pulltest.Meeting(1)}
	return s.publish(s.T.Context(), func(p *pull.Publisher) error {
		_, err := p.Review(s.T.Context(), newJob(e), pull.Hooks{})
		return err
	})
}

// publish opens the pull request.
func (s *fixStage) publish(ctx context.Context, use func(*pull.Publisher) error) error {
	repo, err := pull.OpenRepository(ctx, s.env, workspace.Location{Dir: s.Home},
		precedent.Repo{Host: s.connection.Host(), Owner: "acme", Name: "shop"})
	if err != nil {
		return err
	}
	defer repo.Close()
	p, err := pull.Read(ctx, s.env, s.connection, repo, 7)
	if err != nil {
		return err
	}
	defer p.Close()
	publisher, err := p.Publisher(ctx)
	if err != nil {
		return err
	}
	return use(publisher)
}

// ungated is for rounds in repositories without a gate.
var ungated = Options{Ungated: true}

// pushed does a fix round, which must push.
func (s *fixStage) pushed(e engine.Engine, o Options) Result {
	s.T.Helper()
	got, err := s.fix(e, o)
	if err != nil || got.Status != Pushed {
		s.T.Fatalf("%+v, %v", got, err)
	}
	return got
}

// fix does a fix round.
func (s *fixStage) fix(e engine.Engine, o Options) (Result, error) {
	s.T.Helper()
	return s.fixIn(s.T.Context(), e, o)
}

// killWhilePosting begins a round that is killed after its first comment on the pull request.
func (s *fixStage) killWhilePosting(e engine.Engine) {
	s.T.Helper()
	ctx, kill := context.WithCancel(s.T.Context())
	defer kill()
	s.Script.Plan(forgetest.Fault{Method: http.MethodPost, On: "/issues/7/comments", CallAfter: kill})
	if got, err := s.fixIn(ctx, e, ungated); err == nil {
		s.T.Fatalf("the killed round ended: %+v", got)
	}
}

func (s *fixStage) fixIn(ctx context.Context, e engine.Engine, o Options) (did Result, err error) {
	s.T.Helper()
	err = s.publish(ctx, func(p *pull.Publisher) error {
		did, err = Round(ctx, p, newJob(e), o)
		return err
	})
	return did, err
}

// average makes the average of nothing 0, which is what one of the findings is about.
func (s *fixStage) average(tree string) {
	data := needs.Value(os.ReadFile(filepath.Join(tree, "till.js")))(s.T)
	pulltest.Write(s.T, tree, "till.js", strings.Replace(string(data), "  return sum / items.length",
		"  return items.length ? sum / items.length : 0", 1))
}

// fixer is an engine that fixes the average.
func (s *fixStage) fixer() *editor {
	return s.editing(s.average, "t2", "t2", "t99")
}

// served runs git in the repository that the forge serves.
func (s *fixStage) served(args ...string) string {
	s.T.Helper()
	return pulltest.Git(s.T, s.Home, s.bare, args...)
}

// bodies are the comments of ours of a kind.
func (s *fixStage) bodies(kind comment.Kind) []string {
	w := comment.Writer{
		Key: s.connection.Key,
		PullRequest: comment.PullRequest{
			Repo: precedent.Repo{Host: s.connection.Host(), Owner: "acme", Name: "shop"}, RepoID: "700", Number: 7,
		},
	}
	var all []string
	for _, c := range s.World.By(s.Pull, forgetest.Bot) {
		if m, ok := w.Read(string(c.Body)); ok && m.Kind == kind {
			all = append(all, string(c.Body))
		}
	}
	return all
}

// markOf is the marker of a comment, regardless of its signature.
func markOf(body string) comment.Marker {
	m, _ := (comment.Writer{}).Read(body)
	return m
}

func TestFix(t *testing.T) {
	s := newFixStage(t, nil)
	e := s.fixer()
	got := s.pushed(e, ungated)
	if len(got.Addressed) != 1 || got.Commit == "" || !strings.Contains(string(got.Patch), "+  return items.length ?") {
		t.Fatalf("%+v\n%s", got, got.Patch)
	}
	if now := s.served("rev-parse", "feature"); now != got.Commit || s.Pull.Head.SHA != got.Commit {
		t.Errorf("feature is at %s, the pull request at %s, want %s", now, s.Pull.Head.SHA, got.Commit)
	}
	if said := s.served("log", "-1", "--format=%an <%ae>|%cn|%P|%B",
		"feature"); said != "precedent <precedent@users.noreply.invalid>|precedent|"+s.head+"|Address review "+
		"comments\n\nPrecedent-Review: "+got.Review {
		t.Errorf("the commit is %q", said)
	}
	if changed := s.served("diff", "--raw", "--abbrev=1", s.head, "feature"); !strings.Contains(changed,
		":100644 100644 ") || strings.Count(changed, "\n") > 0 || !strings.HasSuffix(changed, "M\ttill.js") {
		t.Errorf("changed %s", changed)
	}
	if pushes := s.git.Pushes(); len(pushes) != 1 || pushes[0].Ref != "refs/heads/feature" || pushes[0].Old != s.head {
		t.Errorf("pushes %+v", pushes)
	}
	replies, fixed := s.bodies(comment.Reply), s.bodies(comment.Fixed)
	if len(replies) != 1 || !strings.HasPrefix(replies[0], "**Addressed:**") ||
		markOf(replies[0]).Review != got.Review || markOf(replies[0]).Thread != got.Addressed[0] ||
		strings.Contains(replies[0], "@team") {
		t.Errorf("replies %q", replies)
	}
	if len(fixed) != 1 || markOf(fixed[0]).Review != got.Review {
		t.Errorf("notes %q", fixed)
	}
	needs.Equal(t, 1, len(e.tasks))
	if _, err := os.Stat(e.tasks[0].Tree); !os.IsNotExist(err) {
		t.Error("the copy is left")
	}
	for _, secret := range []string{forgetest.Secret, pulltest.MarkerKey} {
		if strings.Contains(e.tasks[0].System+e.tasks[0].User(), secret) {
			t.Error("the task has a secret")
		}
	}

	// Fault row 55: until a review has read the commit, there is nothing to fix.
	again, err := s.fix(e, ungated)
	if err != nil || again.Status != Pushed || again.Commit != got.Commit || len(e.tasks) != 1 ||
		len(s.git.Pushes()) != 1 {
		t.Errorf("again: %+v, %v, %d tasks", again, err, len(e.tasks))
	}
	needs.Equal(t, 2, len(s.bodies(comment.Reply))+len(s.bodies(comment.Fixed)))
	// The next review answers in its threads as always.
	needs.NoError(t, s.review())
}

// newJob is a job of the engine.
func newJob(e engine.Engine) run.Job {
	return run.Job{
		Settings: &settings.Settings{FailOn: settings.Value[precedent.Severity]{Value: precedent.High}},
		Engine: workspace.EngineSetup{New: func(o workspace.EngineOptions) (engine.Engine, func() error) {
			return o.Budget.Within(e), func() error { return nil }
		}},
	}
}
