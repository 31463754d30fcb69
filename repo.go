package precedent

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// Repo is the identity of a repository: the location of its remote, never that of a clone on a
// disk. Memory belongs to a Repo, so that all clones of one remote share it.
type Repo struct {
	Host  string // lower case, without port 22, 80 or 443: "github.com"
	Owner string // may hold slashes (GitLab subgroups): "group/subgroup"
	Name  string // without ".git"
}

// localHost is the host of repositories without a remote: they are identified by their root
// commit.
const localHost = "local"

// LocalRepo is the identity of a repository without a remote, from the object
// id of its root commit.
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

// ParseRepo reads an identity from "host/owner/name" or from any form of remote URL that git
// accepts (https, ssh, git, the scp form user@host:path, file and plain paths). It ignores
// user names, passwords, default ports, a trailing ".git", trailing slashes, and the case of
// the host. Errors wrap ErrRepo.
func ParseRepo(s string) (Repo, error) {
	raw := strings.TrimSpace(s)
	if raw == "" || strings.ContainsAny(raw, "\x00\n\r") {
		return Repo{}, fmt.Errorf("%w: %q", ErrRepo, s)
	}
	host, p := splitRemote(raw)
	p = strings.TrimSuffix(strings.Trim(path.Clean("/"+p), "/"), ".git")
	i := strings.LastIndexByte(p, '/')
	if host == "" || i <= 0 || i == len(p)-1 {
		return Repo{}, fmt.Errorf("%w: %q (want host/owner/name or a remote URL)", ErrRepo, s)
	}
	return Repo{Host: strings.ToLower(host), Owner: p[:i], Name: p[i+1:]}, nil
}

// hostPort is a host with a port, or an IPv6 address with or without one. The
// scp form user@host:path has a user where the path could be read as a port.
var hostPort = regexp.MustCompile(`^(?:[A-Za-z0-9.-]+:[0-9]{1,5}|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?)$`)

// splitRemote separates the host of a remote from its path. A local path has the host "file",
// so that two clones of one folder share an identity.
func splitRemote(s string) (host, p string) {
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		if strings.EqualFold(scheme, "file") {
			return "file", rest
		}
		u, err := url.Parse(s)
		if err != nil {
			return "", ""
		}
		h := u.Hostname()
		if strings.Contains(h, ":") {
			h = "[" + h + "]" // IPv6
		}
		if port := u.Port(); port != "" && !defaultPort(strings.ToLower(u.Scheme), port) {
			h += ":" + port
		}
		return h, u.Path
	}
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") {
		return "file", s
	}
	if host, p, ok := strings.Cut(s, "/"); ok && hostPort.MatchString(host) {
		return host, p // as String writes it
	}
	if before, after, ok := strings.Cut(s, ":"); ok && !strings.Contains(before, "/") {
		if _, h, ok := strings.Cut(before, "@"); ok {
			before = h
		}
		return before, after
	}
	host, p, _ = strings.Cut(s, "/")
	return host, p
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
