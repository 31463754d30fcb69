package thread

import (
	"cmp"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/text"
)

// assembly is one pull request while its threads are put together.
type assembly struct {
	self     Identity
	stored   []precedent.Thread
	comments []forge.Comment           // oldest first
	byID     map[precedent.ForgeID]int // inline comments
	convs    []forge.Thread
	convOf   map[precedent.ForgeID]int // by comment
	mayWrite func(forge.Person) bool
	asked    map[precedent.ForgeID]bool // what was answered, by person
	threads  []precedent.Thread
	openers  map[precedent.ForgeID]int // by comment, the index in threads
	alive    map[int]bool              // by index: the comment is there
}

// openThreads finds the threads and the comments that opened them. Of several comments
// about one fingerprint the oldest that is there counts. A thread whose comment is
// not listed any more is gone.
func (a *assembly) openThreads() {
	byThread, byComment, byFingerprint := map[string]int{}, map[precedent.ForgeID]int{}, map[string]int{}
	a.openers, a.alive = map[precedent.ForgeID]int{}, map[int]bool{}
	for _, t := range a.stored {
		if _, double := byFingerprint[t.Fingerprint]; double {
			continue
		}
		i := len(a.threads)
		byThread[t.ID], byFingerprint[t.Fingerprint] = i, i
		if t.Comment != "" {
			byComment[t.Comment] = i
		}
		t.Messages = slices.Clone(t.Messages)
		a.threads = append(a.threads, t)
	}
	for _, c := range a.comments {
		if c.Kind != forge.OnLine {
			continue
		}
		m, ok := a.self.readMarker(c)
		stands, knowsComment := byComment[c.ID]
		if !ok && knowsComment {
			a.noteOpener(stands, c)
			continue
		}
		if !ok || m.Kind != comment.Finding || m.Thread == "" || m.Fingerprint == "" {
			continue
		}
		_, knowsThread := byThread[m.Thread]
		if !a.self.Signed && len(a.stored) > 0 && !knowsThread && !knowsComment {
			continue
		}
		i, known := byFingerprint[m.Fingerprint]
		switch {
		case !known && knowsThread:
			continue // the thread is about something else: a marker that was tampered with
		case !known:
			i = len(a.threads)
			byThread[m.Thread], byFingerprint[m.Fingerprint] = i, i
			a.threads = append(a.threads, newThread(c, m, a.self.Number))
		}
		a.noteOpener(i, c)
	}
	for i := range a.threads {
		t := &a.threads[i]
		old := a.self.Now.Sub(t.OpenedAt) >= listLag
		t.Deleted = !a.alive[i] && (t.Deleted || t.Comment != "" && !a.self.Partial && old)
	}
}

// noteOpener notes that a comment opened a thread. Of one that the store knows by its
// number the mark need not be readable, as after the key was changed, the
// repository renamed or another account taken: it was not deleted for that.
func (a *assembly) noteOpener(i int, c forge.Comment) {
	a.openers[c.ID] = i
	if a.alive[i] {
		return
	}
	a.alive[i] = true
	t := &a.threads[i]
	t.Comment, t.URL = c.ID, c.URL
	if t.OpenedAt.IsZero() {
		t.OpenedAt = c.At
	}
}

// newThread is the thread of a comment that the store does not know.
func newThread(c forge.Comment, m comment.Marker, number int) precedent.Thread {
	return precedent.Thread{
		ID: m.Thread, PullRequest: number, Review: m.Review, Finding: m.Finding, Fingerprint: m.Fingerprint,
		Category: m.Category, Severity: m.Severity, Confidence: m.Confidence, Title: m.Title,
		Span: c.Span, Commit: cmp.Or(c.Commit, m.Head), State: precedent.ThreadOpen, OpenedAt: c.At,
	}
}

// addMessages gives each thread its messages. In a conversation that holds several
// threads, as on forges that know one a line, a message belongs to the thread of
// the comment that it answers, or else to the one that was opened last before it.
func (a *assembly) addMessages() {
	said := make([][]forge.Comment, len(a.threads))
	last := map[int]int{} // by conversation, the thread that was opened last
	thread := map[precedent.ForgeID]int{}
	for _, c := range a.comments {
		if c.Kind != forge.OnLine {
			continue
		}
		conv, grouped := a.convOf[c.ID]
		if i, opens := a.openers[c.ID]; opens {
			thread[c.ID] = i
			if grouped {
				last[conv] = i
			}
			continue
		}
		i, ok := thread[c.ReplyTo]
		if !ok && grouped {
			i, ok = last[conv]
		}
		if !ok {
			continue
		}
		thread[c.ID] = i
		said[i] = append(said[i], c)
	}
	for i := range a.threads {
		t := &a.threads[i]
		if a.alive[i] {
			t.Messages = nil
			for _, c := range said[i][max(0, len(said[i])-maxMessages):] {
				t.Messages = append(t.Messages, a.message(c))
			}
		}
		for j := range t.Messages {
			a.askPermission(&t.Messages[j])
		}
	}
}

// message is a comment in a thread. Without a mark, what Me wrote is a person's
// word: the account may be one that a person uses too.
func (a *assembly) message(c forge.Comment) precedent.Message {
	_, own := a.self.readMarker(c)
	own = own || a.self.Me.ID != "" && c.Author.ID == a.self.Me.ID && a.self.Me.Bot
	return precedent.Message{
		ID: c.ID, Who: c.Author.Login, WhoID: c.Author.ID, Own: own, Bot: !own && c.Author.Bot,
		Body: precedent.Untrusted(text.Cut(string(c.Body), maxMessage)), At: c.At,
	}
}

// askPermission finds out what the author of a message may do. Programs and deleted
// accounts may nothing.
func (a *assembly) askPermission(m *precedent.Message) {
	m.MayWrite = false
	if fromPerson(*m) {
		m.MayWrite = a.hasWritePermission(forge.Person{ID: m.WhoID, Login: m.Who})
	}
}

// hasWritePermission tells whether a person has write permission, which is asked once.
func (a *assembly) hasWritePermission(who forge.Person) bool {
	may, known := a.asked[who.ID]
	if !known && len(a.asked) < maxAsked {
		may = a.mayWrite(who)
		a.asked[who.ID] = may
	}
	return may
}

// fromPerson tells whether a person who can still be asked wrote the message.
func fromPerson(m precedent.Message) bool { return !m.Own && !m.Bot && m.WhoID != "" }

// decideState sets the state of a thread, with what the forge shows of its conversation.
// Forges let whoever opened a pull request close conversations in it, so where a
// mistake could cost data or security that alone settles nothing.
func (a *assembly) decideState(t *precedent.Thread) {
	claimed := false // closed by somebody whose word does not count here
	before, known := a.storedThread(t.ID)
	if before.Deleted && !t.Deleted {
		before.State = precedent.ThreadOpen // it was not gone after all
	}
	if conv, ok := a.convOf[t.Comment]; ok && t.Comment != "" {
		c := a.convs[conv]
		t.Forge, t.Closed, t.ClosedBy = c.ID, c.Closed, ""
		if c.Closed {
			t.ClosedBy = c.ClosedBy.Login
		}
		if c.Closed && !a.closedByUs(c.ClosedBy, before) {
			if !t.Category.Protected() || c.ClosedBy.ID == "" || a.hasWritePermission(c.ClosedBy) {
				t.State = precedent.ThreadResolved
				return
			}
			claimed = true
		}
	}
	reopened := known && before.Closed && !t.Closed
	_, _, declined := dismissedIn(*t, fromTeam)
	switch {
	case t.Deleted, declined, before.State == precedent.ThreadWontFix:
		t.State = precedent.ThreadWontFix
	case before.State == precedent.ThreadResolved && !reopened:
		t.State = precedent.ThreadResolved
	case t.Closed && !claimed:
		t.State = precedent.ThreadAddressed // it was us
	case a.isPending(*t, before):
		t.State = precedent.ThreadPending
	case before.State == precedent.ThreadAddressed && !reopened:
		t.State = precedent.ThreadAddressed
	default:
		t.State = precedent.ThreadOpen
	}
}

// storedThread is the thread as it is stored.
func (a *assembly) storedThread(id string) (precedent.Thread, bool) {
	i := slices.IndexFunc(a.stored, func(t precedent.Thread) bool { return t.ID == id })
	if i < 0 {
		return precedent.Thread{}, false
	}
	return a.stored[i], true
}

// closedByUs tells whether it was us who closed a conversation. Where the forge does
// not say who did, or Me is an account that a person uses too, it was us if we
// had found it addressed.
func (a *assembly) closedByUs(by forge.Person, before precedent.Thread) bool {
	switch {
	case by.ID == "" && by.Login == "":
		return before.State == precedent.ThreadAddressed
	case by.ID == "" || by.ID != a.self.Me.ID:
		return false
	}
	return a.self.Me.Bot || before.State == precedent.ThreadAddressed
}

// isPending tells whether a person wrote after our last word, and no review has
// looked at it: one that did left the thread in another state.
func (a *assembly) isPending(t, before precedent.Thread) bool {
	for _, m := range slices.Backward(t.Messages) {
		if m.Own {
			return false
		}
		if fromPerson(m) {
			seen := slices.ContainsFunc(before.Messages, func(o precedent.Message) bool { return o.ID == m.ID && o.Body == m.Body })
			return !seen || before.State == precedent.ThreadPending
		}
	}
	return false
}
