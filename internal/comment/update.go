package comment

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxUpdates limits the dated lines of one comment; the newest are kept.
const maxUpdates = 5

// dated matches the beginning of a line that Update writes. The group is the commit.
var dated = text.Pattern("^\\*\\*Update of \\d{4}-\\d{2}-\\d{2} at `([0-9a-f]{1,10})`:\\*\\*(?: |$)")

// Update adds a dated line about a commit to a comment, below its text and above its footer. A
// line about the same commit is replaced, and of other lines the newest four stay. The rest of
// the text stays as it is, also what people made of it. It is false if the comment has no
// marker that counts, or has no room.
func (w Writer) Update(body, words, commit string, at time.Time) (string, bool) {
	text, tail, ok := w.split(body)
	if !ok {
		return "", false
	}
	own := w.own()
	heading := fmt.Sprintf("**Update of %s at `%s`:** ", at.UTC().Format(time.DateOnly), short(commit))
	line := heading + markdown.Phrase(sanitize(strings.Join(strings.Fields(words), " "), own), w.Links, false)
	if isUnsafe(line, w.Links, own) {
		line = heading + withheld
	}
	blocks := strings.Split(text, "\n\n")
	first := len(blocks)
	for first > 0 && dated().MatchString(blocks[first-1]) && !strings.Contains(blocks[first-1], "\n") {
		first--
	}
	lines := slices.DeleteFunc(slices.Clone(blocks[first:]),
		func(old string) bool { return dated().FindStringSubmatch(old)[1] == short(commit) })
	lines = append(lines, line)
	lines = lines[max(0, len(lines)-maxUpdates):]
	text = strings.Join(append(blocks[:first:first], lines...), "\n\n")
	updated := text + tail
	if _, ok := w.Read(updated); !ok || utf8.RuneCountInString(updated) > maxPost {
		return "", false
	}
	return updated, true
}

// HasUpdate tells whether a comment has a dated line about a commit.
func (w Writer) HasUpdate(body, commit string) bool {
	text, _, ok := w.split(body)
	for _, block := range slices.Backward(strings.Split(text, "\n\n")) {
		found := dated().FindStringSubmatch(block)
		if !ok || found == nil {
			return false
		}
		if found[1] == short(commit) {
			return true
		}
	}
	return false
}

// WithRun returns a comment with the id of the run that is posting in its marker, or without
// one if run is empty. The text stays as it is. It is false if the comment has no marker that
// counts.
func (w Writer) WithRun(body, run string) (string, bool) {
	return w.withMarker(body, func(m *Marker) { m.Run = run })
}

// WithSpending is WithRun for what was spent.
func (w Writer) WithSpending(body string, s Spending) (string, bool) {
	return w.withMarker(body, func(m *Marker) { m.Spent = s })
}

func (w Writer) withMarker(body string, change func(*Marker)) (string, bool) {
	m, ok := w.Read(body)
	if !ok {
		return "", false
	}
	body = strings.TrimRight(body, " \t\r\n")
	change(&m)
	return body[:strings.LastIndexByte(body, '\n')+1] + w.marker(m) + "\n", true
}

// split divides a comment into its text and its tail: footer and marker. The line ends are
// unified. It is false if the comment has no marker that counts.
func (w Writer) split(body string) (text, tail string, ok bool) {
	if _, ok := w.Read(body); !ok {
		return "", "", false
	}
	body = strings.TrimRight(strings.ReplaceAll(body, "\r\n", "\n"), " \t\n")
	text = body[:strings.LastIndexByte(body, '\n')+1]
	text = strings.TrimRight(text, " \t\n")
	if i := strings.LastIndexByte(text, '\n') + 1; strings.HasPrefix(text[i:], strings.TrimSuffix(footer, "</sub>")) &&
		strings.HasSuffix(text, "</sub>") {
		text = strings.TrimRight(text[:i], " \t\n")
	}
	return text, body[len(text):] + "\n", true
}
