package pull

import (
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestAsPosted: the posts tell what the threads should say where a process ended in
// between.
func TestAsPosted(t *testing.T) {
	post := func(kind store.PostKind, review string, state store.PostState) store.Post {
		return store.Post{Thread: "t", Kind: kind, Review: review, State: state}
	}
	newer := store.Post{Kind: store.PostSummary, Review: "r2", State: store.PostConfirmed}
	for _, test := range []struct {
		name   string
		before precedent.ThreadState
		posts  []store.Post
		want   precedent.ThreadState
	}{
		{"nothing was posted", precedent.ThreadOpen, nil, precedent.ThreadOpen},
		{"closed, and not written down", precedent.ThreadOpen, []store.Post{
			post(store.PostReply, "r1", store.PostConfirmed),
			post(store.PostClose, "r1", store.PostConfirmed),
		}, precedent.ThreadAddressed},
		{
			"closed, and another review came to another end", precedent.ThreadOpen,
			[]store.Post{post(store.PostClose, "r1", store.PostConfirmed), newer},
			precedent.ThreadOpen,
		},
		{"never closed", precedent.ThreadAddressed, []store.Post{
			post(store.PostReply, "r1", store.PostConfirmed), post(store.PostClose, "r1", store.PostSuperseded), newer,
		}, precedent.ThreadPending},
		{
			"still to be closed", precedent.ThreadAddressed,
			[]store.Post{post(store.PostClose, "r1", store.PostPlanned)},
			precedent.ThreadPending,
		},
		{
			"killed while it was closed", precedent.ThreadAddressed,
			[]store.Post{post(store.PostReply, "r1", store.PostConfirmed), post(store.PostClose, "r1", store.PostSending)},
			precedent.ThreadAddressed,
		},
		{
			"the forge cannot close", precedent.ThreadAddressed,
			[]store.Post{post(store.PostClose, "r1", store.PostRejected)},
			precedent.ThreadAddressed,
		},
		{
			"never answered", precedent.ThreadOpen,
			[]store.Post{post(store.PostReply, "r1", store.PostSuperseded), newer},
			precedent.ThreadPending,
		},
		{
			"a person ended it", precedent.ThreadWontFix,
			[]store.Post{post(store.PostReply, "r1", store.PostSuperseded)},
			precedent.ThreadWontFix,
		},
	} {
		got := withPostStates([]precedent.Thread{{ID: "t", State: test.before}, {ID: "other", State: precedent.ThreadOpen}},
			test.posts)
		if got[0].State != test.want || got[1].State != precedent.ThreadOpen {
			t.Errorf("%s: %s, want %s", test.name, got[0].State, test.want)
		}
	}
}
