package forgetest

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// writeFaults tests failures of requests that make changes. It skips forges without a server.
func writeFaults(t *testing.T, build Build) {
	t.Helper()
	const post = http.MethodPost
	for _, test := range []struct {
		name   string
		fault  Fault
		happen bool // what is asked for is done in spite of it
	}{
		{"done, and the connection broke", Fault{Method: post, After: true, Drop: true}, true},
		{"done, and 502", Fault{Method: post, After: true, Status: 502}, true},
		{"done, and 504 without words", Fault{Method: post, After: true, Status: 504, Body: "<html>"}, true},
		{"done, and the answer was cut", Fault{Method: post, Cut: 20}, true},
		{"done, and the answer is not JSON", Fault{Method: post, After: true, Status: 200, Body: "<html>"}, true},
		{"done, and the answer is empty", Fault{Method: post, After: true, Status: 201}, true},
		{"not done, and the connection broke", Fault{Method: post, Drop: true}, false},
		{"not done, and 502", Fault{Method: post, Status: 502}, false},
		{
			"not done, and 503 that says when",
			Fault{Method: post, Status: 503, Header: map[string]string{"Retry-After": "3"}},
			false,
		},
		{
			"not done, and the answer repeats the token",
			Fault{Method: post, Status: 500, Body: `{"message":"` + Secret + `"}`},
			false,
		},
	} {
		for name, say := range waysToSay {
			t.Run(test.name+": "+name, func(t *testing.T) {
				s, f, p := writable(t, build)
				root := s.World.Remark(p, Bo, goodRemarks[0].Span, "Why?").ID
				s.Script.Plan(test.fault)
				err := say(t, f, p, root)
				if forge.KindOf(err) == forge.KindUnsupported {
					checkNothingPosted(t, s, p)
					return
				}
				said := len(s.World.By(p, s.World.Me))
				posts := 0
				for _, r := range s.Script.Requests() {
					if r.Method == post && r.Writes() {
						posts++
					}
				}
				if err == nil && said == 1 && posts == 1 {
					return // it could be read after all
				}
				var e *forge.Error
				if !errors.As(err, &e) || !e.Unsure && said > 0 || test.happen && !e.Unsure || !test.happen && said > 0 {
					t.Fatalf("%+v, and %d comments are seen", err, said)
				}
				if posts != 1 {
					t.Errorf("it was sent %d times", posts)
				}
				checkWriteErrorText(t, err)
			})
		}
	}
	t.Run("limits", func(t *testing.T) { writeLimits(t, build) })
	t.Run("cut off at each request", func(t *testing.T) { interruptedPosts(t, build) })
	t.Run("an edit is unsure", func(t *testing.T) { unsureEdit(t, build) })
}

// interruptedPosts: wherever the connection breaks while a review is posted, there is
// one review after a caller that got a definite error has tried again.
func interruptedPosts(t *testing.T, build Build) {
	t.Helper()
	const most = 200 // requests of one review with a rejected remark among four
	for _, after := range []bool{false, true} {
		for k := range most {
			s, f, p := writable(t, build)
			s.Script.Plan(Fault{Skip: k, After: after, Drop: true})
			d := draftOf(p, goodRemarks[0], badRemarks[0], goodRemarks[1], goodRemarks[2])
			_, err := f.Post(t.Context(), repo(f), till, d)
			if s.Script.Left() > 0 {
				if k == 0 || err != nil {
					t.Errorf("%d requests, %v", k, err)
				}
				break // so many requests were not sent
			}
			var e *forge.Error
			unsure := errors.As(err, &e) && e.Unsure
			if seen := len(s.World.Reviews(p)); err != nil && (seen > 1 || seen == 1 && !unsure) || err == nil && seen != 1 {
				t.Errorf("cut off at request %d, done before: %v: %+v, and %d reviews are seen", k, after, err, seen)
			}
			if len(s.World.Reviews(p)) == 0 {
				if _, err := f.Post(t.Context(), repo(f), till, d); err != nil {
					t.Errorf("cut off at request %d, done before: %v: again: %v", k, after, err)
				}
			}
			if all := s.World.Reviews(p); len(all) != 1 || all[0].Inline != 3 || s.World.Unsent(p) != 0 {
				t.Errorf("cut off at request %d, done before: %v: reviews %+v, %d not sent", k, after, all, s.World.Unsent(p))
			}
		}
	}
}

// unsureEdit: an edit without an answer is unsure, and not repeated.
func unsureEdit(t *testing.T, build Build) {
	t.Helper()
	s, f, p := writable(t, build)
	m, err := f.Comment(t.Context(), repo(f), till, "first")
	needs.NoError(t, err)
	s.Script.Plan(Fault{Method: http.MethodPatch, After: true, Status: http.StatusBadGateway})
	err = f.Edit(t.Context(), repo(f), till, forge.CommentRef{Kind: m.Kind, ID: m.ID}, "second")
	if s.Script.Left() > 0 {
		t.Skip("this forge edits in another way")
	}
	sent := 0
	for _, r := range s.Script.Requests() {
		if r.Method == http.MethodPatch {
			sent++
		}
	}
	var e *forge.Error
	if !errors.As(err, &e) || !e.Unsure || sent != 1 || string(s.World.By(p, s.World.Me)[0].Body) != "second" {
		t.Errorf("%+v after %d requests", err, sent)
	}
}

// waysToSay are requests that post one comment.
var waysToSay = map[string]func(*testing.T, forge.Forge, *Pull, precedent.ForgeID) error{
	"review": func(t *testing.T, f forge.Forge, p *Pull, _ precedent.ForgeID) error {
		_, err := f.Post(t.Context(), repo(f), till, draftOf(p))
		return err
	},
	"comment": func(t *testing.T, f forge.Forge, _ *Pull, _ precedent.ForgeID) error {
		_, err := f.Comment(t.Context(), repo(f), till, "hello")
		return err
	},
	"reply": func(t *testing.T, f forge.Forge, _ *Pull, root precedent.ForgeID) error {
		_, err := f.Reply(t.Context(), repo(f), till, root, "hello")
		return err
	},
}

// checkWriteErrorText checks the text of an error.
func checkWriteErrorText(t *testing.T, err error) {
	t.Helper()
	if e, ok := errors.AsType[*forge.Error](err); ok {
		checkErrorText(t, &forge.Error{Msg: e.Msg + " acme/shop#1"})
	}
}

// writeLimits: a request refused by a rate limit was not carried out. It is sent
// again exactly when the limit ends, once.
func writeLimits(t *testing.T, build Build) {
	t.Helper()
	secondary := `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`
	for _, test := range []struct {
		name  string
		fault Fault
		wait  time.Duration // 0: too long to wait for
	}{
		{
			"429",
			Fault{Method: http.MethodPost, Status: 429, Header: map[string]string{"Retry-After": "17"}},
			17 * time.Second,
		},
		{"403 that says when", Fault{
			Method: http.MethodPost, Status: 403, Header: map[string]string{"Retry-After": "23"}, Body: secondary,
		}, 23 * time.Second},
		{"429 for long", Fault{
			Method: http.MethodPost, Status: 429, Header: map[string]string{"Retry-After": "7200"}, Times: 9,
		}, 0},
	} {
		for name, say := range waysToSay {
			t.Run(test.name+": "+name, func(t *testing.T) {
				s, f, p := writable(t, build)
				root := s.World.Remark(p, Bo, goodRemarks[0].Span, "Why?").ID
				s.Script.Plan(test.fault)
				err := say(t, f, p, root)
				all := slices.DeleteFunc(s.Script.Requests(), func(r Request) bool { return r.Method != http.MethodPost })
				switch {
				case forge.KindOf(err) == forge.KindUnsupported:
					checkNothingPosted(t, s, p)
				case test.wait == 0:
					refused(t, err, forge.KindRate)
					if !retry(err).Equal(all[0].At.Add(2*time.Hour)) || len(all) != 1 {
						t.Errorf("%d requests, to be asked again at %s", len(all), retry(err))
					}
					checkNothingPosted(t, s, p)
				case err != nil || len(all) != 2 || all[1].At.Sub(all[0].At) != test.wait:
					t.Errorf("%v after %d requests", err, len(all))
				default:
					if n := len(s.World.By(p, s.World.Me)); n != 1 {
						t.Errorf("%d comments", n)
					}
				}
			})
		}
	}
}
