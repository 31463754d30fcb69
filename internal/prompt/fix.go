package prompt

import (
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of the prompt of a fix.
const (
	// MostFixed is the maximum number of threads in one task.
	MostFixed    = 40
	maxProblems  = 10
	maxProblem   = 4 << 10 // bytes
	maxConflicts = 8 << 10 // bytes of the list of files
)

// FixInput is what a task is told that changes code. All secrets in it must be redacted. It has
// no learnings: they are about reviews.
type FixInput struct {
	Docs    []precedent.GuideDoc // at the base commit
	Threads []FixThread          // the first MostFixed count
	// Problems are what failed besides, such as the end of what a test printed.
	Problems     []precedent.Untrusted
	Language     string // IETF tag; empty for English
	Files, Lines int    // how much may be changed
}

// FixThread is a thread that is to be settled.
type FixThread struct {
	ID     string // in this task, such as "t1"
	Remark precedent.Finding
	// Asked is what a person wrote who opened it; nil for a remark of ours. Of Remark only the place
	// counts then.
	Asked   *Reply
	Then    precedent.Span      // where it was made
	Code    precedent.Untrusted // lines around its place, with their numbers; empty if it has none
	Replies []Reply             // oldest first
}

// Fix returns the prompt of a task that changes code to settle threads.
func Fix(in FixInput) Prompt {
	var p page
	room := maxGuide
	for _, d := range in.Docs {
		doc := limit("From "+text.VisibleLine(d.Path)+":\n"+strings.TrimSpace(text.Clean(d.Text)), max(room, 1<<10))
		if room -= len(doc); room < 0 {
			break
		}
		p.block("", "guide", doc)
	}
	if len(in.Threads) > 0 {
		p.say("# The remarks")
	}
	for i := range in.Threads[:min(len(in.Threads), MostFixed)] {
		t := &in.Threads[i]
		p.say("## Thread " + t.ID)
		if t.Asked != nil {
			p.block(t.Asked.Who+" wrote:", "remark", asked(t))
		} else {
			p.block("Its remark:", "remark", posted(&t.Remark, t.Then))
		}
		p.data("The lines that it proposes instead:", "suggestion",
			limit(strings.Trim(text.Visible(t.Remark.Suggestion), "\n"), maxRemark))
		p.data(aroundPlace, "code", excerpt(t.Code))
		p.replies(" answered", "reply", t.Replies)
	}
	var failed []string
	for _, words := range in.Problems[:min(len(in.Problems), maxProblems)] {
		failed = append(failed, limit(strings.TrimSpace(text.Visible(string(words))), maxProblem))
	}
	p.list("# What failed\n\nSettle this, too, if the change is the cause.", "failure", failed)
	p.language("`how` and `summary`", tag(in.Language))
	p.say(editAndAnswer)
	system := strings.NewReplacer("{{.Files}}", strconv.Itoa(in.Files), "{{.Lines}}",
		strconv.Itoa(in.Lines)).Replace(load("fix.md"))
	return Prompt{System: system, Suffix: p.alone()}
}

const editAndAnswer = "Edit the files, then answer with the JSON object alone."

// asked renders the remark of a person.
func asked(t *FixThread) string {
	return placeOf(&t.Remark, t.Then) + "\nremark: " + limit(strings.TrimSpace(text.Clean(string(t.Asked.Text))),
		maxRemark)
}

// Merge returns the prompt of a task that resolves the conflicts of a merge of the commit theirs
// into ours, in the files.
func Merge(ours, theirs string, files []string) Prompt {
	var list []string
	for _, f := range files {
		list = append(list, text.VisibleLine(f))
	}
	var p page
	p.block("Conflicts begin with `<<<<<<< "+ours+"` and end with `>>>>>>> "+theirs+"`. The files that have some:", "files",
		limit(strings.Join(list, "\n"), maxConflicts))
	p.say(editAndAnswer)
	return Prompt{System: load("merge.md"), Suffix: p.alone()}
}
