package precedent

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Repo is the identity of a repository: the location of its remote, never that of a clone on a
// disk. Memory belongs to a Repo, so that all clones of one remote share it.
type Repo struct {
	Host  string // lower case, without the default port: "github.com"
	Owner string // may hold slashes (GitLab subgroups): "group/subgroup"
	Name  string // without ".git"
}

// localHost is the host of repositories without a remote: they are identified by their root commit.
const localHost = "local"

// LocalRepo is the identity of a repository without a remote, from the object id of its root commit.
func LocalRepo(rootCommit string) Repo {
	return Repo{Host: localHost, Owner: "root", Name: rootCommit}
}

// numberOwner is the owner of identities by number. No forge allows it as a name.
const numberOwner = "#"

// NumberedRepo is the identity of a repository by its number on a forge, which it keeps
// when it is renamed or moved.
func NumberedRepo(host string, number ForgeID) Repo {
	return Repo{Host: host, Owner: numberOwner, Name: string(number)}
}

// IsLocal tells whether the identity is a root commit, not a remote.
func (r Repo) IsLocal() bool { return r.Host == localHost }

// HasOwner tells whether the identity names an account: one by root commit or by number does not.
func (r Repo) HasOwner() bool { return !r.IsLocal() && r.Owner != numberOwner && r.Owner != "" }

// IsZero tells whether r is the zero Repo.
func (r Repo) IsZero() bool { return r == Repo{} }

// String returns the identity as "host/owner/name".
func (r Repo) String() string {
	if r.IsZero() {
		return ""
	}
	return r.Host + "/" + r.Owner + "/" + r.Name
}

// MarshalText renders the identity as String does.
func (r Repo) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the output of MarshalText.
func (r *Repo) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*r = Repo{}
		return nil
	}
	parsed, err := ParseRepo(string(b))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// ErrRepo is wrapped by every error about an identity that cannot be parsed.
var ErrRepo = errors.New("not a repository identity")

// ParseRepo reads an identity from "host/owner/name" or from a remote, as ParseRemote does.
// Errors wrap ErrRepo.
func ParseRepo(s string) (Repo, error) {
	r, _, err := ParseRemote(s)
	return r, err
}

// ParseRemote reads the identity that a remote of git names, and whether git reaches it by SSH: then a port
// says nothing about the address of the forge's pages. It reads URLs, the scp form [user@]host:path, the same
// with a port or an IPv6 address in brackets, and local paths. It ignores user names, passwords, default
// ports, ".git", slashes at the end, and the case of the host. Errors wrap ErrRepo.
func ParseRemote(s string) (r Repo, ssh bool, err error) {
	wrong := fmt.Errorf("%w: %q (want host/owner/name or a remote URL)", ErrRepo, s)
	raw := strings.TrimSpace(s)
	if raw == "" || hasControl(raw) {
		return Repo{}, false, wrong
	}
	host, p, ssh := splitRemote(raw)
	if host = canonicalHost(host, ssh); host == "" || hasControl(p) {
		return Repo{}, false, wrong
	}
	p = strings.Trim(path.Clean("/"+p), "/")
	for strings.HasSuffix(p, ".git") {
		p = strings.TrimSuffix(p, ".git")
	}
	i := strings.LastIndexByte(p, '/')
	if i <= 0 || strings.TrimSpace(p) != p {
		return Repo{}, false, wrong
	}
	r = Repo{Host: host, Owner: p[:i], Name: p[i+1:]}
	if r.Owner == numberOwner || slices.Contains([]string{"", ".", ".."}, r.Name) {
		return Repo{}, false, wrong
	}
	return r, ssh, nil
}

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

var (
	// hostPort is a host with a port, or an IPv6 address with or without one. The
	// scp form user@host:path has a user where the path could be read as a port.
	hostPort = regexp.MustCompile(`^(?:[A-Za-z0-9.-]+:[0-9]{1,5}|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?)$`)
	// helper begins a remote that is for a program of its own: "ext::sh -c …".
	helper = regexp.MustCompile(`^[A-Za-z0-9]+::`)
	// drive begins a path on Windows.
	drive = regexp.MustCompile(`^[A-Za-z]:[/\\]`)
	// bracketed is the scp form with brackets, which hold host and port, or IPv6 addresses.
	bracketed = regexp.MustCompile(`^(?:[^/@\[\]]+@)?\[([^/\]]+)\]:(.*)$`)
)

// splitRemote separates the host of a remote from its path. A local path has the host "file",
// so that two clones of one folder share an identity. The host is empty if there is none.
func splitRemote(s string) (host, p string, ssh bool) {
	switch {
	case helper.MatchString(s):
		return "", "", false
	case drive.MatchString(s):
		return "file", strings.ReplaceAll(s, `\`, "/"), false
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../"):
		return "file", s, false
	case strings.Contains(s, "://"):
		return splitURL(s)
	}
	if host, p, ok := strings.Cut(s, "/"); ok && hostPort.MatchString(host) {
		return host, p, false // as String writes it
	}
	if m := bracketed.FindStringSubmatch(s); m != nil {
		return withoutUser(m[1]), m[2], true
	}
	if before, after, ok := strings.Cut(s, ":"); ok && !strings.Contains(before, "/") {
		return withoutUser(before), after, true
	}
	host, p, _ = strings.Cut(s, "/")
	return host, p, false
}

func splitURL(s string) (host, p string, ssh bool) {
	scheme, rest, _ := strings.Cut(s, "://")
	if strings.EqualFold(scheme, "file") {
		return "file", rest, false
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", "", false
	}
	host = u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]" // IPv6
	}
	if port := u.Port(); port != "" && !defaultPort(u.Scheme, port) {
		host += ":" + port
	}
	return host, u.Path, slices.Contains([]string{"ssh", "git+ssh", "ssh+git"}, u.Scheme)
}

func withoutUser(host string) string { return host[strings.LastIndexByte(host, '@')+1:] }

// sshHosts are the hosts at which forges serve SSH on the port of HTTPS, by their documents:
// "Using SSH over the HTTPS port" of GitHub, and the like of GitLab and Bitbucket.
var sshHosts = map[string]string{
	"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
}

// canonicalHost returns the host as identities contain it; empty if it is not one.
func canonicalHost(host string, ssh bool) string {
	host = strings.ToLower(host)
	if ssh && strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]" // IPv6 in the brackets of the scp form
	}
	if ssh {
		host = strings.TrimSuffix(host, ":22")
		name, _, _ := strings.Cut(host, ":")
		if of := sshHosts[name]; of != "" {
			return of
		}
	}
	if name, port, ok := strings.Cut(host, ":"); ok && strings.HasSuffix(name, ".") {
		host = strings.TrimRight(name, ".") + ":" + port
	}
	host = strings.TrimRight(host, ".")
	if strings.ContainsAny(host, `/\@?#% `) || strings.ContainsAny(host, "[]:") && !hostPort.MatchString(host) {
		return ""
	}
	return host
}

func defaultPort(scheme, port string) bool {
	switch scheme {
	case "https":
		return port == "443"
	case "http":
		return port == "80"
	case "ssh", "git+ssh", "ssh+git":
		return port == "22"
	case "git":
		return port == "9418"
	}
	return false
}
