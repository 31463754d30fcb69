package corpus

import (
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// rules is the version of the rules by which chunks are made. Increase it when they change: then
// Refresh makes all chunks again.
const rules = 1

// The windows of a conversation, in words, and limits against hostile ones.
const (
	windowWords  = 1_024
	overlapWords = 256
	maxWindows   = 64
	maxChunk     = 32 << 10 // bytes of one window
)

// Chunks splits a conversation into windows of 1,024 words that overlap by 256. The metadata are
// those of its first comment.
func Chunks(v store.CorpusConversation) []precedent.CorpusChunk {
	first := &v.Comments[0]
	var b strings.Builder
	for i := range v.Comments {
		c := &v.Comments[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteByte('@')
		b.WriteString(c.Author)
		b.WriteString(" (")
		b.WriteString(c.At.UTC().Format(time.DateOnly))
		b.WriteString("): ")
		b.WriteString(string(c.Body))
	}
	words := ownWords(string(first.Body))
	base := precedent.CorpusChunk{
		CorpusComment: *first, PullTitle: v.Pull.Title, Words: precedent.Untrusted(words),
		Outcome: outcome(v), Unusable: unusable(v, words),
	}
	var all []precedent.CorpusChunk
	for n, window := range windows(b.String()) {
		c := base
		c.Chunk, c.Text = n, precedent.Untrusted(window)
		all = append(all, c)
	}
	return all
}

// windows returns the parts of a text.
func windows(s string) []string {
	var starts, ends []int // of words
	in := false
	for i := range len(s) {
		space := s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r'
		if !space && !in {
			starts = append(starts, i)
		} else if space && in {
			ends = append(ends, i)
		}
		in = !space
	}
	if in {
		ends = append(ends, len(s))
	}
	var all []string
	for from := 0; len(all) < maxWindows; from += windowWords - overlapWords {
		to := min(from+windowWords, len(starts))
		all = append(all, text.Head(s[starts[from]:ends[to-1]], maxChunk))
		if to == len(starts) {
			break
		}
	}
	return all
}

// ownWords returns what a comment says without quotes, suggestions and addresses.
func ownWords(body string) string {
	s := chat.Words(precedent.Untrusted(body))
	if strings.Contains(s, "suggestion") {
		s = withoutSuggestions(s)
	}
	return strings.TrimSpace(withoutAddresses(s))
}

// withoutSuggestions removes the blocks of code that a forge offers to commit.
func withoutSuggestions(s string) string {
	var b strings.Builder
	fence := ""
	hidden := false
	for line := range strings.Lines(s) {
		content := strings.TrimSpace(line)
		mark := text.FenceMark(content)
		switch {
		case fence == "" && mark != "":
			fence = mark
			hidden = strings.HasPrefix(strings.TrimSpace(content[len(mark):]), "suggestion")
		case fence != "" && strings.HasPrefix(mark, fence) && len(content) == len(mark):
			fence = ""
			if hidden {
				hidden = false
				continue
			}
		}
		if !hidden {
			b.WriteString(line)
		}
	}
	return b.String()
}

// address matches a web address.
var address = text.Pattern("[a-zA-Z]*://[^ \n\t\r<>()\\[\\]\"`]*")

// withoutAddresses removes web addresses.
func withoutAddresses(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	return address().ReplaceAllString(s, "")
}
