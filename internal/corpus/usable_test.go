package corpus

import (
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

func TestClassify(t *testing.T) {
	for words, want := range map[string]string{
		"LGTM, thanks for working on this tedious cleanup!":                          isPraise,
		"This is a really nice simplification of the scheduler code.":                isPraise,
		"ACK 1234abcd, reviewed the code and tested locally on Debian":               isPraise,
		"Great catch, thank you for the detailed explanation.":                       isPraise,
		"I like how this separates parsing from validation.":                         isPraise,
		"Looks good to me. I tested it with the old database.":                       isPraise,
		":+1: nice work on the migration tests":                                      isPraise,
		"Looks good, but the lock should be released before the callback.":           "",
		"Nice! Could this also handle an empty list?":                                "",
		"This is fine because the caller holds the lock already":                     "",
		"Why does this table have the same order as the other one?":                  isQuestion,
		"What's the purpose of this second buffer?":                                  isQuestion,
		"Just curious: where does the value of the timeout come from?":               isQuestion,
		"Hmm. Is there any reason for choosing this block size?":                     isQuestion,
		"Should this check for nil before calling the handler?":                      "",
		"Why not reuse the parser of the config package here?":                       "",
		"Doesn't this leak the file if the second open fails?":                       "",
		"What if the list is empty and the index wraps around?":                      "",
		"Is this still needed after the previous commit?":                            "",
		"coefficient -> coordinate in the comment above?":                            "",
		"Is a linear search here fast enough, or is a map better?":                   "",
		"Done in the last commit, including the second occurrence.":                  isReport,
		"I've tested this on Windows with both compilers.":                           isReport,
		"Fixed words in the key file must have at least eight characters.":           "",
		"Added asserts here as a sanity check, maybe good to add in the other file.": "",
		"The returned error shadows the outer one.":                                  "",
		"Wrap the error with the name of the file.":                                  "",
		"Why is this exported?\n```go\nfunc parse(s string) error\n```":              "",
	} {
		if got := classify(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

func TestUnusable(t *testing.T) {
	pull := precedent.CorpusPull{Number: 7, AuthorID: "1", Author: "ada"}
	for body, want := range map[string]string{
		"> the old buffer is never released here\n\nyes":                tooShort,
		"```suggestion\nreturn fmt.Errorf(\"open file: %w\", err)\n```": tooShort,
		"see https://example.com/a/long/address/with/many/words/in/it":  tooShort,
		"nit: please wrap errors\n```suggestion\nreturn nil\n```":       "",
		"Close the response body before returning.":                     "",
	} {
		v := store.CorpusConversation{Pull: pull, Comments: []precedent.CorpusComment{{
			Author: "bob", AuthorID: "2",
			Body: precedent.Untrusted(body),
		}}}
		if got := unusable(v, ownWords(body)); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
		v.Comments[0].Author, v.Comments[0].AuthorID = "renamed", "1"
		if got := unusable(v, ownWords(body)); got != byAuthor {
			t.Errorf("%q by the author: %q", body, got)
		}
	}
}

func TestOutcome(t *testing.T) {
	merged := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name     string
		outdated bool
		pull     precedent.CorpusPull
		replies  []precedent.CorpusComment
		want     precedent.CommentOutcome
	}{
		{"changed and merged", true, precedent.CorpusPull{Merged: merged}, nil, precedent.CommentAdopted},
		{"changed and not merged", true, precedent.CorpusPull{}, nil, ""},
		{"reverted", true, precedent.CorpusPull{Merged: merged, Reverted: 9}, nil, precedent.CommentReverted},
		{"not changed", false, precedent.CorpusPull{Merged: merged, Reverted: 9}, nil, ""},
		{
			"author declines", false,
			precedent.CorpusPull{Author: "ada"},
			replies("ada", "I'd rather keep it as is."),
			precedent.CommentDeclined,
		},
		{"a stranger declines", false, precedent.CorpusPull{Author: "ada"}, replies("eve", "I'd rather keep it as is."), ""},
		{
			"a member declines", false,
			precedent.CorpusPull{Author: "ada"},
			member(replies("max", "Not needed: the caller holds the lock.")), precedent.CommentDeclined,
		},
		{
			"declined, then changed", true,
			precedent.CorpusPull{Author: "ada", Merged: merged},
			replies("ada", "Won't fix."),
			"",
		},
		{
			"declined, then done", true,
			precedent.CorpusPull{Author: "ada", Merged: merged},
			append(replies("ada", "I disagree."), replies("ada", "Done.")...), precedent.CommentAdopted,
		},
		{
			"taken back", false,
			precedent.CorpusPull{Author: "ada"},
			replies("bob", "Nevermind, I misread this."),
			precedent.CommentDeclined,
		},
	} {
		first := precedent.CorpusComment{
			Kind: "inline", Author: "bob", Body: "The lock is released too late.",
			Outdated: test.outdated,
		}
		v := store.CorpusConversation{Pull: test.pull, Comments: append([]precedent.CorpusComment{first}, test.replies...)}
		if got := outcome(v); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func replies(author, body string) []precedent.CorpusComment {
	return []precedent.CorpusComment{{Kind: "inline", Author: author, Body: precedent.Untrusted(body)}}
}

func member(all []precedent.CorpusComment) []precedent.CorpusComment {
	all[0].MayWrite = true
	return all
}

func TestReverts(t *testing.T) {
	for _, test := range []struct {
		title, body string
		number      int
		of          string
	}{
		{`Revert "Cache the schema"`, "Reverts team/app#12", 12, "Cache the schema"},
		{`Revert "Cache the schema"`, "It was slow.", 0, "Cache the schema"},
		{"Undo the cache", "This reverts #12, which broke the build.", 12, ""},
		{"Undo the cache (reverts #12)", "", 12, ""},
		{"Do not revert on errors", "See #12.", 0, ""},
	} {
		if number, of := reverts(test.title, test.body); number != test.number || of != test.of {
			t.Errorf("%q, %q: %d, %q", test.title, test.body, number, of)
		}
	}
}
