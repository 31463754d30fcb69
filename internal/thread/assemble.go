package thread

import (
	"cmp"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// assembly is the state of Assemble for one pull request.
type assembly struct {
	self     Identity
	stored   []precedent.Thread
	comments []forge.Comment // oldest first
	convs    []forge.Thread
	convOf   map[precedent.ForgeID]int // by comment
	mayWrite func(forge.Person) bool
	asked    map[precedent.ForgeID]bool // results of mayWrite, by person
	threads  []precedent.Thread
	openers  map[precedent.ForgeID]int     // by comment, the index in threads
	alive    map[int]bool                  // by index: the comment exists
	moved    map[string][]precedent.Thread // by commit, copies of the threads
}

// openThreads finds the threads and the comments that opened them. Of several comments about
// one fingerprint the oldest existing one counts. A thread whose comment is no longer listed
// was deleted.
func (a *assembly) openThreads() {
	byThread, byComment, byFingerprint := map[string]int{}, map[precedent.ForgeID]int{}, map[string]int{}
	unproven := map[string]bool{} // fingerprints in markers that do not count
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
		stored, knowsComment := byComment[c.ID]
		if knowsComment && (!ok || !a.self.Proven) {
			a.noteOpener(stored, c)
			continue
		}
		if !ok || m.Kind != comment.Finding || m.Thread == "" || m.Fingerprint == "" {
			continue
		}
		if !a.self.Proven {
			unproven[m.Fingerprint] = true
			continue
		}
		_, knowsThread := byThread[m.Thread]
		i, known := byFingerprint[m.Fingerprint]
		switch {
		case !known && knowsThread:
			continue // the thread is about another finding: the marker was tampered with
		case !known:
			i = len(a.threads)
			byThread[m.Thread], byFingerprint[m.Fingerprint] = i, i
			a.threads = append(a.threads, newThread(c, m, a.self.Number))
		}
		a.noteOpener(i, c)
	}
	for i := range a.threads {
		t := &a.threads[i]
		if !a.alive[i] && unproven[t.Fingerprint] {
			// A run with another memory may have replaced the comment. That deletes no finding, and
			// the other comment hides none: the finding is in the summary.
			t.Comment, t.URL = "", ""
		}
		old := a.self.Now.Sub(t.OpenedAt) >= listLag
		t.Deleted = !a.alive[i] && (t.Deleted || t.Comment != "" && !a.self.Partial && old)
	}
}

// noteOpener records that a comment opened a thread. A comment that the store knows by its id
// needs no readable marker: after a change of the key, the repository's name or the account it
// must not count as deleted.
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

// newThread returns the thread of a comment that the store does not know.
func newThread(c forge.Comment, m comment.Marker, number int) precedent.Thread {
	span, commit := PlaceOf(c, m)
	return precedent.Thread{
		ID: m.Thread, PullRequest: number, Review: m.Review, Finding: m.Finding, Fingerprint: m.Fingerprint,
		Category: m.Category, Severity: m.Severity, Confidence: m.Confidence, Title: m.Title,
		Span: span, Commit: commit, State: precedent.ThreadOpen, OpenedAt: c.At,
	}
}

// PlaceOf returns the lines that a comment of ours is about, and the commit that their numbers
// belong to. The marker has all of them, but a forge may show only the last. If the forge says
// that the comment is elsewhere at the marker's commit, the forge counts.
func PlaceOf(c forge.Comment, m comment.Marker) (at precedent.Span, commit string) {
	at, commit = c.Span, cmp.Or(c.Commit, m.Head)
	moved := c.Commit != m.Head
	if m.Start > 0 && m.Head != "" && (moved || at.Start == 0 || at.End == m.End) {
		at.Start, at.End, commit = m.Start, m.End, m.Head
	}
	return at, commit
}

// addMessages adds the messages to their threads. Some forges have one conversation per line,
// with several threads in it: there a message belongs to the thread of the comment that it
// answers, or else to the last thread opened before it.
func (a *assembly) addMessages() {
	messages := make([][]forge.Comment, len(a.threads))
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
			if i, ok = a.threadAt(c); !ok {
				continue
			}
			if grouped {
				last[conv] = i
			}
		}
		thread[c.ID] = i
		messages[i] = append(messages[i], c)
	}
	for i := range a.threads {
		t := &a.threads[i]
		if a.alive[i] {
			t.Messages = nil
			for _, c := range messages[i][max(0, len(messages[i])-maxMessages):] {
				t.Messages = append(t.Messages, a.message(c))
			}
		}
		for j := range t.Messages {
			a.askPermission(&t.Messages[j])
		}
	}
}

// threadAt returns the thread on whose lines a person started another conversation: of
// several the one that ends on the same line, or else the one opened last.
func (a *assembly) threadAt(c forge.Comment) (thread int, ok bool) {
	if c.ReplyTo != "" || c.Span.Start == 0 || c.Commit == "" || a.self.Relocated == nil || !fromPerson(a.message(c)) {
		return 0, false
	}
	moved, known := a.moved[c.Commit]
	if !known && len(a.moved) < maxCommits {
		moved = a.self.Relocated(c.Commit, a.threads)
		a.moved[c.Commit] = moved
	}
	exact := false
	for i, t := range moved {
		at := t.Current
		at.Side = cmp.Or(at.Side, precedent.Right)
		if !a.alive[i] || at.Start == 0 || !at.Overlaps(c.Span) || c.At.Before(t.OpenedAt) || exact && at.End != c.Span.End {
			continue
		}
		thread, ok, exact = i, true, at.End == c.Span.End
	}
	return thread, ok
}

// message converts a comment of a thread, without the credentials in it: it is stored. A comment by Me without a marker was written by a
// person, unless Me is a bot: a person may use the account, too.
func (a *assembly) message(c forge.Comment) precedent.Message {
	_, own := a.self.readMarker(c)
	own = own || a.self.Me.ID != "" && c.Author.ID == a.self.Me.ID && a.self.Me.Bot
	body := secret.RedactText(text.Cut(string(c.Body), maxMessage))
	return precedent.Message{
		ID: c.ID, Who: c.Author.Login, WhoID: c.Author.ID, Own: own, Bot: !own && c.Author.Bot,
		Body: precedent.Untrusted(body), At: c.At,
	}
}

// askPermission sets whether the author of a message may write. Bots and deleted accounts may
// not.
func (a *assembly) askPermission(m *precedent.Message) {
	m.MayWrite = false
	if fromPerson(*m) {
		m.MayWrite = a.hasWritePermission(forge.Person{ID: m.WhoID, Login: m.Who})
	}
}

// hasWritePermission tells whether a person has write permission, which is looked up once.
func (a *assembly) hasWritePermission(who forge.Person) bool {
	may, known := a.asked[who.ID]
	if !known && len(a.asked) < maxAsked {
		may = a.mayWrite(who)
		a.asked[who.ID] = may
	}
	return may
}

// fromPerson tells whether a person with an existing account wrote the message.
func fromPerson(m precedent.Message) bool { return !m.Own && !m.Bot && m.WhoID != "" }

// decideState sets the state of a thread and the state of its conversation. Forges let the
// author of a pull request close conversations in it, so closing alone does not resolve the
// thread.
func (a *assembly) decideState(t *precedent.Thread) {
	claimed := false // closed by somebody without write permission, or by an unknown account
	before, known := a.storedThread(t.ID)
	if before.Deleted && !t.Deleted {
		before.State = precedent.ThreadOpen // the comment is back
	}
	conv, ok := a.convOf[t.Comment]
	if ok && t.Comment != "" && a.convs[conv].ID != "" { // without an id, the forge did not say whether it is closed
		c := a.convs[conv]
		t.Forge, t.Closed, t.ClosedBy = c.ID, c.Closed, ""
		if c.Closed {
			t.ClosedBy = c.ClosedBy.Login
		}
		if c.Closed && !a.closedByUs(c.ClosedBy, before) {
			if c.ClosedBy.ID != "" && a.hasWritePermission(c.ClosedBy) {
				t.State = precedent.ThreadResolved
				return
			}
			claimed = true
		}
	}
	reopened := known && before.Closed && !t.Closed
	if reopened || t.DismissedWords == "" {
		t.DismissedBy, t.DismissedWords = "", "" // Dismiss knows who still votes against it
	}
	voted := before.DismissedBy != "" && before.DismissedWords == ""
	_, _, declined := dismissedIn(*t, dismissers(*t, a.self.Author))
	switch {
	case t.Deleted, declined, before.State == precedent.ThreadWontFix && !reopened && !voted:
		t.State = precedent.ThreadWontFix
	case before.State == precedent.ThreadResolved && !reopened:
		t.State = precedent.ThreadResolved
	case t.Closed && !claimed && before.State != precedent.ThreadWontFix:
		t.State = precedent.ThreadAddressed // it was us
	case a.isPending(*t, before):
		t.State = precedent.ThreadPending
	case before.State == precedent.ThreadAddressed && !reopened:
		t.State = precedent.ThreadAddressed
	default:
		t.State = precedent.ThreadOpen
	}
}

// storedThread returns the thread as it is stored.
func (a *assembly) storedThread(id string) (precedent.Thread, bool) {
	i := slices.IndexFunc(a.stored, func(t precedent.Thread) bool { return t.ID == id })
	if i < 0 {
		return precedent.Thread{}, false
	}
	return a.stored[i], true
}

// closedByUs tells whether we closed a conversation. If the forge does not say who did, or if
// a person may use the account, too, we did if we had found the thread addressed; with the account also if it was
// dismissed.
func (a *assembly) closedByUs(by forge.Person, before precedent.Thread) bool {
	switch {
	case by.ID == "" && by.Login == "":
		return before.State == precedent.ThreadAddressed
	case by.ID == "" || by.ID != a.self.Me.ID:
		return false
	}
	return a.self.Me.Bot || before.State == precedent.ThreadAddressed || before.State == precedent.ThreadWontFix
}

// isPending tells whether a person wrote after our last message and no review has handled
// that: it would have changed the state.
func (a *assembly) isPending(t, before precedent.Thread) bool {
	for _, m := range slices.Backward(t.Messages) {
		if m.Own {
			return false
		}
		if fromPerson(m) {
			seen := slices.ContainsFunc(before.Messages, func(o precedent.Message) bool {
				return o.ID == m.ID &&
					o.Body == m.Body
			})
			return !seen || before.State == precedent.ThreadPending
		}
	}
	return false
}
