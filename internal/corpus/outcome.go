package corpus

import (
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// outcome is what became of the first comment of a conversation, as far as its history shows it.
func outcome(v store.CorpusConversation) precedent.CommentOutcome {
	first := &v.Comments[0]
	if first.Kind != "inline" {
		return ""
	}
	said := decision(v)
	switch {
	case first.Outdated && !v.Pull.Merged.IsZero() && said != no:
		if v.Pull.Reverted != 0 {
			return precedent.CommentReverted
		}
		return precedent.CommentAdopted
	case !first.Outdated && said == no:
		return precedent.CommentDeclined
	}
	return ""
}

// answer is what a reply says about the comment that starts the conversation.
type answer int

const (
	unclear answer = iota
	yes
	no
)

// decision is the last clear answer of someone who decides: the author of the pull request, one
// who may write, or the one who wrote the comment and takes it back.
func decision(v store.CorpusConversation) answer {
	first := &v.Comments[0]
	asks := strings.HasSuffix(strings.TrimSpace(ownWords(string(first.Body))), "?")
	for i := len(v.Comments) - 1; i > 0; i-- {
		c := &v.Comments[i]
		words := ownWords(string(c.Body))
		if samePerson(c.AuthorID, c.Author, first.AuthorID, first.Author) {
			if takesBack(words) {
				return no
			}
			continue
		}
		if !c.MayWrite && !samePerson(c.AuthorID, c.Author, v.Pull.AuthorID, v.Pull.Author) {
			continue
		}
		if a := answerOf(words, asks); a != unclear {
			return a
		}
	}
	return unclear
}

// samePerson compares accounts: by id if both have one, else by login.
func samePerson(id precedent.ForgeID, login string, otherID precedent.ForgeID, other string) bool {
	if id != "" && otherID != "" {
		return id == otherID
	}
	return login != "" && login != "ghost" && strings.EqualFold(login, other)
}

var revertOf = text.Pattern(`(?i)\b(?:this )?reverts? (?:pull request |pr |merge request )?(?:[\w.-]+/[\w.-]+)?[#!](\d{1,9})\b`)

// reverts returns the number of the pull request that one says it reverts, as GitHub's button does; 0 for none.
func reverts(title, body string) int {
	if len(body) > maxBody {
		body = body[:maxBody]
	}
	for _, said := range []string{body, title} {
		if m := revertOf().FindStringSubmatch(said); m != nil {
			number, _ := strconv.Atoi(m[1])
			return number
		}
	}
	return 0
}
