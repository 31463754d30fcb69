package forgetest

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

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
