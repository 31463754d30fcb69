package corpus

import (
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

func TestClassify(t *testing.T) {
	for words, want := range map[string]string{
		"LGTM, thanks for working on this tedious cleanup!":                          isPraise,
		"I like how this separates parsing from validation.":                         isPraise,
		":+1: nice work on the migration tests":                                      isPraise,
		"Looks good, but the lock should be released before the callback.":           "",
		"Nice! Could this also handle an empty list?":                                "",
		"This is fine because the caller holds the lock already":                     "",
		"Why does this table have the same order as the other one?":                  isQuestion,
		"Hmm. Is there any reason for choosing this block size?":                     isQuestion,
		"Why not reuse the parser of the config package here?":                       "",
		"What if the list is empty and the index wraps around?":                      "",
		"coefficient -> coordinate in the comment above?":                            "",
		"Is a linear search here fast enough, or is a map better?":                   "",
		"Done in the last commit, including the second occurrence.":                  isReport,
		"Fixed words in the key file must have at least eight characters.":           "",
		"Added asserts here as a sanity check, maybe good to add in the other file.": "",
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
		"谢谢你！":       tooShort,
		"请用常数时间比较密钥": "",
		"ควรเปรียบเทียบกุญแจด้วยเวลาคงที่": "",
	} {
		v := store.CorpusConversation{Pull: pull, Comments: []precedent.CorpusComment{{
			Author: "bob", AuthorID: "2", Body: precedent.Untrusted(body),
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
	open := precedent.CorpusPull{Author: "ada"}
	merged, reverted := open, open
	merged.Merged = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	reverted.Merged, reverted.Reverted = merged.Merged, 9
	done := append(replies("ada", "I disagree."), replies("ada", "Done.")...)
	for _, test := range []struct {
		name     string
		outdated bool
		pull     precedent.CorpusPull
		replies  []precedent.CorpusComment
		want     precedent.CommentOutcome
	}{
		{"changed and merged", true, merged, nil, precedent.CommentAdopted},
		{"changed and not merged", true, open, nil, ""},
		{"reverted", true, reverted, nil, precedent.CommentReverted},
		{"not changed", false, reverted, nil, ""},
		{"author declines", false, open, replies("ada", "I'd rather keep it as is."), precedent.CommentDeclined},
		{"a stranger declines", false, open, replies("eve", "I'd rather keep it as is."), ""},
		{
			"a member declines", false, open, member(replies("max", "Not needed: the caller holds the lock.")),
			precedent.CommentDeclined,
		},
		{"declined, then changed", true, merged, replies("ada", "Won't fix."), ""},
		{"declined, then done", true, merged, done, precedent.CommentAdopted},
		{"taken back", false, open, replies("bob", "Nevermind, I misread this."), precedent.CommentDeclined},
	} {
		first := precedent.CorpusComment{
			Kind: "inline", Author: "bob", Body: "The lock is released too late.", Outdated: test.outdated,
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
	}{
		{`Revert "Cache the schema"`, "Reverts team/app#12", 12},
		{`Revert "Cache the schema"`, "It was slow.", 0},
		{"Undo the cache", "This reverts #12, which broke the build.", 12},
		{"Undo the cache (reverts #12)", "", 12},
	} {
		if number := reverts(test.title, test.body); number != test.number {
			t.Errorf("%q, %q: %d", test.title, test.body, number)
		}
	}
}

func TestSays(t *testing.T) {
	const said = "Please wrap the error, else nobody knows which file it was.\r\n\r\n> quoted words\r\n\r\nSee " +
		"https://example.org/x and use fmt.Errorf."
	for _, test := range []struct {
		name, body, excerpt string
		want                bool
	}{
		{"the same", said, "Please wrap the error, else nobody knows which file it was.", true},
		{
			"without quotes and addresses", said,
			"Please wrap the error, else nobody knows which file it was. See and use fmt.Errorf.", true,
		},
		{"cut at a word", said, "Please wrap the error, else nobody…", true},
		{"cut in a word", said, "Please wrap the error, else nobo…", true},
		{"a beginning of a word", said, "Please wrap the err", false},
		{"another case and other space", strings.ToUpper(said), "please  wrap\nthe error", true},
		{"taken back", "~~never mind~~", "Please wrap the error", false},
		{"another order", said, "the error wrap", false},
		{"nothing", "", "Please", false},
		{"other letters", "Größe prüfen: 尺寸", "größe prüfen 尺寸", true},
	} {
		if got := Says(test.body, test.excerpt); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestDirective: what says how the project does things counts, and nothing that needs the code or the conversation around it.
func TestDirective(t *testing.T) {
	for words, want := range map[string]string{
		"Nit: we generally don't have `ARG_CHECK`s in `static` functions.":               "we generally don't have `ARG_CHECK`s in `static` functions.",
		"Good catch.\n\nPlease avoid `strcpy` for anything that comes from the network.": "Please avoid `strcpy` for anything that comes from the network.",
		"We do not use disambiguation strings anymore.":                                  "We do not use disambiguation strings anymore.",
		"in nit: same feedback regarding singular vs plural:":                            "",
		"Do we usually use tabs in this project?":                                        "",
		"This PR should keep them in sync with the rest of the code.":                    "",
		"`argv` will never be NULL, as it is the result of applying `argv++`.":           "",
		"Use `x` instead": "",
		"```c\n// We always use tabs in this project, everywhere.\n```": "",
	} {
		if got := Directive(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
