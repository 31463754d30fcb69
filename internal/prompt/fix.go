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
	Threads []Conversation       // the first MostFixed count
	// Problems are what failed besides, such as the end of what a test printed.
	Problems     []precedent.Untrusted
	Language     string // IETF tag; empty for English
	Files, Lines int    // how much may be changed
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
		p.thread(&in.Threads[i])
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
