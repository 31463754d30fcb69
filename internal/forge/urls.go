package forge

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
)

// Pages describes the URLs of a forge's web pages.
type Pages struct {
	// Web is the root of the site: https://HOST, with a path if the forge is below one.
	Web *url.URL
	// Pull separates the repository from the number of a pull request: "pull" or "pulls". Both are accepted.
	Pull string
	// Blob separates the repository from the commit in the URL of a file: "blob",
	// "src/commit". It is empty if the forge does not show files.
	Blob string
	// Source is the query that shows the source of a Markdown file, which has lines, instead of the page made of it.
	Source string
	// FixedLines tells that a comment is on one line, whose number it keeps when a push moves
	// the code: the text of a comment must then name its lines and quote them.
	FixedLines bool
}

// Own returns an address if it is a page of the forge, else "".
func (p Pages) Own(address string) string {
	if strings.HasPrefix(address, p.Web.String()+"/") {
		return address
	}
	return ""
}

// Clone returns the URL from which git fetches a repository.
func (p Pages) Clone(repo precedent.Repo) string { return p.repoPage(repo) + ".git" }

// PullRequest returns the URL of a pull request.
func (p Pages) PullRequest(repo precedent.Repo, number int) string {
	return p.repoPage(repo) + "/" + p.Pull + "/" + strconv.Itoa(number)
}

func (p Pages) repoPage(repo precedent.Repo) string {
	return p.Web.JoinPath(repo.Owner, repo.Name).String()
}

// ReadPullRequest parses the URL of a pull request's page, or of a page below it. The error is KindRefused if
// the page is on another forge, and KindInvalid if it is not a pull request.
func (p Pages) ReadPullRequest(page string) (precedent.Repo, int, error) {
	wrong := &Error{
		Kind: KindInvalid, Msg: fmt.Sprintf("%q is not a pull request", page),
		Hint: "give its number, or its URL: " + p.PullRequest(precedent.Repo{Owner: "owner", Name: "name"}, 7),
	}
	u, err := url.Parse(page)
	if err != nil || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return precedent.Repo{}, 0, wrong
	}
	home, err := precedent.ParseRepo(p.Web.Scheme + "://" + p.Web.Host + "/o/r")
	if err != nil {
		return precedent.Repo{}, 0, wrong
	}
	path, below := strings.CutPrefix(u.Path, strings.TrimSuffix(p.Web.Path, "/")+"/")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	owner, name, number := parsePullPath(parts)
	repo, err := precedent.ParseRepo(u.Scheme + "://" + u.Host + "/" + owner + "/" + name)
	switch {
	case err != nil || number == 0 || slices.ContainsFunc(parts, func(s string) bool {
		return s == "" || s == "." || s == ".."
	}):
		return precedent.Repo{}, 0, wrong
	case repo.Host != home.Host:
		return precedent.Repo{}, 0, &Error{Kind: KindRefused, Msg: fmt.Sprintf("%s is not on %s", page, home.Host)}
	case !below:
		return precedent.Repo{}, 0, wrong
	}
	return repo, number, nil
}

// parsePullPath splits the path of a pull request's page. The number is 0 if it is another path.
func parsePullPath(parts []string) (owner, name string, number int) {
	if len(parts) < 4 || parts[2] != "pull" && parts[2] != "pulls" {
		return "", "", 0
	}
	return parts[0], parts[1], pullNumber(parts[3])
}

// Lines returns the URL of lines of a file at a commit, or of the file if Start is 0. It is empty if the
// forge does not show files. The path is escaped for use in Markdown.
func (p Pages) Lines(repo precedent.Repo, commit string, s precedent.Span) string {
	if p.Blob == "" {
		return ""
	}
	page := p.repoPage(repo) + "/" + p.Blob + "/" + commit + "/" + escapePath(s.Path)
	if s.Start > 0 && strings.HasSuffix(strings.ToLower(s.Path), ".md") {
		page += "?" + p.Source
	}
	switch {
	case s.Start <= 0:
		return page
	case s.End > s.Start:
		return fmt.Sprintf("%s#L%d-L%d", page, s.Start, s.End)
	}
	return fmt.Sprintf("%s#L%d", page, s.Start)
}

// escapePath escapes every byte of a path that has a meaning in URLs or in Markdown.
func escapePath(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/._~-", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// ParsePullRequest parses a pull request of the forge: its number, with or without "#", or the URL of its
// page or of one below it. For a number the Repo is zero. The error is KindRefused if the page is on another
// forge, and KindInvalid if it is not a pull request.
func ParsePullRequest(f Forge, which string) (precedent.Repo, int, error) {
	if n := pullNumber(strings.TrimPrefix(which, "#")); n > 0 {
		return precedent.Repo{}, n, nil
	}
	return f.Pages().ReadPullRequest(which)
}

// pullNumber parses the number of a pull request; 0 if it is invalid.
func pullNumber(s string) int {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n <= 0 {
		return 0
	}
	return int(n)
}

// Kind is the software of a forge.
type Kind string

// The kinds.
const (
	GitHub Kind = "github"
	Gitea  Kind = "gitea" // and Forgejo
	Local  Kind = "local"
)

// Address identifies a forge.
type Address struct {
	Kind Kind
	// At is the URL of the forge, or the folder of a local one. If it is empty, GitHub is github.com.
	At string
}

// ParseAddress parses KIND:AT, or "github" for github.com.
func ParseAddress(s string) (Address, error) {
	kind, at, _ := strings.Cut(s, ":")
	a := Address{Kind(kind), at}
	switch {
	case a.Kind == GitHub, a.Kind == Gitea && at != "", a.Kind == Local && at != "":
		return a, nil
	}
	return Address{}, fmt.Errorf("invalid forge %q: want github, github:https://HOST/api/v3, gitea:https://HOST or "+
		"local:DIR", s)
}

// Remote returns the repository that a remote of git names. On this forge it has the host of
// the pages, whatever the port of SSH, and its owner does not contain the path that the pages
// are below. Errors wrap precedent.ErrRepo.
func (a Address) Remote(remote string) (precedent.Repo, error) {
	r, ssh, err := precedent.ParseRemote(remote)
	if err != nil || a.Kind == Local {
		return r, err
	}
	web, err := url.Parse(cmp.Or(a.At, "https://github.com"))
	if err != nil {
		return r, nil //nolint:nilerr // the client of the forge reports it
	}
	path := strings.TrimSuffix(strings.Trim(web.Path, "/"), "api/v1")
	if a.Kind == GitHub {
		path, web.Host = "", strings.TrimPrefix(strings.ToLower(web.Host), "api.")
	}
	home, err := precedent.ParseRepo(web.Scheme + "://" + web.Host + "/owner/name")
	if err != nil {
		return r, nil //nolint:nilerr // as above
	}
	switch path = strings.Trim(path, "/"); {
	case ssh && (&url.URL{Host: r.Host}).Hostname() == (&url.URL{Host: home.Host}).Hostname():
		r.Host = home.Host
	case !ssh && path != "" && r.Host == home.Host:
		if owner, ok := strings.CutPrefix(r.Owner, path+"/"); ok {
			r.Owner = owner
		}
	}
	return r, nil
}

// String returns the form that ParseAddress parses.
func (a Address) String() string {
	if a.At == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.At
}
