package corpus

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// imported is what a line of a file has.
type imported struct {
	comment Comment
	has     bool           // whether there is a comment
	pull    Pull           // zero Number for none
	repo    precedent.Repo // of the comment, as far as the line tells
}

// errNoPull means that a comment is on an issue.
var errNoPull = errors.New("not on a pull request")

// fields are the values of a line that are used, raw.
type fields struct {
	id, replyTo, user, author, association, path, line, originalLine, startLine, originalStartLine []byte
	side, startSide, position, originalPosition, commit, originalCommit, hunk, body                []byte
	created, updated, submitted, page, pullURL, issueURL, state, subject                           []byte
	pr, prTitle, prMerged, prAuthor, number, title, merged, head, review                           []byte
}

// slot returns where a field is kept; nil for one that is not used.
func (f *fields) slot(key string) *[]byte {
	switch key {
	case `"id"`:
		return &f.id
	case `"in_reply_to_id"`:
		return &f.replyTo
	case `"user"`:
		return &f.user
	case `"author"`:
		return &f.author
	case `"author_association"`:
		return &f.association
	case `"path"`:
		return &f.path
	case `"line"`:
		return &f.line
	case `"original_line"`:
		return &f.originalLine
	case `"start_line"`:
		return &f.startLine
	case `"original_start_line"`:
		return &f.originalStartLine
	case `"side"`:
		return &f.side
	case `"start_side"`:
		return &f.startSide
	case `"position"`:
		return &f.position
	case `"original_position"`:
		return &f.originalPosition
	case `"commit_id"`:
		return &f.commit
	case `"original_commit_id"`:
		return &f.originalCommit
	case `"diff_hunk"`:
		return &f.hunk
	case `"body"`:
		return &f.body
	case `"created_at"`:
		return &f.created
	case `"updated_at"`:
		return &f.updated
	case `"submitted_at"`:
		return &f.submitted
	case `"html_url"`:
		return &f.page
	case `"pull_request_url"`:
		return &f.pullURL
	case `"issue_url"`:
		return &f.issueURL
	case `"state"`:
		return &f.state
	case `"subject_type"`:
		return &f.subject
	case `"pull_request_review_id"`:
		return &f.review
	}
	return f.pullSlot(key)
}

// pullSlot is slot for the fields of pull requests.
func (f *fields) pullSlot(key string) *[]byte {
	switch key {
	case `"pr"`:
		return &f.pr
	case `"pr_title"`:
		return &f.prTitle
	case `"pr_merged_at"`:
		return &f.prMerged
	case `"pr_author"`:
		return &f.prAuthor
	case `"number"`:
		return &f.number
	case `"title"`:
		return &f.title
	case `"merged_at"`:
		return &f.merged
	case `"head"`:
		return &f.head
	}
	return nil
}

// parseLine reads a comment, or a pull request, in the form of GitHub's REST API. Errors say what
// is wrong with the line, without quoting it.
func parseLine(line []byte) (imported, error) {
	var f fields
	r := jsonReader{s: line}
	if first := bytes.TrimLeft(line, " \t"); len(first) > 0 && first[0] == '[' {
		return imported{}, errors.New("a list: write one object a line, as gh api --jq '.[]' does")
	}
	err := r.object(func(key, value []byte) {
		if slot := f.slot(string(key)); slot != nil {
			*slot = value
		}
	})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return imported{}, err
	}
	if !isNull(f.number) && !isNull(f.title) && len(f.head) > 0 {
		return f.asPull()
	}
	return f.asComment()
}

// asPull reads a pull request.
func (f *fields) asPull() (imported, error) {
	number := jsonInt(f.number)
	if number <= 0 || number > maxNumber {
		return imported{}, errors.New("no number of a pull request")
	}
	out := imported{}
	var err error
	p := &out.pull
	p.Number, p.Title, p.Body = int(number), jsonText(f.title), precedent.Untrusted(jsonText(f.body))
	p.AuthorID, p.Author, _ = account(f.user, f.author)
	if p.Merged, err = moment(f.merged); err != nil {
		return imported{}, err
	}
	if p.UpdatedAt, err = moment(f.updated); err != nil {
		return imported{}, err
	}
	out.repo = repoOf(jsonText(f.page))
	return out, nil
}

// maxNumber limits the numbers of pull requests and lines.
const maxNumber = 1 << 31

// asComment reads a comment of any kind.
func (f *fields) asComment() (imported, error) {
	out := imported{has: true}
	c := &out.comment
	switch {
	case !isNull(f.path) || !isNull(f.hunk):
		c.Kind = string(forge.OnLine)
	case !isNull(f.submitted) || !isNull(f.state) && !isNull(f.pullURL):
		c.Kind = string(forge.OnReview)
	case !isNull(f.issueURL):
		c.Kind = string(forge.OnThread)
	default:
		return imported{}, errors.New("not a comment: neither path, submitted_at nor issue_url")
	}
	if c.ID = identity(f.id); c.ID == "" {
		return imported{}, errors.New("no id")
	}
	if len(f.body) > 0 && f.body[0] != '"' && !isNull(f.body) {
		return imported{}, errors.New("body is not a text")
	}
	page := jsonText(f.page)
	if c.Kind == string(forge.OnThread) && page != "" && !strings.Contains(page, "/pull/") && !strings.Contains(page, "/pulls/") {
		return imported{}, errNoPull
	}
	number := cmp.Or(int(min(jsonInt(f.pr), maxNumber)), forge.LastNumber(jsonText(f.pullURL)), pullNumber(page), forge.LastNumber(jsonText(f.issueURL)))
	if number <= 0 || number >= maxNumber {
		return imported{}, errors.New("no number of a pull request")
	}
	var err error
	if c.At, err = moment(cmp.Or(string(f.created), string(f.submitted))); err != nil || c.At.IsZero() {
		return imported{}, errors.New("no time at which it was written")
	}
	if c.UpdatedAt, err = moment(f.updated); err != nil {
		return imported{}, err
	}
	c.Pull, c.Root, c.URL = number, c.ID, page
	c.Body = precedent.Untrusted(jsonText(f.body))
	c.AuthorID, c.Author, c.Bot = account(f.user, f.author)
	switch string(f.association) {
	case `"OWNER"`, `"MEMBER"`, `"COLLABORATOR"`:
		c.MayWrite = true
	}
	if c.Kind == string(forge.OnLine) {
		c.Root = cmp.Or(identity(f.replyTo), c.ID)
		c.Hunk = precedent.Untrusted(jsonText(rawTail(f.hunk)))
		f.place(c)
	}
	if !isNull(f.prTitle) || !isNull(f.prMerged) || !isNull(f.prAuthor) {
		out.pull.Number, out.pull.Title = number, jsonText(f.prTitle)
		if !isNull(f.prAuthor) {
			out.pull.AuthorID, out.pull.Author, _ = account(f.prAuthor, nil)
		}
		if out.pull.Merged, err = moment(f.prMerged); err != nil {
			return imported{}, err
		}
	}
	out.repo = cmp.Or(repoOf(page), repoOf(jsonText(f.pullURL)), repoOf(jsonText(f.issueURL)))
	return out, nil
}

// place sets where an inline comment is, as the GitHub client does: on the lines of the head, or if
// these have changed since, on those that it was written on.
func (f *fields) place(c *Comment) {
	c.Path, c.Side = jsonText(f.path), precedent.Right
	if string(f.side) == `"LEFT"` {
		c.Side = precedent.Left
	}
	c.Commit = jsonText(f.commit)
	if string(f.subject) == `"file"` {
		return
	}
	first, last := jsonInt(f.startLine), jsonInt(f.line)
	if isNull(f.line) {
		first, last, c.Commit = cmp.Or(jsonInt(f.originalStartLine), first), jsonInt(f.originalLine), cmp.Or(jsonText(f.originalCommit), c.Commit)
		// Old comments have positions in the diff only.
		c.Outdated = last > 0 || isNull(f.position) && !isNull(f.originalPosition)
	}
	if last <= 0 || last >= maxNumber {
		return
	}
	c.Start, c.End = int(last), int(last)
	sameSide := isNull(f.startSide) || bytes.Equal(f.startSide, f.side)
	if first > 0 && first < last && sameSide {
		c.Start = int(first)
	}
}

// rawTail cuts a raw string of very many lines to the last ones.
func rawTail(raw []byte) []byte {
	const most = 4 * maxHunk
	if len(raw) <= most || raw[0] != '"' {
		return raw
	}
	for i := len(raw) - most; i < len(raw)-1; i++ {
		if raw[i] != '\\' || raw[i+1] != 'n' {
			continue
		}
		escapes := 0
		for j := i - 1; j > 0 && raw[j] == '\\' && escapes < most; j-- {
			escapes++
		}
		if escapes%2 == 0 {
			return append([]byte{'"'}, raw[i+2:]...)
		}
	}
	return []byte(`""`)
}

// identity is an id: a number, or a short word.
func identity(raw []byte) precedent.ForgeID {
	if n := jsonInt(raw); n > 0 {
		return precedent.NumberID(n)
	}
	s := jsonText(raw)
	if len(s) > 64 || strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-=+/.:") != "" {
		return ""
	}
	return precedent.ForgeID(s)
}

// account reads who wrote something: GitHub's object, or a login alone. Deleted accounts have
// none.
func account(user, author []byte) (id precedent.ForgeID, login string, bot bool) {
	raw := user
	if isNull(raw) {
		raw = author
	}
	if isNull(raw) {
		return "", "ghost", false
	}
	if raw[0] == '"' {
		return "", jsonText(raw), false
	}
	r := jsonReader{s: raw}
	_ = r.object(func(key, value []byte) { // was read before
		switch string(key) {
		case `"id"`:
			id = identity(value)
		case `"login"`:
			login = jsonText(value)
		case `"type"`:
			bot = string(value) == `"Bot"`
		case `"is_bot"`:
			bot = bot || string(value) == "true"
		}
	})
	return id, cmp.Or(login, "ghost"), bot
}

// moment reads a time; zero for null and no value.
func moment[T string | []byte](raw T) (time.Time, error) {
	if len(raw) == 0 || raw[0] == 'n' {
		return time.Time{}, nil
	}
	t, err := time.Parse(`"`+time.RFC3339+`"`, string(raw))
	if err != nil || t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}, errors.New("a time that is not in the form of RFC 3339")
	}
	return t.UTC(), nil
}

// repoOf returns the repository that an address of a page or of the API leads to; zero if it is
// none.
func repoOf(address string) precedent.Repo {
	if address == "" {
		return precedent.Repo{}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return precedent.Repo{}
	}
	host, parts := strings.ToLower(u.Host), strings.Split(strings.Trim(u.Path, "/"), "/")
	for i, p := range parts {
		if p == "repos" && i <= 2 {
			parts, host = parts[i+1:], strings.TrimPrefix(host, "api.")
			break
		}
	}
	if len(parts) < 2 {
		return precedent.Repo{}
	}
	return precedent.Repo{Host: host, Owner: parts[0], Name: parts[1]}
}

// pullNumber returns the number in the address of a page of a pull request; 0 if it has none.
func pullNumber(address string) int {
	for _, part := range []string{"/pull/", "/pulls/"} {
		if _, rest, ok := strings.Cut(address, part); ok {
			rest, _, _ = strings.Cut(rest, "#")
			rest, _, _ = strings.Cut(rest, "/")
			return forge.LastNumber(rest)
		}
	}
	return 0
}

// permalink is the address of a comment on GitHub, and on forges that have the same pages; empty if
// the repository has no remote.
func permalink(repos []precedent.Repo, c *precedent.CorpusComment) string {
	anchor := map[string]string{"inline": "discussion_r", "review": "pullrequestreview-", "issue": "issuecomment-"}[c.Kind]
	for _, r := range repos {
		if !r.IsLocal() && r.HasOwner() {
			return fmt.Sprintf("https://%s/%s/%s/pull/%d#%s%s", r.Host, r.Owner, r.Name, c.Pull, anchor, url.PathEscape(string(c.ID)))
		}
	}
	return ""
}
