package store

import (
	"strings"

	"github.com/precedent-dev/precedent"
)

// corpusComment is a comment on lines that starts a conversation.
func corpusComment(id precedent.ForgeID, pull int, body string) precedent.CorpusComment {
	return precedent.CorpusComment{
		Kind: "inline", ID: id, Pull: pull, Root: id, AuthorID: "1", Author: "ada", Body: precedent.Untrusted(body),
		Span: precedent.Span{Path: "a.go", Side: precedent.Right, Start: 3, End: 3}, Hunk: "+x", Commit: "c0ffee",
		URL: "https://example.com/1", At: start, UpdatedAt: start,
	}
}

// corpusPage makes one chunk of each conversation: the bodies of its comments as lines.
func corpusPage(comments ...precedent.CorpusComment) CorpusPage {
	return CorpusPage{Comments: comments, Rules: 1, Chunk: func(v CorpusConversation) []precedent.CorpusChunk {
		var lines []string
		for _, c := range v.Comments {
			lines = append(lines, string(c.Body))
		}
		text := precedent.Untrusted(strings.Join(lines, "\n"))
		return []precedent.CorpusChunk{{CorpusComment: v.Comments[0], PullTitle: v.Pull.Title, Text: text, Words: text}}
	}}
}
