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
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/strict"
)

// imported is what a line of a file has.
type imported struct {
	comment Comment
	has     bool             // whether there is a comment
	pull    store.CorpusPull // zero Number for none
	repo    precedent.Repo   // of the comment, as far as the line tells
}

// errNoPull means that a comment is on an issue.
var errNoPull = errors.New("not on a pull request")

// fields are those of a comment or a pull request in the form of GitHub's REST API that are used, and
// those that backups add: pr, pr_title, pr_merged_at, pr_author and author.
type fields struct {
	ID                identity        `json:"id"`
	ReplyTo           identity        `json:"in_reply_to_id"`
	User              *account        `json:"user"`
	Author            *account        `json:"author"`
	Association       string          `json:"author_association"`
	Path              *string         `json:"path"`
	Line              *int64          `json:"line"`
	OriginalLine      int64           `json:"original_line"`
	StartLine         int64           `json:"start_line"`
	OriginalStartLine int64           `json:"original_start_line"`
	Side              string          `json:"side"`
	StartSide         string          `json:"start_side"`
	Position          *int64          `json:"position"`
	OriginalPosition  *int64          `json:"original_position"`
	Commit            string          `json:"commit_id"`
	OriginalCommit    string          `json:"original_commit_id"`
	Hunk              *string         `json:"diff_hunk"`
	Body              string          `json:"body"`
	Created           time.Time       `json:"created_at"`
	Updated           time.Time       `json:"updated_at"`
	Submitted         *time.Time      `json:"submitted_at"`
	Page              string          `json:"html_url"`
	PullURL           string          `json:"pull_request_url"`
	IssueURL          string          `json:"issue_url"`
	State             string          `json:"state"`
	Subject           string          `json:"subject_type"`
	PR                int64           `json:"pr"`
	PRTitle           string          `json:"pr_title"`
	PRMerged          time.Time       `json:"pr_merged_at"`
	PRAuthor          *account        `json:"pr_author"`
	Number            int64           `json:"number"`
	Title             *string         `json:"title"`
	Merged            time.Time       `json:"merged_at"`
	Head              json.RawMessage `json:"head"`
}

// identity is an id: a number, or a short word; empty for another value.
type identity precedent.ForgeID

// UnmarshalJSON reads an id.
func (i *identity) UnmarshalJSON(raw []byte) error {
	s := strings.Trim(string(raw), `"`)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n <= 0 {
		s = ""
	}
	*i = ""
	const allowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-=+/.:"
	if s != "null" && len(s) <= 64 && strings.Trim(s, allowed) == "" {
		*i = identity(s)
	}
	return nil
}

// account is who wrote something: GitHub's object, or a login alone.
type account struct {
	ID    identity `json:"id"`
	Login string   `json:"login"`
	Type  string   `json:"type"`
	Robot bool     `json:"is_bot"`
}

// UnmarshalJSON reads an account.
func (a *account) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, &a.Login)
	}
	type object account
	return json.Unmarshal(raw, (*object)(a))
}

// is returns the id and login of an account, and whether it is a bot's. Deleted accounts have no name.
func (a *account) is() (id precedent.ForgeID, login string, bot bool) {
	if a == nil {
		return "", "ghost", false
	}
	return precedent.ForgeID(a.ID), cmp.Or(a.Login, "ghost"), a.Type == "Bot" || a.Robot
}

// parseLine reads a comment, or a pull request, in the form of GitHub's REST API. Errors say what
// is wrong with the line, without quoting it.
func parseLine(line []byte) (imported, error) {
	line = bytes.TrimSpace(line)
	if len(line) > 0 && line[0] == '[' {
		return imported{}, errors.New("a list: write one object a line, as gh api --jq '.[]' does")
	}
	if len(line) == 0 || line[0] != '{' {
		return imported{}, errors.New("not a JSON object")
	}
	var f fields
	err := strict.Unmarshal(line, &f)
	if other, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return imported{}, fmt.Errorf("the value of %s is not of its type", oneLine(other.Field, maxName))
	} else if _, ok := errors.AsType[*time.ParseError](err); ok {
		return imported{}, errors.New("a time that is not in the form of RFC 3339")
	} else if err != nil {
		return imported{}, errors.New("not valid JSON")
	}
	for _, t := range []time.Time{f.Created, f.Updated, f.PRMerged, f.Merged} {
		if !t.IsZero() && (t.Year() < 1970 || t.Year() > 9999) {
			return imported{}, errors.New("a time before 1970 or after 9999")
		}
	}
	if f.Number != 0 && f.Title != nil && len(f.Head) > 0 {
		return f.asPull()
	}
	return f.asComment()
}

// asPull reads a pull request.
func (f *fields) asPull() (imported, error) {
	if f.Number <= 0 || f.Number > maxNumber {
		return imported{}, errors.New("missing pull request number")
	}
	out := imported{repo: repoOf(f.Page)}
	p := &out.pull
	p.Number, p.Title, p.Reverts = int(f.Number), *f.Title, reverts(*f.Title, f.Body)
	p.AuthorID, p.Author, _ = cmp.Or(f.User, f.Author).is()
	p.Merged, p.UpdatedAt = f.Merged.UTC(), f.Updated.UTC()
	return out, nil
}

// maxNumber limits the numbers of pull requests and lines.
const maxNumber = 1 << 31

// kind is the kind of a comment; empty if it is none.
func (f *fields) kind() forge.CommentKind {
	switch {
	case f.Path != nil || f.Hunk != nil:
		return forge.OnLine
	case f.Submitted != nil || f.State != "" && f.PullURL != "":
		return forge.OnReview
	case f.IssueURL != "":
		return forge.OnThread
	}
	return ""
}

// asComment reads a comment of any kind.
func (f *fields) asComment() (imported, error) {
	kind := f.kind()
	number := cmp.Or(int(min(f.PR, maxNumber)), forge.LastNumber(f.PullURL), pullNumber(f.Page),
		forge.LastNumber(f.IssueURL))
	switch {
	case kind == "":
		return imported{}, errors.New("not a comment: neither path, submitted_at nor issue_url")
	case f.ID == "":
		return imported{}, errors.New("no id")
	case kind == forge.OnThread && f.Page != "" && pullNumber(f.Page) == 0:
		return imported{}, errNoPull
	case number <= 0 || number >= maxNumber:
		return imported{}, errors.New("missing pull request number")
	}
	out := imported{has: true}
	c := &out.comment
	if c.At = f.Created; c.At.IsZero() && f.Submitted != nil {
		c.At = *f.Submitted
	}
	if c.At.Year() < 1970 || c.At.Year() > 9999 {
		return imported{}, errors.New("no time at which it was written")
	}
	c.Kind, c.Pull, c.ID, c.Root, c.URL = string(kind), number, precedent.ForgeID(f.ID), precedent.ForgeID(f.ID), f.Page
	c.At, c.UpdatedAt, c.Body = c.At.UTC(), f.Updated.UTC(), precedent.Untrusted(f.Body)
	c.AuthorID, c.Author, c.Bot = cmp.Or(f.User, f.Author).is()
	switch f.Association {
	case "OWNER", "MEMBER", "COLLABORATOR":
		c.MayWrite = true
	}
	if kind == forge.OnLine {
		c.Root = precedent.ForgeID(cmp.Or(f.ReplyTo, f.ID))
		f.place(c)
	}
	if f.PRTitle != "" || !f.PRMerged.IsZero() || f.PRAuthor != nil {
		out.pull.Number, out.pull.Title, out.pull.Merged = number, f.PRTitle, f.PRMerged.UTC()
		if f.PRAuthor != nil {
			out.pull.AuthorID, out.pull.Author, _ = f.PRAuthor.is()
		}
	}
	out.repo = cmp.Or(repoOf(f.Page), repoOf(f.PullURL), repoOf(f.IssueURL))
	return out, nil
}

// place sets where an inline comment is, as the GitHub client does: on the lines of the head, or if
// these have changed since, on those that it was written on.
func (f *fields) place(c *Comment) {
	if f.Hunk != nil {
		c.Hunk = precedent.Untrusted(*f.Hunk)
	}
	if f.Path != nil {
		c.Path = *f.Path
	}
	c.Side, c.Commit = precedent.Right, f.Commit
	if f.Side == "LEFT" {
		c.Side = precedent.Left
	}
	if f.Subject == "file" {
		return
	}
	first, last := f.StartLine, f.OriginalLine
	if f.Line != nil {
		last = *f.Line
	} else {
		first, c.Commit = cmp.Or(f.OriginalStartLine, first), cmp.Or(f.OriginalCommit, c.Commit)
		// Old comments have positions in the diff only.
		c.Outdated = last > 0 || f.Position == nil && f.OriginalPosition != nil
	}
	if last <= 0 || last >= maxNumber {
		return
	}
	c.Start, c.End = int(last), int(last)
	if first > 0 && first < last && (f.StartSide == "" || f.StartSide == f.Side) {
		c.Start = int(first)
	}
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
			return fmt.Sprintf("https://%s/%s/%s/pull/%d#%s%s", r.Host, r.Owner, r.Name, c.Pull, anchor,
				url.PathEscape(string(c.ID)))
		}
	}
	return ""
}
