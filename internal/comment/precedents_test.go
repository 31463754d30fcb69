package comment_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	diffs "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/markdown/markdowntest"
)

// displays are all policies, the empty one included.
var displays = []precedent.CitationDisplay{
	"", precedent.PrecedentsQuiet, precedent.PrecedentsFull,
	precedent.PrecedentsAnonymous, precedent.PrecedentsOff,
}

const pullPage = "https://good.example/Team/App/pull/"

func cite(pull int, author, path, words, url string, similarity float64) precedent.Cite {
	return precedent.Cite{
		Kind: precedent.CitesPrecedent, ID: fmt.Sprintf("inline-%d", pull), Text: words, URL: url,
		Precedent: &precedent.CitedComment{
			Pull: pull, AuthorID: "7", Author: author, At: time.Date(2025, 4, 5, 23, 0, 0, 0, time.UTC), Path: path, Line: 9,
			Kind: "inline", Similarity: similarity,
		},
	}
}

func citing() precedent.Finding {
	f := finding()
	f.Suggestion = ""
	f.Cites = []precedent.Cite{
		{Kind: "guide", ID: "CLAUDE.md:12", Text: "No == on secrets"},
		cite(318, "bo", "", "@bo (2025-04-05): As @mona said in #12, not with ==; see https://good.example/Team/App/pull/12",
			pullPage+"318#issuecomment-4", 0.71),
		cite(1234, "mona", "auth/session.go", "Please compare in constant time.", pullPage+"1234#discussion_r99", 0.82),
		cite(77, "carl", "auth/mona.go", "mona’s rule: constant time", "https://evil.example/Team/App/pull/77", 0.7),
	}
	return f
}

// read returns what forges do because of a comment, but for its footer, which has ids of ours.
func read(t markdowntest.T, page string) markdowntest.Live {
	t.Helper()
	return markdowntest.Render(t, page[:strings.LastIndex(page, "<sub>")]).Read()
}

// TestPrecedents has what a comment says by each policy.
func TestPrecedents(t *testing.T) {
	for _, display := range displays {
		name := string(display)
		if display == "" {
			name = "quiet" // the default
		}
		w := writer(t)
		w.Precedents = display
		got := w.Finding(citing(), mark(), false)
		golden.Compare(t, filepath.Join("testdata", "precedents-"+name+".md"), got)
		live := read(t, unmarked(t, got))
		want := markdowntest.Live{}
		if display == precedent.PrecedentsFull {
			want = markdowntest.Live{Mentions: []string{"mona"}, References: []string{"#1234"}}
		}
		if d := diffs.Diff(want, live); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if strings.Contains(got, "evil.example") {
			t.Errorf("%s: an address of another host is shown:\n%s", name, got)
		}
		if display == precedent.PrecedentsAnonymous && regexp.MustCompile(`mona|carl|\bbo\b`).MatchString(got) {
			t.Errorf("somebody is named:\n%s", got)
		}
	}
}

// outside returns texts of a corpus that mean harm.
func outside() *rapid.Generator[string] {
	attacks := rapid.SampledFrom(slices.Concat(orders, []string{
		"mona", "gh-1", "GH-1", "claude", "dependabot", "ghost", "@org/team", "deadbeef1", strings.Repeat("a1", 20),
		"org/app#12", "org/app@deadbeef", "!7",
		pullPage + "9", pullPage + "9#discussion_r1", pullPage + "../../../evil/app/pull/1",
		"https://good.example/other/app/pull/3", "https://good.example@evil.example/Team/App/pull/3",
		"javascript:alert(1)", "http://good.example/Team/App/pull/3?x=@dana", pullPage + "9`](x)", "PR #9", "`", "``",
		ownSecret, "https://evil.example/" + ownSecret, "a|b", "\n", "",
	}))
	return rapid.OneOf(attacks, markdowntest.Wild(), rapid.Custom(func(t *rapid.T) string {
		return attacks.Draw(t, "first") + rapid.SampledFrom([]string{"", " ", "\n", "`", "/"}).Draw(t, "between") +
			attacks.Draw(t, "second")
	}))
}

// TestPrecedentsAreInert: whatever a corpus says, no live mention or reference leaves in any
// policy but full, and in that one exactly those of the first comment.
func TestPrecedentsAreInert(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := finding()
		f.Suggestion = ""
		for i := range rapid.IntRange(1, 7).Draw(r, "cites") {
			text := func(name string) string { return outside().Draw(r, fmt.Sprint(name, i)) }
			c := cite(rapid.IntRange(1, 20000).Draw(r, "pull"), text("author"), text("path"), text("words"), text("url"),
				rapid.Float64Range(0, 1).Draw(r, "similarity"))
			c.ID, c.Precedent.Quote = text("id"), text("quote")
			f.Cites = append(f.Cites, c)
		}
		for _, display := range []precedent.CitationDisplay{
			rapid.SampledFrom(displays).Draw(r, "display"),
			precedent.PrecedentsFull,
		} {
			w := writer(t)
			w.Own, w.Precedents = []string{ownSecret}, display
			got := w.Finding(f, mark(), false)
			if strings.Contains(got, ownSecret) {
				r.Fatalf("%s: the secret leaves in\n%s", display, got)
			}
			page := unmarked(r, got)
			if display != precedent.PrecedentsFull {
				markdowntest.Inert(r, page)
				if live := read(r, page); len(live.Mentions)+len(live.References) > 0 {
					r.Fatalf("%s: %+v in\n%s", display, live, page)
				}
				continue
			}
			checkFull(r, f, page)
		}
	})
}

// plain is a login that may be mentioned.
var plain = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// checkFull checks the only policy with live words.
func checkFull(t markdowntest.T, f precedent.Finding, page string) {
	t.Helper()
	best := slices.MaxFunc(f.Cites, func(a, b precedent.Cite) int {
		return cmp.Compare(a.Precedent.Similarity, b.Precedent.Similarity)
	}).Precedent
	live := read(t, page)
	for _, m := range live.Mentions {
		if m != best.Author && !strings.HasPrefix(best.Author, m) || !plain.MatchString(best.Author) {
			t.Fatalf("%q is mentioned in\n%s", m, page)
		}
	}
	if strings.Contains(page, "(withheld: ") && len(live.References) == 0 {
		return // the gate took the login for a credential
	}
	if len(live.References) != 1 || live.References[0] != fmt.Sprintf("#%d", best.Pull) {
		t.Fatalf("%q is referred to in\n%s", live.References, page)
	}
}

// TestAnonymous: no login leaves, whatever else names it.
func TestAnonymous(t *testing.T) {
	logins := []string{"mona", "Team", "b-o", "x.y", "App", "pull"}
	rapid.Check(t, func(r *rapid.T) {
		login := rapid.SampledFrom(logins).Draw(r, "login")
		places := []string{
			login, "@" + login, "(" + strings.ToUpper(login) + ")", "src/" + login + "/a.go",
			login + " " + login + " " + login, "thanks " + login + "!", "@" + login + " (2025-04-05): why",
		}
		f := finding()
		f.Suggestion = ""
		f.Cites = []precedent.Cite{cite(12, login, rapid.SampledFrom(places).Draw(r, "path"),
			rapid.SampledFrom(places).Draw(r, "words"), pullPage+"12#discussion_r1", 1)}
		w := writer(t)
		w.Precedents = precedent.PrecedentsAnonymous
		page := unmarked(r, w.Finding(f, mark(), false))
		if regexp.MustCompile(`(?i)(?:^|[^a-z0-9])` + regexp.QuoteMeta(login) + `(?:$|[^a-z0-9])`).MatchString(page) {
			r.Fatalf("%s is named in\n%s", login, page)
		}
		if !strings.Contains(page, "a reviewer") || !strings.Contains(page, "PR 12") {
			r.Fatalf("nothing is cited in\n%s", page)
		}
	})
}

// TestFullMentionsPeopleOnly: a name that programs obey, an account that is gone and what is no
// login are not mentioned.
func TestFullMentionsPeopleOnly(t *testing.T) {
	for _, author := range []string{
		"claude", "dependabot", "org/team", "", "a b", "@dana", "dana`x",
		strings.Repeat("x", 200),
	} {
		f := finding()
		f.Cites = []precedent.Cite{cite(12, author, "a.go", "words", pullPage+"12", 1)}
		w := writer(t)
		w.Precedents = precedent.PrecedentsFull
		page := unmarked(t, w.Finding(f, mark(), false))
		if live := read(t, page); len(live.Mentions) > 0 || !slices.Equal(live.References, []string{"#12"}) {
			t.Errorf("%q: %+v in\n%s", author, live, page)
		}
	}
	f := finding()
	f.Cites = []precedent.Cite{cite(12, "ghost", "a.go", "words", pullPage+"12", 1)}
	f.Cites[0].Precedent.AuthorID = ""
	if page := (comment.Writer{Precedents: precedent.PrecedentsFull}).Finding(f, mark(), false); strings.Contains(page,
		"@ghost") {
		t.Errorf("a deleted account is mentioned in\n%s", page)
	}
}
