package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

var (
	base, head = strings.Repeat("1", 40), strings.Repeat("2", 40)
	shop       = precedent.Repo{Host: DefaultHost, Owner: "acme", Name: "shop"}
)

// folder is a forge with one pull request and files of a test.
func folder(t *testing.T, files map[string]string) (*Forge, error) {
	t.Helper()
	all := map[string]string{
		"repo.json": `{"owner": "acme", "name": "shop", "me": {"id": 9, "login": "precedent"},
			"members": [{"id": 1, "login": "ann", "permission": "write"}, {"id": 2, "login": "bo", "permission": "boss"}]}`,
		"pulls/7.json": `{"title": "Add a till", "author": {"id": 1, "login": "ann"},
			"base": {"branch": "main", "sha": "` + base + `"}, "head": {"branch": "till", "sha": "` + head + `"}}`,
	}
	for name, text := range files {
		all[name] = text
	}
	dir := t.TempDir()
	for name, text := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		needs.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)))
	}
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return New(Options{Dir: dir, Now: func() time.Time { now = now.Add(time.Second); return now }})
}

// TestConversation posts a review, talks in its conversation, and reads it as another process would.
func TestConversation(t *testing.T) {
	ctx := t.Context()
	f := needs.Value(folder(t, nil))(t)
	at := precedent.Span{Path: "till.go", Side: precedent.Right, Start: 3, End: 4}
	draft := forge.Draft{
		Commit: base, Event: forge.RequestChanges, Body: "one finding", Remarks: []forge.Remark{{Span: at, Body: "wrong"}},
	}
	if _, err := f.Post(ctx, shop, 7, draft); err == nil || !strings.Contains(err.Error(), "the head is") {
		t.Errorf("another head: %v", err)
	}
	draft.Commit = head
	posted := needs.Value(f.Post(ctx, shop, 7, draft))(t)
	first := posted.Remarks[0]
	reply := needs.Value(f.Reply(ctx, shop, 7, first, "fixed"))(t)
	needs.Value(f.Comment(ctx, shop, 7, "summary"))(t)
	needs.NoError(t, f.Edit(ctx, shop, 7, forge.CommentRef{Kind: forge.OnLine, ID: first}, "worse"))
	needs.Value(f.Resolve(ctx, shop, 7, forge.Thread{ID: first}, true))(t)
	needs.Value(f.Dismiss(ctx, shop, 7, posted.Review, "it is fixed"))(t)

	f = needs.Value(New(Options{Dir: f.dir, Now: f.now}))(t)
	all := needs.Value(f.Comments(ctx, shop, 7))(t)
	if len(all) != 4 || all[0].ID != posted.Review || all[0].Blocks || all[1].Body != "worse" || all[1].Span != at ||
		!all[1].Edited.After(all[1].At) || all[2].ReplyTo != first || all[3].Kind != forge.OnThread {
		t.Errorf("%+v", all)
	}
	threads := needs.Value(f.Threads(ctx, shop, 7))(t)
	if len(threads) != 1 || !threads[0].Closed || threads[0].ClosedBy.Login != "precedent" ||
		len(threads[0].Comments) != 2 {
		t.Errorf("%+v", threads)
	}
	needs.Value(f.Delete(ctx, shop, 7, forge.CommentRef{Kind: forge.OnLine, ID: reply.ID}))(t)
	again := needs.Value(f.Comment(ctx, shop, 7, "more"))(t)
	if _, err := f.ReadComment(ctx, shop, 7, forge.CommentRef{Kind: forge.OnLine, ID: reply.ID}); err == nil ||
		again.ID == reply.ID {
		t.Errorf("the deleted comment is there: %v", err)
	}
	for who, want := range map[forge.Person]forge.Permission{
		{ID: "1", Login: "Ann"}: forge.Write, {ID: "1", Login: "bo"}: forge.None, {ID: "2", Login: "bo"}: forge.None,
		{}: forge.None,
	} {
		needs.Result(t, fmt.Sprint(who), want)(f.Permission(ctx, shop, who))
	}
}

// TestFence: without the consent of the fence nothing is written.
func TestFence(t *testing.T) {
	f := needs.Value(folder(t, nil))(t)
	lost := errors.New("the lease is lost")
	ctx := forge.WithFence(t.Context(), func(context.Context) error { return lost })
	_, said := f.Comment(ctx, shop, 7, "late")
	_, checked := f.Check(ctx, shop, forge.Check{Name: "precedent", Commit: head})
	if !errors.Is(said, lost) || !errors.Is(checked, lost) {
		t.Errorf("%v, %v", said, checked)
	}
	needs.Len(t, "comments", 0)(f.Comments(t.Context(), shop, 7))
	if _, err := os.Stat(filepath.Join(f.dir, "checks.json")); err == nil {
		t.Error("a check was written")
	}
}

// TestOthersComments are neither edited nor deleted.
func TestOthersComments(t *testing.T) {
	f, err := folder(t, map[string]string{
		"pulls/7/talk.json": `{"comments": [{"id": 1, "kind": "issue", "author": {"id": 1, "login": "ann"}, "body": "hm", "at": "2026-01-02T03:04:05Z"}]}`,
	})
	needs.NoError(t, err)
	ref := forge.CommentRef{Kind: forge.OnThread, ID: "1"}
	_, deleted := f.Delete(t.Context(), shop, 7, ref)
	for _, err := range []error{f.Edit(t.Context(), shop, 7, ref, "x"), deleted} {
		if e, ok := errors.AsType[*forge.Error](err); !ok || e.Kind != forge.KindAuth {
			t.Errorf("%v", err)
		}
	}
}

// TestBadFiles: each mistake of a person is named.
func TestBadFiles(t *testing.T) {
	const talk = "pulls/7/talk.json"
	for _, test := range []struct{ name, text, says string }{
		{"repo.json", `{"owner": "a/b", "name": "shop"}`, "do not identify a repository"},
		{
			"pulls/7.json", `{"title": "x", "base": {"branch": "main"}, "head": {"branch": "till"}}`,
			"need a branch, and a sha",
		},
		{talk, `{"comments": [{"id": 1, "kind": "note", "at": "2026-01-02T03:04:05Z"}]}`, "kind must be"},
		{talk, `{"comments": [{"id": 0, "kind": "issue", "at": "2026-01-02T03:04:05Z"}]}`, "positive and unique"},
		{talk, `{"comments": [], "Comments": []}`, "twice"},
	} {
		f, err := folder(t, map[string]string{test.name: test.text})
		if err == nil {
			_, err = f.PullRequest(t.Context(), shop, 7)
		}
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s %s: %v", test.name, test.text, err)
		}
	}
	f := needs.Value(folder(t, nil))(t)
	if _, err := f.PullRequest(t.Context(), precedent.Repo{Host: DefaultHost, Owner: "acme", Name: "other"},
		7); err == nil {
		t.Error("another repository is read")
	}
}
