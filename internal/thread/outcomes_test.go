package thread

import (
	"errors"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// flagged is a file whose line 5 is flagged, and can become another one.
func flagged(line string) string {
	return file(1, 4) + line + file(6, 9)
}

const was = "\tdefer f.Close()\n"

// posted is a thread about line 5 of that file.
func posted() precedent.Thread {
	th := at(5, 5)
	th.Finding, th.PullRequest, th.Title, th.Comment, th.State = "id1", 7, "Error of Close is ignored", "41",
		precedent.ThreadOpen
	th.Category, th.Severity, th.Confidence, th.URL = precedent.Bugs, precedent.Medium, 85, "https://example.com/41"
	th.Quote = strings.TrimSuffix(was, "\n")
	th.Place = precedent.Place("a.go", was, "line number 4", "line number 6")
	th.Suggestion = "\tdefer closeAndReport(f)\n"
	return th
}

func words(by forge.Person, mayWrite bool, body string) func(*precedent.Thread) {
	return func(th *precedent.Thread) {
		th.Messages = append(th.Messages, precedent.Message{
			ID: precedent.NumberID(int64(50 + len(th.Messages))), Who: by.Login, WhoID: by.ID, Bot: by.Bot, MayWrite: mayWrite,
			Body: precedent.Untrusted(body),
		})
	}
}

func closedBy(who string) func(*precedent.Thread) {
	return func(th *precedent.Thread) { th.Closed, th.ClosedBy, th.State = true, who, precedent.ThreadResolved }
}

func vote(by forge.Person, content string, mayWrite bool) []Vote {
	return []Vote{{Reaction: forge.Reaction{Who: by, Content: content}, MayWrite: mayWrite}}
}

// outcomes are those of one thread, which is relocated first.
func outcomes(th precedent.Thread, in OutcomeInput) []precedent.Outcome {
	ts := []precedent.Thread{th}
	Relocate(ts, in.Trees)
	return Outcomes(ts, in)
}

func TestOutcomes(t *testing.T) {
	type changes []func(*precedent.Thread)
	const unknown, ignored, taken = precedent.OutcomeUnknown, precedent.IgnoredAtMerge, precedent.SuggestionTaken
	const fixed, declined, resolved = precedent.Fixed, precedent.Declined, precedent.ResolvedUnchanged
	const suggested, another = "\tdefer closeAndReport(f)\n", "\tf.Close()\n"
	const addressed, merged = precedent.Addressed, forge.Merged
	const stillThere, declinedHere = precedent.StillThere, precedent.DeclinedHere
	stranger := forge.Person{ID: "9", Login: "x"}
	no := words(dana, true, "Thanks. This is intentional, see above. Bye.")
	for _, test := range []struct {
		name   string
		head   string // line 5 at the head; was by default
		change changes
		state  forge.State // open by default
		votes  []Vote
		answer precedent.AnswerState
		want   precedent.OutcomeKind
		proof  string // part of it
		who    string
	}{
		{name: "nothing happened", want: unknown, proof: "open"},
		{
			name: "merged", state: merged, want: ignored,
			proof: "merged with the thread open, and the flagged code is unchanged",
		},
		{name: "closed", state: forge.Closed, want: ignored, proof: "closed without merging"},
		{
			name: "suggestion committed", head: suggested, want: taken,
			proof: "the suggested lines replaced the flagged ones at 0123456789",
		},
		{name: "suggestion committed after a no", head: suggested, change: changes{no}, want: taken},
		{name: "suggestion in another form", head: "\tdefer  closeAndReport( f )\n", want: fixed},
		{name: "gone", head: "\n", want: fixed, proof: "changed, and no such place is left in the file"},
		{name: "changed, and found fixed", head: another, answer: addressed, want: fixed, proof: "found it fixed"},
		{name: "changed, and still there", head: another, answer: stillThere, want: unknown, proof: "still found it"},
		{name: "fixed after a no", head: another, change: changes{no}, want: fixed},
		{
			name: "found fixed, not changed", answer: addressed, state: merged,
			want: unknown, proof: "found it fixed, but",
		},
		{
			name: "declined", change: changes{no}, state: merged, want: declined,
			proof: "dana said: “This is intentional, see above.”", who: "dana",
		},
		{name: "declined and closed", change: changes{no, closedBy("dana")}, want: declined, who: "dana"},
		{
			name: "declined by the author", change: changes{words(ann, false, "Won't fix.")},
			want: declined, proof: "ann said: “Won't fix.”", who: "ann",
		},
		{name: "declined by a stranger", change: changes{words(stranger, false, "Won't fix.")}, want: unknown},
		{name: "declined by a program", change: changes{words(robot, true, "Won't fix.")}, want: unknown},
		{
			name: "declined, as an engine read", change: changes{words(dana, true, "Leave it.")},
			answer: declinedHere, want: declined, proof: "dana said: “Leave it.”", who: "dana",
		},
		{
			name: "a former writer", change: changes{words(dana, false, "Leave it.")},
			answer: declinedHere, want: unknown,
		},
		{name: "thumb down", votes: vote(dana, "-1", true), want: declined, proof: "dana reacted with 👎", who: "dana"},
		{name: "thumb down of a stranger", votes: vote(ann, "-1", false), want: unknown},
		{name: "thumb down of a deleted account", votes: vote(ghost, "-1", true), want: unknown},
		{
			name: "closed by a person", change: changes{closedBy("dana")}, want: resolved,
			proof: "dana closed the conversation, and the flagged code is unchanged", who: "dana",
		},
		{
			name: "deleted", change: changes{func(th *precedent.Thread) { th.Deleted = true }},
			want: resolved, proof: "the comment was deleted",
		},
		{
			name: "thumb up", votes: vote(dana, "+1", true), state: merged, want: precedent.Accepted,
			proof: "dana reacted with 👍", who: "dana",
		},
		{name: "about a file that changed", head: "\n", change: changes{func(th *precedent.Thread) {
			th.Start, th.End, th.Quote, th.Place, th.Suggestion = 0, 0, "", "", ""
		}}, state: merged, want: unknown, proof: "it is unknown whether"},
	} {
		t.Run(test.name, func(t *testing.T) {
			th := posted()
			for _, change := range test.change {
				change(&th)
			}
			head := test.head
			if head == "" {
				head = was
			}
			in := OutcomeInput{
				State: test.state, Author: ann, Votes: map[string][]Vote{th.ID: test.votes}, Now: now,
				Trees: trees(map[string]string{"then a.go": flagged(was), "0123456789abcdef a.go": flagged(head)}),
			}
			in.Trees.Head = "0123456789abcdef"
			if test.answer != "" {
				in.Answers = []precedent.ThreadAnswer{{Thread: th.ID, State: test.answer}}
				if test.answer == declinedHere {
					in.Answers[0].Who, in.Answers[0].Words = "dana", "Leave it."
				}
			}
			if test.want == fixed || test.want == taken {
				test.who = ann.Login
			}
			got := outcomes(th, in)
			if len(got) != 1 || !strings.Contains(got[0].Proof, test.proof) || got[0].Proof == "" {
				t.Fatalf("%+v, want %s by %q with %q", got, test.want, test.who, test.proof)
			}
			_, said, _ := strings.Cut(got[0].Proof, " said: “")
			needs.Equal(t, precedent.Outcome{
				Thread: "t1", Finding: "id1", Fingerprint: "ft1", PullRequest: 7, Title: th.Title, Category: th.Category,
				Severity: th.Severity, Confidence: 85, Kind: test.want, Proof: got[0].Proof,
				Who: test.who, Words: strings.TrimSuffix(said, "”"),
				MayWrite: test.who == "dana" && !th.Closed || test.name == "declined and closed",
				Commit:   in.Trees.Head, URL: th.URL, At: now, Back: strings.HasPrefix(got[0].Proof, "the pull request is open"),
			}, got[0])
		})
	}
}

// TestOutcomesByTheCode: what became of a merged finding by its lines, its file and what a review said.
func TestOutcomesByTheCode(t *testing.T) {
	const ignored, fixed, unknown = precedent.IgnoredAtMerge, precedent.Fixed, precedent.OutcomeUnknown
	with := func(head map[string]string) Trees {
		head["then a.go"] = flagged(was)
		return trees(head)
	}
	rename := func(string) map[string]string { return map[string]string{"a.go": "b.go"} }
	moved, changed, unreadable := with(map[string]string{"head b.go": flagged(was)}),
		with(map[string]string{"head b.go": flagged("other\n")}), trees(nil)
	moved.Renamed, changed.Renamed = rename, rename
	unreadable.Read = func(string, string) ([]byte, error) { return nil, errors.New("no network") }
	deleting := func(head string) Trees {
		return trees(map[string]string{"base a.go": flagged(was), "then a.go": flagged(""), "head a.go": head})
	}
	one, wide, old := posted(), posted(), posted()
	wide.End, wide.Suggestion = 7, ""
	old.Side, old.Suggestion = precedent.Left, ""
	last := with(map[string]string{"head a.go": strings.Replace(flagged(was), "line number 7", "changed", 1)})
	for name, test := range map[string]struct {
		thread precedent.Thread
		trees  Trees
		answer precedent.AnswerState
		want   precedent.OutcomeKind
	}{
		"another of its lines changed": {wide, last, "", ignored}, // not its own, nor what is around it
		"and a review found it fixed":  {wide, last, precedent.Addressed, fixed},
		"still deleted":                {old, deleting(flagged("")), "", ignored},
		"not deleted any more":         {old, deleting(flagged(was)), "", fixed},
		"its file is deleted":          {one, with(map[string]string{}), "", fixed},
		"its file is renamed":          {one, moved, "", ignored},
		"and changed":                  {one, changed, "", fixed},
		"its file is unreadable":       {one, unreadable, "", unknown},
	} {
		in := OutcomeInput{
			State: forge.Merged, Trees: test.trees, Now: start,
			Answers: []precedent.ThreadAnswer{{Thread: "t1", State: test.answer}},
		}
		if got := outcomes(test.thread, in); got[0].Kind != test.want {
			t.Errorf("%s: %+v, want %s", name, got, test.want)
		}
	}
}

// TestTheAuthorDismisses: the author of the pull request ends the thread of a finding that is neither severe nor in a
// protected category, with words that fixed rules recognize. Nobody else does without write permission.
func TestTheAuthorDismisses(t *testing.T) {
	const author, stranger, maintainer = precedent.ForgeID("11"), precedent.ForgeID("13"), precedent.ForgeID("12")
	const fine = "This is fine because the caller checks it."
	const on, no = "this is intentional because old clients need it", "this is intentional because I say so"
	const bugs, security, low, medium = precedent.Bugs, precedent.Security, precedent.Low, precedent.Medium
	for name, test := range map[string]struct {
		who      precedent.ForgeID
		mayWrite bool
		says     string
		severity precedent.Severity
		category precedent.Category
		want     bool
	}{
		"the author":                  {author, false, on, medium, bugs, true},
		"a high finding":              {author, false, on, precedent.High, bugs, false},
		"a finding about security":    {author, false, on, low, security, false},
		"of unknown severity":         {author, false, on, "", bugs, false},
		"a stranger":                  {stranger, false, no, low, bugs, false},
		"a maintainer":                {maintainer, true, strings.ToLower(fine), precedent.Critical, security, true},
		"a person without an account": {"", false, no, low, bugs, false},
	} {
		th := precedent.Thread{
			Severity: test.severity, Category: test.category,
			Messages: []precedent.Message{{
				ID: "1", WhoID: test.who, MayWrite: test.mayWrite,
				Body: precedent.Untrusted(test.says),
			}},
		}
		if _, _, got := dismissedIn(th, dismissers(th, "11")); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
