package corpus

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/strict"
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

// fields are the values of a line that are used, raw: what is wrong with one does not matter to the others.
type fields struct {
	ID                json.RawMessage `json:"id"`
	ReplyTo           json.RawMessage `json:"in_reply_to_id"`
	User              json.RawMessage `json:"user"`
	Author            json.RawMessage `json:"author"`
	Association       json.RawMessage `json:"author_association"`
	Path              json.RawMessage `json:"path"`
	Line              json.RawMessage `json:"line"`
	OriginalLine      json.RawMessage `json:"original_line"`
	StartLine         json.RawMessage `json:"start_line"`
	OriginalStartLine json.RawMessage `json:"original_start_line"`
	Side              json.RawMessage `json:"side"`
	StartSide         json.RawMessage `json:"start_side"`
	Position          json.RawMessage `json:"position"`
	OriginalPosition  json.RawMessage `json:"original_position"`
	Commit            json.RawMessage `json:"commit_id"`
	OriginalCommit    json.RawMessage `json:"original_commit_id"`
	Hunk              json.RawMessage `json:"diff_hunk"`
	Body              json.RawMessage `json:"body"`
	Created           json.RawMessage `json:"created_at"`
	Updated           json.RawMessage `json:"updated_at"`
	Submitted         json.RawMessage `json:"submitted_at"`
	Page              json.RawMessage `json:"html_url"`
	PullURL           json.RawMessage `json:"pull_request_url"`
	IssueURL          json.RawMessage `json:"issue_url"`
	State             json.RawMessage `json:"state"`
	Subject           json.RawMessage `json:"subject_type"`
	Review            json.RawMessage `json:"pull_request_review_id"`
	PR                json.RawMessage `json:"pr"`
	PRTitle           json.RawMessage `json:"pr_title"`
	PRMerged          json.RawMessage `json:"pr_merged_at"`
	PRAuthor          json.RawMessage `json:"pr_author"`
	Number            json.RawMessage `json:"number"`
	Title             json.RawMessage `json:"title"`
	Merged            json.RawMessage `json:"merged_at"`
	Head              json.RawMessage `json:"head"`
}

// parseLine reads a comment, or a pull request, in the form of GitHub's REST API. Errors say what
// is wrong with the line, without quoting it.
func parseLine(line []byte) (imported, error) {
	var f fields
	if first := bytes.TrimLeft(line, " \t"); len(first) > 0 && first[0] == '[' {
		return imported{}, errors.New("a list: write one object a line, as gh api --jq '.[]' does")
	}
	if err := decodeObject(line, &f); err != nil {
		return imported{}, err
	}
	if !isNull(f.Number) && !isNull(f.Title) && len(f.Head) > 0 {
		return f.asPull()
	}
	return f.asComment()
}

// asPull reads a pull request.
func (f *fields) asPull() (imported, error) {
	number := jsonInt(f.Number)
	if number <= 0 || number > maxNumber {
		return imported{}, errors.New("no number of a pull request")
	}
	out := imported{}
	var err error
	p := &out.pull
	p.Number, p.Title, p.Body = int(number), jsonText(f.Title), precedent.Untrusted(jsonText(f.Body))
	p.AuthorID, p.Author, _ = account(f.User, f.Author)
	if p.Merged, err = moment(f.Merged); err != nil {
		return imported{}, err
	}
	if p.UpdatedAt, err = moment(f.Updated); err != nil {
		return imported{}, err
	}
	out.repo = repoOf(jsonText(f.Page))
	return out, nil
}

// maxNumber limits the numbers of pull requests and lines.
const maxNumber = 1 << 31

// asComment reads a comment of any kind.
func (f *fields) asComment() (imported, error) {
	out := imported{has: true}
	c := &out.comment
	switch {
	case !isNull(f.Path) || !isNull(f.Hunk):
		c.Kind = string(forge.OnLine)
	case !isNull(f.Submitted) || !isNull(f.State) && !isNull(f.PullURL):
		c.Kind = string(forge.OnReview)
	case !isNull(f.IssueURL):
		c.Kind = string(forge.OnThread)
	default:
		return imported{}, errors.New("not a comment: neither path, submitted_at nor issue_url")
	}
	if c.ID = identity(f.ID); c.ID == "" {
		return imported{}, errors.New("no id")
	}
	if len(f.Body) > 0 && f.Body[0] != '"' && !isNull(f.Body) {
		return imported{}, errors.New("body is not a text")
	}
	page := jsonText(f.Page)
	if c.Kind == string(forge.OnThread) && page != "" && !strings.Contains(page, "/pull/") && !strings.Contains(page, "/pulls/") {
		return imported{}, errNoPull
	}
	number := cmp.Or(int(min(jsonInt(f.PR), maxNumber)), forge.LastNumber(jsonText(f.PullURL)), pullNumber(page), forge.LastNumber(jsonText(f.IssueURL)))
	if number <= 0 || number >= maxNumber {
		return imported{}, errors.New("no number of a pull request")
	}
	var err error
	if c.At, err = moment(cmp.Or(string(f.Created), string(f.Submitted))); err != nil || c.At.IsZero() {
		return imported{}, errors.New("no time at which it was written")
	}
	if c.UpdatedAt, err = moment(f.Updated); err != nil {
		return imported{}, err
	}
	c.Pull, c.Root, c.URL = number, c.ID, page
	c.Body = precedent.Untrusted(jsonText(f.Body))
	c.AuthorID, c.Author, c.Bot = account(f.User, f.Author)
	switch string(f.Association) {
	case `"OWNER"`, `"MEMBER"`, `"COLLABORATOR"`:
		c.MayWrite = true
	}
	if c.Kind == string(forge.OnLine) {
		c.Root = cmp.Or(identity(f.ReplyTo), c.ID)
		c.Hunk = precedent.Untrusted(jsonText(rawTail(f.Hunk)))
		f.place(c)
	}
	if !isNull(f.PRTitle) || !isNull(f.PRMerged) || !isNull(f.PRAuthor) {
		out.pull.Number, out.pull.Title = number, jsonText(f.PRTitle)
		if !isNull(f.PRAuthor) {
			out.pull.AuthorID, out.pull.Author, _ = account(f.PRAuthor, nil)
		}
		if out.pull.Merged, err = moment(f.PRMerged); err != nil {
			return imported{}, err
		}
	}
	out.repo = cmp.Or(repoOf(page), repoOf(jsonText(f.PullURL)), repoOf(jsonText(f.IssueURL)))
	return out, nil
}

// place sets where an inline comment is, as the GitHub client does: on the lines of the head, or if
// these have changed since, on those that it was written on.
func (f *fields) place(c *Comment) {
	c.Path, c.Side = jsonText(f.Path), precedent.Right
	if string(f.Side) == `"LEFT"` {
		c.Side = precedent.Left
	}
	c.Commit = jsonText(f.Commit)
	if string(f.Subject) == `"file"` {
		return
	}
	first, last := jsonInt(f.StartLine), jsonInt(f.Line)
	if isNull(f.Line) {
		first, last, c.Commit = cmp.Or(jsonInt(f.OriginalStartLine), first), jsonInt(f.OriginalLine), cmp.Or(jsonText(f.OriginalCommit), c.Commit)
		// Old comments have positions in the diff only.
		c.Outdated = last > 0 || isNull(f.Position) && !isNull(f.OriginalPosition)
	}
	if last <= 0 || last >= maxNumber {
		return
	}
	c.Start, c.End = int(last), int(last)
	sameSide := isNull(f.StartSide) || bytes.Equal(f.StartSide, f.Side)
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
	var f struct {
		ID, Login, Type json.RawMessage
		Robot           json.RawMessage `json:"is_bot"`
	}
	if decodeObject(raw, &f) != nil {
		return "", "ghost", false
	}
	id, login = identity(f.ID), jsonText(f.Login)
	bot = string(f.Type) == `"Bot"` || string(f.Robot) == "true"
	return id, cmp.Or(login, "ghost"), bot
}

// moment reads a time; zero for null and no value.
func moment[T ~string | ~[]byte](raw T) (time.Time, error) {
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

// The ways in which a line is not a JSON object.
var (
	errNoObject = errors.New("not a JSON object")
	errSyntax   = errors.New("not valid JSON")
)

func decodeObject(raw []byte, to any) error {
	if raw = bytes.TrimLeft(raw, " \t\r\n"); len(raw) == 0 || raw[0] != '{' {
		return errNoObject
	}
	if strict.Unmarshal(raw, to) != nil {
		return errSyntax
	}
	return nil
}

// jsonText returns what a raw string says; "" if the value is not a string.
func jsonText(raw []byte) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// jsonInt returns a whole number; 0 if the value is none, or too large.
func jsonInt(raw []byte) int64 {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func isNull(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }
