package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// corpusComment is a comment on lines that starts a conversation.
func corpusComment(id precedent.ForgeID, pull int, body string) precedent.CorpusComment {
	return precedent.CorpusComment{
		Kind: "inline", ID: id, Pull: pull, Root: id, AuthorID: "1", Author: "ada", Body: precedent.Untrusted(body),
		Span: precedent.Span{Path: "a.go", Side: precedent.Right, Start: 3, End: 3}, Hunk: "+x", Commit: "c0ffee",
		URL: "https://example.com/1", At: start, UpdatedAt: start,
	}
}

// corpusPage makes one chunk of each conversation: the bodies of its comments as lines.
func corpusPage(comments ...precedent.CorpusComment) CorpusPage {
	index := func(c *precedent.CorpusChunk) []byte { return []byte(string(c.Text) + string(c.Outcome)) }
	return CorpusPage{
		Comments: comments, Rules: 1, Index: index,
		Chunk: func(v CorpusConversation) []precedent.CorpusChunk {
			var lines []string
			for _, c := range v.Comments {
				lines = append(lines, string(c.Body))
			}
			text := precedent.Untrusted(strings.Join(lines, "\n"))
			first := precedent.CorpusChunk{CorpusComment: v.Comments[0], PullTitle: v.Pull.Title, Text: text, Words: text}
			if v.Pull.Reverted != 0 {
				first.Outcome = precedent.CommentReverted
			}
			if len(v.Comments) < 3 {
				return []precedent.CorpusChunk{first}
			}
			second := first
			second.Chunk = 1
			return []precedent.CorpusChunk{first, second}
		},
	}
}

func saveCorpus(t testing.TB, r *Repo, page CorpusPage) CorpusSaved {
	t.Helper()
	return needs.Value(r.SaveCorpus(t.Context(), page))(t)
}

func corpusChunks(t testing.TB, r *Repo) []precedent.CorpusChunk {
	t.Helper()
	var all []precedent.CorpusChunk
	needs.NoError(t, r.CorpusChunks(t.Context(), func(c precedent.CorpusChunk) error { all = append(all, c); return nil }))
	return all
}

// texts are the chunks as comment/chunk: text. The index has each of them, and nothing else.
func texts(t testing.TB, r *Repo) []string {
	t.Helper()
	all := []string{}
	for _, c := range corpusChunks(t, r) {
		all = append(all, fmt.Sprintf("%s/%d: %s%s", c.ID, c.Chunk, string(c.Text), c.Outcome))
	}
	docs := map[int64]string{}
	needs.NoError(t, r.ReadCorpusIndex(t.Context(), func(n int64, doc []byte) error { docs[n] = string(doc); return nil }))
	chunks := needs.Value(r.CorpusNumbered(t.Context(), append(slices.Collect(maps.Keys(docs)), 1<<40)))(t)
	var indexed []string
	for n, c := range chunks {
		indexed = append(indexed, fmt.Sprintf("%s/%d: %s", c.ID, c.Chunk, docs[n]))
	}
	slices.Sort(indexed)
	if diff := cmp.Diff(slices.Sorted(slices.Values(all)), indexed); diff != "" || len(docs) != len(all) {
		t.Errorf("%d documents in the index: %s", len(docs), diff)
	}
	return all
}

func reply(id, root precedent.ForgeID, minutes int, body string) precedent.CorpusComment {
	c := corpusComment(id, 7, body)
	c.Root, c.At = root, start.Add(time.Duration(minutes)*time.Minute)
	c.UpdatedAt = c.At
	return c
}

func testCorpusThreads(t *testing.T, r *Repo) {
	ctx := t.Context()
	check := func(want ...string) {
		t.Helper()
		needs.Equal(t, want, texts(t, r))
	}
	// A reply may come before what it replies to.
	saveCorpus(t, r, corpusPage(reply("12", "11", 2, "reply")))
	check("12/0: reply")
	saved := saveCorpus(t, r, corpusPage(reply("11", "11", 0, "first"), corpusComment("20", 8, "other")))
	if saved.Stored != 2 || saved.Chunks != 2 {
		t.Errorf("%+v", saved)
	}
	check("11/0: first\nreply", "20/0: other")
	saveCorpus(t, r, corpusPage(reply("13", "11", 3, "late")))
	check("11/0: first\nreply\nlate", "11/1: first\nreply\nlate", "20/0: other")
	edited := reply("12", "11", 2, "edited")
	edited.UpdatedAt = start.Add(time.Hour)
	if saved := saveCorpus(t, r, corpusPage(edited, edited, reply("12", "11", 2, "reply"))); saved.Updated != 1 ||
		saved.Duplicate != 2 {
		t.Errorf("%+v", saved)
	}
	check("11/0: first\nedited\nlate", "11/1: first\nedited\nlate", "20/0: other")
	known := precedent.CorpusComment{Kind: "inline", ID: "11", DeletedAt: start.Add(time.Hour)}
	unknown := known
	unknown.ID = "99"
	needs.Equal(t, 1, saveCorpus(t, r, corpusPage(known, unknown)).Deleted)
	check("12/0: edited\nlate", "20/0: other")
	gone := needs.Value(r.CorpusCommentsOf(ctx, "inline", []string{"11"}))(t)["11"]
	if gone.DeletedAt.IsZero() || gone.Body != "" || gone.Hunk != "" || gone.Author != "ada" {
		t.Errorf("%+v", gone)
	}
	// A page that was read before the deletion does not bring it back; a later edit does.
	saveCorpus(t, r, corpusPage(reply("11", "11", 0, "first"), reply("99", "99", 0, "never seen")))
	check("12/0: edited\nlate", "20/0: other")
	again := reply("11", "11", 0, "again")
	again.UpdatedAt = start.Add(2 * time.Hour)
	saveCorpus(t, r, corpusPage(again))
	check("11/0: again\nedited\nlate", "11/1: again\nedited\nlate", "20/0: other")
	needs.Len(t, "of another kind", 0)(r.CorpusCommentsOf(ctx, "review", []string{"11"}))
}

// testCorpusReverted: what a merged pull request reverts by number counts as reverted, also if it is
// known later.
func testCorpusReverted(t *testing.T, r *Repo) {
	saveCorpus(t, r, corpusPage(corpusComment("1", 1, "remark"), corpusComment("2", 9, "remark")))
	for _, test := range []struct {
		what       string
		n, reverts int
		merged     bool
		want       string
	}{
		{"by nothing", 1, 0, true, "1 2"},
		{"by an open one", 2, 1, false, "1 2"},
		{"by itself", 1, 1, true, "1 2"},
		{"by number", 2, 1, true, "1reverted 2"},
		{"before it is known", 10, 9, true, "1reverted 2reverted"},
		{"when it is known", 9, 0, true, "1reverted 2reverted"},
	} {
		p := precedent.CorpusPull{Number: test.n, Title: fmt.Sprint("change ", test.n)}
		if test.merged {
			p.Merged = start
		}
		page := corpusPage()
		page.Pulls = []CorpusPull{{p, test.reverts}}
		saveCorpus(t, r, page)
		var got []string
		for _, c := range corpusChunks(t, r) {
			got = append(got, string(c.ID)+string(c.Outcome))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("reverted %s: %q, want %q", test.what, got, test.want)
		}
	}
}

func testCorpusVectors(t *testing.T, r *Repo) {
	ctx := t.Context()
	saveCorpus(t, r, corpusPage(corpusComment("1", 7, "one"), corpusComment("2", 7, "two")))
	without := func() []precedent.CorpusChunk {
		return needs.Value(r.CorpusWithoutVectors(ctx, "model", 3, 10))(t)
	}
	vectors := func() (all []CorpusVector) {
		needs.NoError(t, r.CorpusVectors(ctx, "model", 3, func(v CorpusVector) error { all = append(all, v); return nil }))
		return all
	}
	missing := without()
	if len(missing) != 2 {
		t.Fatal(missing)
	}
	v := CorpusVector{
		Kind: "inline", ID: "1", Model: "model", Hash: CorpusHash(&missing[0]), Vector: []float32{0.25, -1, 3},
	}
	stale := v
	stale.ID = "2"
	needs.Result(t, "SaveCorpusVectors", 1)(r.SaveCorpusVectors(ctx, []CorpusVector{v, stale}))
	// They come back with the length 1, and nearly in their direction.
	want := v
	want.Number = 1
	want.Vector = []float32{0.0788, -0.3152, 0.9457}
	needs.Equal(t, []CorpusVector{want}, vectors(), cmp.Comparer(func(a, b float32) bool { return a-b < 0.01 && b-a < 0.01 }))
	if sizes, err := r.CorpusVectorSizes(ctx, "model"); err != nil || len(sizes) != 1 || sizes[0].Dimensions != 3 ||
		len(without()) != 1 {
		t.Error(sizes, err, without())
	}
	edited := corpusComment("1", 7, "changed")
	edited.UpdatedAt = start.Add(time.Hour)
	saveCorpus(t, r, corpusPage(edited))
	if len(vectors()) != 0 || len(without()) != 2 {
		t.Error("the vector of other words is used")
	}
}
