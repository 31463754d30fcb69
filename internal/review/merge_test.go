package review

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// said is a finding at some lines of a.go.
func said(id, finder string, start, end int, c precedent.Category, title string) precedent.Finding {
	return precedent.Finding{
		ID: id, Finder: finder, Category: c, Severity: precedent.Medium, Confidence: 80, Votes: 1,
		Span:  precedent.Span{Path: "a.go", Side: precedent.Right, Start: start, End: end},
		Title: title,
	}
}

// nobody is a judge that answers nothing.
func nobody([]match.Doubt) map[int]bool { return nil }

const (
	leak        = "Response body is never closed, so the connection leaks"
	leakToo     = "The response body is not closed: connection leaks"
	leakPerhaps = "The response body is not closed after an error of the decoder, so memory leaks"
	panics      = "Index out of range panics when the list of hosts is empty"
)

// duplicates are the findings that are dropped as such, with the ones that represent them.
func duplicates(fs []precedent.Finding) map[string]string {
	found := map[string]string{}
	for _, f := range fs {
		if f.Dropped == precedent.Duplicate {
			found[f.ID] = f.DroppedBy
		}
	}
	return found
}

func TestMerge(t *testing.T) {
	const bugs, security = precedent.Bugs, precedent.Security
	bug := func(finder string, start, end int, title string) precedent.Finding {
		return said("", finder, start, end, bugs, title)
	}
	list := func(fs ...precedent.Finding) []precedent.Finding {
		for i := range fs {
			fs[i].ID = string(rune('a' + i))
		}
		return fs
	}
	computed := func(f precedent.Finding) precedent.Finding { f.Analyzer = true; return f }
	fixing := func(f precedent.Finding) precedent.Finding { f.Suggestion = "defer res.Body.Close()"; return f }
	in := func(path string, f precedent.Finding) precedent.Finding { f.Path = path; return f }
	left := func(f precedent.Finding) precedent.Finding { f.Side = precedent.Left; return f }
	for _, test := range []struct {
		name string
		in   []precedent.Finding
		want string // duplicate → representative
		note string // part of a decision of the first finding
	}{
		{
			"same matter", list(bug("bugs", 5, 5, leak), bug("security", 5, 5, leakToo)), "b→a",
			"represents 2 findings of bugs, security",
		},
		{
			"same place, other category, same matter: nobody compared them",
			list(bug("bugs", 5, 5, leak), said("", "security", 5, 9, security, leakToo)), "",
			"possibly the same as the finding at a.go:5-9",
		},
		{
			"similar words", list(bug("bugs", 5, 5, leak), bug("security", 5, 5, leakPerhaps)),
			"b→a", "likely the same as 1 more, which no judge compared",
		},
		{
			"other category and matter",
			list(bug("bugs", 5, 5, leak), said("", "security", 5, 5, security, panics)), "", "",
		},
		{"overlap, same matter", list(bug("bugs", 5, 9, leak), bug("bugs", 8, 8, leakToo)), "a→b", ""},
		{"overlap, other matter", list(bug("bugs", 5, 9, leak), bug("bugs", 8, 8, panics)), "", ""},
		{
			"near, same matter", list(bug("bugs", 5, 9, leak), bug("bugs", 30, 30, leakToo)), "",
			"possibly the same as the finding at a.go:30",
		},
		{"far, same matter", list(bug("bugs", 5, 9, leak), bug("bugs", 60, 60, leakToo)), "", ""},
		{"other side", list(bug("bugs", 5, 5, leak), left(bug("bugs", 5, 5, leak))), "", ""},
		{"other file", list(bug("bugs", 5, 5, leak), in("b.go", bug("bugs", 5, 5, leak))), "", "also at b.go:5"},
		{"analyzers speak", list(fixing(bug("bugs", 5, 5, leak)), computed(bug("govet", 5, 5, leakToo))), "a→b", ""},
		{"who has a fix speaks", list(bug("bugs", 5, 5, leak), fixing(bug("bugs", 5, 5, leakToo))), "a→b", ""},
		{
			"none repeats itself",
			list(computed(bug("unicode", 5, 5, leak)), computed(bug("unicode", 6, 6, leak))), "", "",
		},
		{
			"a rule on a line",
			list(computed(bug("unicode", 5, 5, leak)), computed(bug("unicode", 5, 5, panics))), "a→b", "",
		},
		{"whole files", list(bug("bugs", 0, 0, leak), bug("bugs", 0, 0, leakToo), bug("bugs", 3, 3, leak)), "b→a", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			fs := slices.Clone(test.in)
			merge(fs, identities{}, nobody)
			for _, f := range fs {
				if f.Dropped != precedent.Duplicate && !f.Live() {
					t.Errorf("%s is dropped as %s", f.ID, f.Dropped)
				}
			}
			got := ""
			for id, by := range duplicates(fs) {
				got += id + "→" + by
			}
			needs.Equal(t, test.want, got)
			if said := says(fs[0]); !strings.Contains(said, test.note) {
				t.Errorf("says %q, want %q", said, test.note)
			}
		})
	}
}

// TestJudged: what a judge says joins groups as what is sure joins findings: of
// a group every two are the same, and one that speaks for others is asked for them.
func TestJudged(t *testing.T) {
	fs := []precedent.Finding{
		said("a", "bugs", 5, 9, precedent.Bugs, leak),
		said("b", "security", 5, 9, precedent.Bugs, leakToo), // surely the same as a
		said("c", "types", 20, 20, precedent.Bugs, leak),
		said("d", "tests", 30, 30, precedent.Bugs, leak),
	}
	fs[0].Suggestion = "defer res.Body.Close()"
	for _, test := range []struct {
		name string
		same [][2]string
		want map[string]string
	}{
		{"none", nil, map[string]string{"b": "a"}},
		{"one", [][2]string{{"a", "c"}}, map[string]string{"b": "a", "c": "a"}},
		{"no chain", [][2]string{{"a", "c"}, {"c", "d"}}, map[string]string{"b": "a", "c": "a"}},
		{"all", [][2]string{{"a", "c"}, {"c", "d"}, {"a", "d"}}, map[string]string{"b": "a", "c": "a", "d": "a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			fs := slices.Clone(fs)
			var asked []string
			merge(fs, identities{}, func(doubts []match.Doubt) map[int]bool {
				all := map[int]bool{}
				for i, d := range doubts {
					asked = append(asked, d.A.ID+d.B.ID)
					all[i] = slices.Contains(test.same, [2]string{d.A.ID, d.B.ID})
				}
				return all
			})
			got := duplicates(fs)
			if !maps.Equal(test.want, got) {
				t.Errorf("duplicates %v, want %v", got, test.want)
			}
			slices.Sort(asked)
			needs.Equal(t, []string{"ac", "ad", "cd"}, asked)
			needs.Equal(t, len(got)+1, fs[0].Votes)
			if test.same == nil && !strings.Contains(says(fs[0]), "a judge found them different") {
				t.Errorf("says %q", says(fs[0]))
			}
		})
	}
}

// TestNamesakes: two remarks of one category on one line have two identities, and keep
// them when a later review finds them in another order, or only one of them.
func TestNamesakes(t *testing.T) {
	at := func(title string, confidence int) precedent.Finding {
		f := said("", "bugs", 5, 5, precedent.Bugs, title)
		f.Confidence, f.Fingerprint = confidence, precedent.Fingerprint("place", precedent.Bugs, 0)
		f.ID = precedent.FindingID(theRepo, f.Fingerprint)
		return f
	}
	review := func(known map[string]store.Known, fs ...precedent.Finding) map[string]string {
		merge(fs, identities{theRepo, known}, nobody)
		ids := map[string]string{}
		for _, f := range fs {
			if !f.Live() || f.ID != precedent.FindingID(theRepo, f.Fingerprint) {
				t.Errorf("%q is dropped as %q, and has the id %s", f.Title, f.Dropped, f.ID)
			}
			ids[f.Title] = f.ID
			known[f.Fingerprint] = store.Known{Finding: f}
		}
		return ids
	}
	known := map[string]store.Known{}
	first := review(known, at(leak, 90), at(panics, 80))
	if first[leak] == first[panics] {
		t.Fatalf("one id: %v", first)
	}
	needs.Equal(t, first, review(known, at(panics, 95), at(leak, 70)))
	for _, title := range []string{leak, panics} {
		if got := review(known, at(title, 80)); got[title] != first[title] {
			t.Errorf("%q alone has the id %s, want %s", title, got[title], first[title])
		}
	}
}

func says(f precedent.Finding) string {
	return strings.Join(needs.Each(f.Trail, func(d precedent.Decision) string { return d.Text }), "; ")
}
