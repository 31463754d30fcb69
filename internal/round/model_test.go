package round

import (
	"slices"
	"testing"

	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
)

// The model of a cycle: a pull request whose review finds something, which a fix settles, and everything
// that happens to it meanwhile. What decides is the real code: facts.due, label.Of, label.Next and
// label.Swap. Each step of a server is one request to the forge or one transaction.
type cycleModel struct {
	t      *testing.T
	labels []string
	fixed  bool // the fix is at the head
	noted  bool // the comment about the push is there
	read   [2]bool
	asked  bool // in a comment, for a review
	green  bool // CI of the fix

	wanted   bool // a job
	shape    string
	rounds   int
	labelled int // reviews with the label
	setBack  bool
	trail    []string

	at     int // steps so far
	events map[event]int
	killed bool // the running round
}

// event is what happens between two steps.
type event int

const (
	ownPush event = iota // the forge tells of the server's own push
	poll
	kill
	relabel // a person sets bot-review-needed
	ci      // CI of the fix passes
	takeover
	ask // a person asks for a review in a comment
	events
)

// step is one step of the running round. It is false if the round must not go on.
func (m *cycleModel) step(what string) bool {
	m.at++
	m.trail = append(m.trail, what)
	for e := range events {
		if m.events[e] == m.at {
			m.happen(e)
		}
	}
	return !m.killed
}

func (m *cycleModel) happen(e event) {
	names := label.DefaultNames()
	switch e {
	case ownPush:
		m.wanted = m.wanted || m.fixed
	case poll:
		m.poll()
	case kill, takeover: // another replica, or this one after a start, runs the job again
		m.trail, m.wanted, m.killed = append(m.trail, "KILL"), true, true
	case relabel:
		m.trail = append(m.trail, "PERSON")
		m.labels, m.setBack, m.labelled = []string{names.ReviewNeeded}, true, 0
	case ask:
		m.asked, m.wanted = true, true
	case ci:
		m.green = true
	}
}

func (m *cycleModel) shapeNow() string {
	shape := "head"
	if m.fixed {
		shape = "fix"
	}
	return shape + " " + slices.Sorted(slices.Values(m.labels))[0] + string(rune('0'+len(m.labels)))
}

func (m *cycleModel) poll() {
	if now := m.shapeNow(); now != m.shape {
		m.shape, m.wanted = now, true
	}
}

// round is a round of a server. Facts are read once, and checked again before a label changes.
func (m *cycleModel) round() {
	names := label.DefaultNames()
	m.wanted, m.killed = false, false
	m.rounds++
	state, head := label.Of(m.labels, names), m.fixed
	f := facts{state: state, asked: m.asked, pushed: m.fixed && m.noted && !m.read[1]}
	if !m.step("read") {
		return
	}
	enter := func(to label.State) {
		if m.fixed != head || label.Of(m.labels, names) != state {
			m.wanted = true
			return
		}
		m.shape = ""
		add, remove := label.Swap(m.labels, names, to)
		if add != "" {
			m.labels = append(slices.Clone(m.labels), add)
			if !m.step("add " + add) {
				return
			}
		}
		for _, r := range remove {
			if !slices.Contains(m.labels, names.Of(to)) { // what a person set meanwhile stays
				m.wanted = true
				return
			}
			m.labels = slices.DeleteFunc(slices.Clone(m.labels), func(l string) bool { return l == r })
			if !m.step("remove " + r) {
				return
			}
		}
		m.shape = ""
		m.wanted = m.wanted || to != label.HumanReview && to != label.Intervention
		m.check(to)
	}
	follow := func(e label.Event) {
		enter(label.Next(state, e))
	}
	switch f.due() {
	case doReviewLabelled, doReview:
		n := 0
		if head {
			n = 1
		}
		if !m.step("review") {
			return
		}
		if m.fixed != head {
			m.wanted = true
			return
		}
		m.read[n], m.asked, m.wanted = true, false, m.wanted || f.state != label.ReviewNeeded
		if !m.step("post") || f.state != label.ReviewNeeded {
			return
		}
		m.labelled++
		if head {
			follow(label.Event{Kind: label.Clean})
		} else {
			follow(label.Event{Kind: label.Findings})
		}
	case doAfterPush:
		follow(label.Event{Kind: label.FixPushed})
	case doFix:
		if m.fixed && m.read[1] {
			follow(label.Event{Kind: label.NothingOpen})
			return
		}
		if !m.step("edit") {
			return
		}
		if !m.fixed { // else the push of an interrupted round is adopted
			m.fixed = true
			if !m.step("push") {
				return
			}
		}
		m.noted, head = true, true
		if !m.step("note") {
			return
		}
		follow(label.Event{Kind: label.FixPushed})
	case doChecks:
		if m.green {
			enter(label.Next(state, label.Event{Kind: label.ChecksPassed}))
			return
		}
		if m.wanted = true; len(label.Found(m.labels, names)) > 1 {
			enter(state)
		}
	case doTidy:
		if len(label.Found(m.labels, names)) > 1 {
			enter(state)
		}
	}
}

// check fails if a state is wrong for what has happened.
func (m *cycleModel) check(to label.State) {
	switch {
	case to == label.Intervention:
		m.t.Fatalf("people have to look at a pull request that was fixed: %q", m.trail)
	case to == label.HumanReview && (!m.fixed || !m.read[1]):
		m.t.Fatalf("a person is asked to review what is not reviewed and clean: %q", m.trail)
	case to == label.HumanReview && !m.green && !m.setBack: // a person's label asks for a review, not for CI
		m.t.Fatalf("a person is asked to review before CI has passed: %q", m.trail)
	}
}

// TestCycleInAllOrders puts the server's own push, a poll, a kill, a replica that takes over, a person's
// label and the end of CI between any two steps of the cycle. It ends with one label, the right one, after
// a review that the person's label has asked for.
func TestCycleInAllOrders(t *testing.T) {
	names := label.DefaultNames()
	schedules, every := 0, 2
	if needs.Soaking() {
		every = 1
	}
	const latest = 17 // more than the steps of an undisturbed cycle
	for person := 1; person <= latest; person++ {
		for killed := 1; killed <= latest; killed += every {
			for asked := 1; asked <= latest; asked += 2 {
				for polled := 1; polled <= latest; polled += 3 {
					for passed := 2; passed <= latest+3; passed += 6 {
						m := &cycleModel{t: t, labels: []string{names.ReviewNeeded}, wanted: true, events: map[event]int{
							relabel: person, kill: killed, takeover: killed + asked, ask: asked, poll: polled, ownPush: polled + 1,
							ci: passed,
						}}
						m.run()
						schedules++
					}
				}
			}
		}
	}
	t.Logf("%d schedules", schedules)
	if schedules < 10_000 {
		t.Errorf("only %d schedules", schedules)
	}
}

func (m *cycleModel) run() {
	for m.rounds < 60 {
		for e := range events { // also what happens while the server is idle
			if m.events[e] == m.at+1 && !m.wanted {
				m.at++
				m.happen(e)
			}
		}
		if !m.wanted {
			m.poll()
		}
		if !m.wanted {
			if m.at < 40 && len(m.trail) < 100 && m.pending() {
				m.at++
				continue
			}
			break
		}
		m.round()
		if m.events[ci] < m.at {
			m.green = true
		}
	}
	want := []string{label.DefaultNames().HumanReview}
	if !slices.Equal(m.labels, want) {
		m.t.Fatalf("labels %q, want %q, %d rounds: %q (%v)", m.labels, want, m.rounds, m.trail, m.events)
	}
	if m.setBack && m.labelled == 0 {
		m.t.Fatalf("no review after a person had asked for it: %q (%v)", m.trail, m.events)
	}
}

// pending tells whether an event has not happened yet.
func (m *cycleModel) pending() bool {
	for e := range events {
		if m.events[e] > m.at {
			return true
		}
	}
	return false
}
