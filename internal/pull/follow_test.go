package pull

import (
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestAsPosted: the posts tell what the threads should say where a process ended in between.
func TestAsPosted(t *testing.T) {
	reply := func(s store.PostState) store.Post {
		return store.Post{Thread: "t", Kind: store.PostReply, Review: "r1", State: s}
	}
	shut := func(s store.PostState) store.Post {
		return store.Post{Thread: "t", Kind: store.PostClose, Review: "r1", State: s}
	}
	newer := store.Post{Kind: store.PostSummary, Review: "r2", State: store.PostConfirmed}
	const open, addressed, pending = precedent.ThreadOpen, precedent.ThreadAddressed, precedent.ThreadPending
	type posts = []store.Post
	for _, test := range []struct {
		name   string
		before precedent.ThreadState
		posts  posts
		want   precedent.ThreadState
	}{
		{"nothing was posted", open, nil, open},
		{"closed, and not written down", open, posts{reply(store.PostConfirmed), shut(store.PostConfirmed)}, addressed},
		{"closed, and another review came to another end", open, posts{shut(store.PostConfirmed), newer}, open},
		{"never closed", addressed, posts{reply(store.PostConfirmed), shut(store.PostSuperseded), newer}, pending},
		{"killed while it was closed", addressed, posts{reply(store.PostConfirmed), shut(store.PostSending)}, addressed},
		{"the forge cannot close", addressed, posts{shut(store.PostRejected)}, addressed},
		{"a person ended it", precedent.ThreadWontFix, posts{reply(store.PostSuperseded)}, precedent.ThreadWontFix},
	} {
		got := withPostStates([]precedent.Thread{{ID: "t", State: test.before}, {ID: "other", State: precedent.ThreadOpen}},
			test.posts)
		if got[0].State != test.want || got[1].State != precedent.ThreadOpen {
			t.Errorf("%s: %s, want %s", test.name, got[0].State, test.want)
		}
	}
}
