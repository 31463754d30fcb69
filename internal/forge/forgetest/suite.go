package forgetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// Build creates the forge under test, which shows the stage's world. It uses the
// stage's clock, and Secret as its token.
type Build func(t *testing.T, s *Stage) forge.Forge

// Run runs the conformance suite.
func Run(t *testing.T, build Build) {
	t.Helper()
	runAll(t, build, []onShop{
		{"pull requests", pullRequests},
		{"open pull requests", openPullRequests},
		{"unchanged pull requests", unchangedPullRequests},
		{"checks of a commit", checksOfCommit},
		{"repositories", repositoriesOf},
		{"branches to push to", pushableBranches},
		{"fenced writes", fencedWrites},
		{"comments", comments},
		{"more comments than a page", manyComments},
		{"one comment", oneComment},
		{"permissions", permissions},
		{"permissions expire", permissionsGrowOld},
		{"permissions fail closed", permissionsFailClosed},
		{"pages", pagesOf},
		{"diff", diffs},
		{"missing pull requests", missingPulls},
		{"renamed repository", renamedRepository},
		{"names that are refused", refusesBadNames},
		{"canceled context", endsWithContext},
		{"concurrent reads", readsConcurrently},
	})
	t.Run("history", func(t *testing.T) { runAll(t, build, histories) })
	t.Run("faults", func(t *testing.T) { faults(t, build) })
	t.Run("writing", func(t *testing.T) { writing(t, build) })
}

// onShop is a test on a stage with Shop.
type onShop struct {
	name string
	run  func(t *testing.T, s *Stage, f forge.Forge)
}

func runAll(t *testing.T, build Build, tests []onShop) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := NewStage(t)
			s.World.Add(Shop())
			test.run(t, s, build(t, s))
		})
	}
}

// repo is the identity of Shop on a forge.
func repo(f forge.Forge) precedent.Repo {
	return precedent.Repo{Host: f.Host(), Owner: "acme", Name: "shop"}
}

// withHost returns p with the host of the forge in its repositories.
func (s *Stage) withHost(f forge.Forge, p forge.PullRequest) forge.PullRequest {
	for _, b := range []*forge.Branch{&p.Base, &p.Head} {
		if !b.Repo.IsZero() {
			b.Repo.Host = f.Host()
		}
	}
	return p
}

// addresses ignores URLs, which are specific to a forge and compared separately.
var addresses = []cmp.Option{
	cmpopts.IgnoreFields(forge.PullRequest{}, "Ref"), cmpopts.IgnoreFields(forge.Branch{}, "CloneURL"),
	cmpopts.IgnoreFields(forge.Comment{}, "URL", "Votes", "Blocks"), cmpopts.EquateEmpty(),
}

func pullRequests(t *testing.T, s *Stage, f forge.Forge) {
	for number, want := range Shop().Pulls {
		if by := s.told(want, []forge.Comment{{Author: want.Author}}); len(by) == 1 {
			want.Author = by[0].Author
		}
		got, err := f.PullRequest(t.Context(), repo(f), number)
		if err != nil {
			t.Errorf("#%d: %v", number, err)
			continue
		}
		if d := cmp.Diff(s.withHost(f, want.PullRequest), got, addresses...); d != "" {
			t.Errorf("#%d (-want +got):\n%s", number, d)
		}
		if !strings.HasPrefix(got.Ref, "refs/") {
			t.Errorf("#%d has the ref %q", number, got.Ref)
		}
		for _, b := range []forge.Branch{got.Base, got.Head} {
			if (b.CloneURL == "") != b.Repo.IsZero() || strings.ContainsAny(b.CloneURL, "@?#") {
				t.Errorf("#%d: %v is cloned from %q", number, b.Repo, b.CloneURL)
			}
		}
	}
}

func openPullRequests(t *testing.T, s *Stage, f forge.Forge) {
	s.World.Change(func() {
		r := s.World.Repo("acme", "shop")
		for n := 1000; n < 1150; n++ {
			p := Shop().Pulls[1].PullRequest
			p.Number, p.Updated = n, Epoch.Add(-time.Duration(n)*time.Minute)
			r.Pulls[n] = &Pull{PullRequest: p}
		}
	})
	open, err := f.Open(t.Context(), repo(f))
	needs.NoError(t, err)
	if !slices.IsSortedFunc(open, func(a, b forge.PullRequest) int { return b.Updated.Compare(a.Updated) }) {
		t.Error("the one that changed last is not the first")
	}
	numbers := map[int]bool{}
	for _, p := range open {
		numbers[p.Number] = true
		if p.Body != "" {
			t.Errorf("#%d has a body", p.Number)
		}
		if p.State != forge.Open {
			t.Errorf("#%d is %s", p.Number, p.State)
		}
	}
	if want := 150 + 5; len(open) != want || len(numbers) != want {
		t.Errorf("%d pull requests with %d numbers, want %d", len(open), len(numbers), want)
	}
}

func comments(t *testing.T, s *Stage, f forge.Forge) {
	for number, p := range Shop().Pulls {
		got, err := f.Comments(t.Context(), repo(f), number)
		if err != nil {
			t.Errorf("#%d: %v", number, err)
		}
		if d := cmp.Diff(s.told(p, p.Comments), got, addresses...); d != "" {
			t.Errorf("#%d (-want +got):\n%s", number, d)
		}
		for _, m := range got {
			if !strings.Contains(m.URL, f.Host()+"/acme/shop/") {
				t.Errorf("#%d: comment %s is at %q", number, m.ID, m.URL)
			}
		}
	}
}

func manyComments(t *testing.T, s *Stage, f forge.Forge) {
	for _, n := range []int{100, 101, 251} {
		var want []forge.Comment
		for i := range n {
			want = append(want, remark(int64(5000+i), forge.OnThread, i), remark(int64(5000+i), forge.OnReview, i),
				remark(int64(5000+i), forge.OnLine, i))
		}
		s.World.Change(func() {
			p := s.World.Repo("acme", "shop").Pulls[1]
			p.Comments = want
			want = s.told(p, want)
		})
		got, err := f.Comments(t.Context(), repo(f), 1)
		needs.NoError(t, err)
		if d := cmp.Diff(want, got, addresses...); d != "" {
			t.Errorf("%d of each kind (-want +got):\n%.2000s", n, d)
		}
	}
}

func permissions(t *testing.T, _ *Stage, f forge.Forge) {
	for _, test := range []struct {
		who  string
		p    forge.Person
		want forge.Permission
	}{
		{"owner", Ann, forge.Admin},
		{"writer", Bo, forge.Write},
		{"reader", Cy, forge.Read},
		{"bot", Robot, forge.Read},
		{"login in other case", forge.Person{ID: Bo.ID, Login: "BO"}, forge.Write},
		{"login that has become somebody else's", forge.Person{ID: "99", Login: Ann.Login}, forge.None},
		{"somebody unknown", forge.Person{ID: "98", Login: "nobody"}, forge.None},
		{"deleted account", forge.Person{Login: "ghost"}, forge.None},
		{"no number", forge.Person{Login: Ann.Login}, forge.None},
		{"unknown role", forge.Person{ID: "7", Login: "odd"}, forge.None},
	} {
		got, err := f.Permission(t.Context(), repo(f), test.p)
		if err != nil || got != test.want && got != plainly(test.want) {
			t.Errorf("%s: %q, %v, want %q", test.who, got, err, test.want)
		}
	}
	if no, err := f.KnowsPermissions(t.Context(), repo(f)); no != "" || err != nil {
		t.Errorf("the permissions are not known: %q, %v", no, err)
	}
}

// plainly is what a forge says that tells only who may write.
func plainly(p forge.Permission) forge.Permission {
	if p.MayWrite() {
		return forge.Write
	}
	return forge.None
}

func permissionsGrowOld(t *testing.T, s *Stage, f forge.Forge) {
	ask := func() forge.Permission {
		t.Helper()
		p, err := f.Permission(t.Context(), repo(f), Bo)
		needs.NoError(t, err)
		return p
	}
	if got := ask(); got != forge.Write {
		t.Fatalf("%q, want write", got)
	}
	s.World.Change(func() { s.World.Repo("acme", "shop").Members[1].Permission = forge.Read })
	s.Clock.Pass(60 * time.Second)
	if got := ask(); got.MayWrite() {
		t.Errorf("%q a minute after the right to write was lost", got)
	}
	s.World.Change(func() { s.World.Repo("acme", "shop").Members[1].Permission = forge.Write })
	s.Clock.Pass(-time.Hour) // a clock that was set back makes nothing last
	if got := ask(); got != forge.Write {
		t.Errorf("%q by a clock that was set back", got)
	}
}

func permissionsFailClosed(t *testing.T, s *Stage, f forge.Forge) {
	if _, err := f.PullRequest(t.Context(), repo(f), 1); err != nil {
		t.Fatal(err)
	}
	came := len(s.Script.Requests())
	s.Script.Plan(Fault{Status: 500, Times: 50})
	if p, err := f.Permission(t.Context(), repo(f), Ann); p != forge.None || forge.KindOf(err) != forge.KindServer {
		t.Errorf("%q, %v while the server is broken", p, err)
	}
	if n := len(s.Script.Requests()) - came; n < 2 || n > 8 {
		t.Errorf("asked %d times", n)
	}
}

func diffs(t *testing.T, s *Stage, f forge.Forge) {
	got, _, err := f.Patch(t.Context(), repo(f), 1)
	if err != nil || string(got) != Shop().Pulls[1].Diff {
		t.Errorf("%q, %v", got, err)
	}
	if got, _, err := f.Patch(t.Context(), repo(f), 2); err != nil || len(got) != 0 {
		t.Errorf("an empty diff is %q, %v", got, err)
	}
	s.World.Change(func() { s.World.Repo("acme", "shop").Pulls[1].Huge = true })
	// A forge that gives the diffs of single files still gives the same lines.
	got, _, err = f.Patch(t.Context(), repo(f), 1)
	if same := cmp.Equal(parse(string(got)), parse(Shop().Pulls[1].Diff)); err == nil && !same || err != nil &&
		forge.KindOf(err) != forge.KindTooLarge {
		t.Errorf("of a diff that is too large came %q, %v", got, err)
	}
}

func missingPulls(t *testing.T, _ *Stage, f forge.Forge) {
	gone := precedent.Repo{Host: f.Host(), Owner: "acme", Name: "gone"}
	_, err1 := f.PullRequest(t.Context(), repo(f), 404)
	_, err2 := f.Comments(t.Context(), repo(f), 404)
	_, _, err3 := f.Patch(t.Context(), repo(f), 404)
	_, err4 := f.PullRequest(t.Context(), gone, 1)
	_, err5 := f.Open(t.Context(), gone)
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if forge.KindOf(err) != forge.KindNotFound {
			t.Errorf("%d: %v, want %s", i+1, err, forge.KindNotFound)
		}
	}
}

// renamedRepository: by a former name, a pull request is found, and says the present one.
func renamedRepository(t *testing.T, s *Stage, f forge.Forge) {
	s.World.Change(func() { s.World.Rename(s.World.Repo("acme", "shop"), "mall", "store") })
	now := precedent.Repo{Host: f.Host(), Owner: "mall", Name: "store"}
	for _, name := range []string{"stall", "shop"} {
		p, err := f.PullRequest(t.Context(), precedent.Repo{Host: f.Host(), Owner: "acme", Name: name}, 1)
		if err != nil || p.Base.Repo != now || p.Base.RepoID != "700" {
			t.Errorf("%s: %+v, %v", name, p.Base, err)
		}
	}
	if m, err := f.Comment(t.Context(), now, 1, "by the present name"); err != nil ||
		!strings.Contains(m.URL, "/mall/store/") {
		t.Errorf("%+v, %v", m, err)
	}
}

func refusesBadNames(t *testing.T, s *Stage, f forge.Forge) {
	for _, r := range []precedent.Repo{
		{Host: "elsewhere.example", Owner: "acme", Name: "shop"},
		{Host: f.Host(), Owner: "..", Name: "shop"},
		{Host: f.Host(), Owner: "acme", Name: "shop/../../users"},
		{Host: f.Host(), Owner: "acme", Name: "shop?x=1"},
		{Host: f.Host(), Owner: "acme", Name: "%2e%2e"},
		{Host: f.Host(), Owner: "", Name: "shop"},
		{},
	} {
		_, err1 := f.PullRequest(t.Context(), r, 1)
		_, err2 := f.Comments(t.Context(), r, 1)
		_, _, err3 := f.Patch(t.Context(), r, 1)
		_, err4 := f.Open(t.Context(), r)
		p, err5 := f.Permission(t.Context(), r, Ann)
		for _, err := range []error{err1, err2, err3, err4, err5} {
			if forge.KindOf(err) != forge.KindRefused {
				t.Errorf("%+v: %v, want %s", r, err, forge.KindRefused)
			}
		}
		if p != forge.None {
			t.Errorf("%+v: %q", r, p)
		}
	}
	for _, login := range []string{"..", "a/b", "a?b", "a b", "ann/../bo", "a#", ""} {
		if p, err := f.Permission(t.Context(), repo(f), forge.Person{ID: Ann.ID, Login: login}); p != forge.None ||
			forge.KindOf(err) != forge.KindRefused {
			t.Errorf("login %q: %q, %v", login, p, err)
		}
	}
	if n := len(s.Script.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func endsWithContext(t *testing.T, _ *Stage, f forge.Forge) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.PullRequest(ctx, repo(f), 1); !errors.Is(err, context.Canceled) || forge.KindOf(err) != forge.KindNetwork {
		t.Errorf("%v", err)
	}
}

func readsConcurrently(t *testing.T, _ *Stage, f forge.Forge) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := f.Comments(t.Context(), repo(f), 1); err != nil {
				t.Error(err)
			}
			if p, err := f.Permission(t.Context(), repo(f), Ann); !p.MayWrite() {
				t.Errorf("%q, %v", p, err)
			}
			_ = f.Quota()
		})
	}
	wg.Wait()
}

// pagesOf: the forge recognizes its own pages and no others, without a request.
func pagesOf(t *testing.T, s *Stage, f forge.Forge) {
	page := f.Pages().PullRequest(repo(f), till)
	web, ours := strings.CutSuffix(page[:strings.LastIndexByte(page, '/')+1], "/")
	if !ours || !strings.HasPrefix(page, "http") || !strings.Contains(page, f.Host()+"/acme/shop/") {
		t.Fatalf("the page of a pull request is %q", page)
	}
	for _, which := range []string{
		page, page + "/", page + "/files?w=1#diff", strings.Replace(page, f.Host(), strings.ToUpper(f.Host()), 1),
	} {
		if r, n, err := forge.ParsePullRequest(f, which); err != nil || r != repo(f) || n != till {
			t.Errorf("%s: %s#%d, %v", which, r, n, err)
		}
	}
	for _, which := range []string{"8", "#8"} {
		if r, n, err := forge.ParsePullRequest(f, which); err != nil || !r.IsZero() || n != till {
			t.Errorf("%s: %s#%d, %v", which, r, n, err)
		}
	}
	scheme, rest, _ := strings.Cut(page, "://")
	for which, want := range map[string]forge.ErrorKind{
		"": forge.KindInvalid, "0": forge.KindInvalid, "-8": forge.KindInvalid, "8x": forge.KindInvalid,
		"99999999999": forge.KindInvalid, "acme/shop/8": forge.KindInvalid, web: forge.KindInvalid,
		web + "/x": forge.KindInvalid, web + "/0": forge.KindInvalid, scheme + "://u:p@" + rest: forge.KindInvalid,
		"ssh://" + rest: forge.KindInvalid, "file:///" + rest: forge.KindInvalid,
		strings.Replace(page, "/acme/", "/../", 1):                   forge.KindInvalid,
		strings.Replace(page, "/acme/", "/acme/../acme/", 1):         forge.KindInvalid,
		strings.Replace(page, "/shop/", "//", 1):                     forge.KindInvalid,
		strings.Replace(page, "/shop/", "/shop/x/", 1):               forge.KindInvalid,
		strings.Replace(page, f.Host(), "evil-"+f.Host(), 1):         forge.KindRefused,
		strings.Replace(page, f.Host(), "elsewhere.example", 1):      forge.KindRefused,
		strings.Replace(page, f.Host(), "elsewhere.example:8443", 1): forge.KindRefused,
	} {
		if r, n, err := forge.ParsePullRequest(f, which); forge.KindOf(err) != want || n != 0 || !r.IsZero() {
			t.Errorf("%q is taken for %s#%d, %v", which, r, n, err)
		}
	}
	line := f.Pages().Lines(repo(f), sha("c"), precedent.Span{Path: "a (b)/é.go", Side: precedent.Right, Start: 3, End: 5})
	if line != "" && (!strings.Contains(line, f.Host()+"/acme/shop/") ||
		!strings.Contains(line, sha("c")+"/a%20%28b%29/%C3%A9.go#L3")) {
		t.Errorf("lines are at %q", line)
	}
	if got, err := f.ReadEvent("moonrise", []byte("{}")); err != nil || got.Kind != forge.NoEvent || !got.Repo.IsZero() {
		t.Errorf("an event that is not known: %+v, %v", got, err)
	}
	if n := len(s.Script.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
