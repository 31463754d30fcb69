package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// TestRequestedChangesAreTakenBack: the review that blocked the pull request is dismissed
// once everything is fixed, or a person is told who can dismiss it.
func TestRequestedChangesAreTakenBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(*shopPull) (page string)
		want    forgetest.ReviewState
		says    string
	}{
		"GitHub": {func(*shopPull) string { return "/pull/7" }, forgetest.Dismissed, ""},
		"a protected branch": {func(s *shopPull) string {
			world := s.door.stage.World
			world.Change(func() { world.Repo("octo", "app").Protected = true })
			return "/pull/7"
		}, forgetest.ChangesRequested, "allow the account to dismiss reviews"},
		"Gitea": {func(s *shopPull) string {
			s.toGitea(forgetest.Gitea127)
			return "/pulls/7"
		}, forgetest.Dismissed, ""},
		"Gitea, not as an administrator": {func(s *shopPull) string {
			s.toGitea(forgetest.Gitea127).Plain = true
			return "/pulls/7"
		}, forgetest.ChangesRequested, "an administrator of the repository has to dismiss"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShopPull(t)
			s.git(s.work, "checkout", "-q", "main")
			if err := os.WriteFile(filepath.Join(s.work, ".precedent.yaml"), []byte("request_changes: true\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			s.git(s.work, "add", ".precedent.yaml")
			s.git(s.work, "commit", "-q", "-m", "Request changes")
			s.git(s.work, "checkout", "-q", "-B", "feature", "main")
			s.push("Add a till", map[string]string{"src/till.js": tillFile})
			pull := test.prepare(s)
			page := s.door.URL + "/octo/app" + pull
			states := func() (all []forgetest.ReviewState) {
				for _, r := range s.door.stage.World.Reviews(s.pull) {
					if r.Author.ID == forgetest.Bot.ID && r.Inline > 0 {
						all = append(all, r.State)
					}
				}
				return all
			}
			status, said := s.run("pr", page, "--post", "--fail-on", "medium")
			if got := states(); status != precedent.ExitFindings || len(got) != 1 || got[0] != forgetest.ChangesRequested {
				t.Fatalf("status %d, reviews %v\n%s", status, got, said)
			}
			// One of three is fixed: the request stands.
			s.push("Guard the average", map[string]string{"src/till.js": strings.Replace(tillFile, "  return sum / items.length\n", guarded, 1)})
			if status, said = s.run("pr", page, "--post", "--fail-on", "medium"); status != precedent.ExitFindings || states()[0] != forgetest.ChangesRequested {
				t.Errorf("after one fix: status %d, reviews %v\n%s", status, states(), said)
			}
			s.push("Start again", map[string]string{"src/till.js": "// Nothing is sold here.\n"})
			status, said = s.run("pr", page, "--post", "--fail-on", "medium")
			if status != precedent.ExitClean || states()[0] != test.want || !strings.Contains(said, test.says) {
				t.Errorf("after all fixes: status %d, reviews %v\n%s", status, states(), said)
			}
			told := slices.ContainsFunc(s.door.stage.World.By(s.pull, forgetest.Bot), func(c forge.Comment) bool {
				return strings.Contains(string(c.Body), "**Still blocked**: Precedent may not dismiss [its review that requested changes](")
			})
			if told != (test.says != "") {
				t.Errorf("the summary says that somebody has to dismiss: %t", told)
			}
		})
	}
}
