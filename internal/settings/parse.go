package settings

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// given is the text of a setting, and what its meaning depends on.
type given struct {
	text      string
	from      Source
	home, dir string // the home folder and the working folder
}

func engineOfText(g given) (Engine, error) {
	if slices.Contains([]string{NoEngine, Claude, Anthropic, OpenAI}, g.text) {
		return Engine{Kind: g.text}, nil
	}
	program, ok := strings.CutPrefix(g.text, Command+":")
	program = strings.TrimSpace(program)
	if !ok || program == "" {
		return Engine{}, fmt.Errorf("unknown engine %q: want %s, %s, %s, command:PATH or %s", g.text, Anthropic, OpenAI,
			Claude, NoEngine)
	}
	if filepath.Base(program) == program {
		return Engine{Command, program}, nil // looked up in PATH
	}
	path, err := g.path(program)
	return Engine{Command, path}, err
}

func forgeOfText(g given) (forge.Address, error) {
	a, err := forge.ParseAddress(g.text)
	if err == nil && a.Kind == forge.Local {
		a.At, err = g.path(a.At)
	}
	return a, err
}

// endpointURL is the address of a server that gets texts and a key. Errors do not repeat it,
// because it may contain a password.
func endpointURL(g given) (string, error) {
	if g.text == "" {
		return "", nil
	}
	u, err := url.Parse(g.text)
	const hint = "write it as https://HOST/v1, or http://localhost:PORT/v1 for a server on this machine"
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", hinted(errors.New("not an http or https URL with a host"), hint)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", hinted(errors.New("the URL may contain only a host and a path"),
			"set the key in the environment: "+EmbeddingsKey)
	case u.Scheme == "http" && !wire.IsLoopback(u.Hostname()):
		return "", hinted(errors.New("the URL must use https, or texts and key would be sent unencrypted"), hint)
	}
	return strings.TrimSuffix(strings.TrimRight(g.text, "/"), "/embeddings"), nil
}

func automatic(g given) (bool, error) {
	if g.text != "auto" && g.text != "off" {
		return false, fmt.Errorf("%q: want auto or off", g.text)
	}
	return g.text == "auto", nil
}

func filePath(g given) (string, error) {
	if g.text == "" {
		return "", nil
	}
	return g.path(g.text)
}

// path makes a path absolute. In the configuration file, a relative path is an error.
func (g given) path(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && g.home != "" {
		path = filepath.Join(g.home, rest)
	}
	switch {
	case filepath.IsAbs(path):
		return path, nil
	case g.from.By == File:
		return "", hinted(fmt.Errorf("%q is a relative path", path), "write an absolute path, or one that begins with ~/")
	}
	return filepath.Join(g.dir, path), nil
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	return ""
}

// names are separated by commas.
func names(g given) ([]string, error) {
	if g.text == "" {
		return nil, nil
	}
	all := strings.Split(g.text, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all, nil
}

func text(g given) (string, error) { return g.text, nil }

// repositories are separated by commas.
func repositories(g given) ([]precedent.Repo, error) {
	all, err := names(g)
	if err != nil {
		return nil, err
	}
	var repos []precedent.Repo
	for _, name := range all {
		r, err := precedent.ParseRepo(name)
		if err != nil {
			return nil, err
		}
		repos = append(repos, r)
	}
	return repos, nil
}

// occasions are separated by commas. The word drafts among them includes drafts, and none alone is
// for reviews by command line only.
func occasions(g given) (*precedent.ReviewTriggers, error) {
	all, err := names(g)
	if err != nil {
		return nil, err
	}
	t := &precedent.ReviewTriggers{}
	if len(all) == 1 && all[0] == "none" {
		return t, nil
	}
	for _, name := range all {
		switch o := precedent.ReviewTrigger(name); {
		case name == "drafts":
			t.Drafts = true
		case !slices.Contains(precedent.ReviewOccasions, o):
			return nil, fmt.Errorf("%q is not an occasion for a review: want open, ready, push, request, command or label, "+
				"more after commas, or none", name)
		case !slices.Contains(t.On, o):
			t.On = append(t.On, o)
		}
	}
	if len(t.On) == 0 {
		return nil, errors.New("name at least one occasion")
	}
	return t, nil
}

// listenAddress is HOST:PORT, or off.
func listenAddress(g given) (string, error) {
	if g.text == "off" {
		return "", nil
	}
	host, port, err := net.SplitHostPort(g.text)
	if n, wrong := strconv.Atoi(port); err != nil || wrong != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("%q is not an address such as 127.0.0.1:8787, nor off", g.text)
	}
	if host == "" {
		return "", hinted(fmt.Errorf("%q names no host", g.text),
			"127.0.0.1 is for this machine only, 0.0.0.0 for all networks")
	}
	return g.text, nil
}

// pagesURL is the address of the pages: https, or http on this machine, without a path.
func pagesURL(g given) (string, error) {
	u, err := url.Parse(g.text)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil ||
		u.Scheme != "https" && (u.Scheme != "http" || !wire.IsLoopback(u.Hostname())) {
		return "", hinted(fmt.Errorf("%q is not an address for pages", g.text),
			"want https://HOST without a path; http is for this machine only")
	}
	return u.Scheme + "://" + u.Host, nil
}

// minInterval is the shortest time between two polls of a repository.
const minInterval = 10 * time.Second

func interval(g given) (time.Duration, error) {
	d, err := duration(g)
	if err == nil && d < minInterval {
		err = fmt.Errorf("%q is shorter than %s", g.text, minInterval)
	}
	return d, err
}

func logFormat(g given) (string, error) {
	if g.text != "text" && g.text != "json" {
		return "", fmt.Errorf("%q: want text or json", g.text)
	}
	return g.text, nil
}

func repo(g given) (precedent.Repo, error) { return precedent.ParseRepo(g.text) }

func percent(g given) (*int, error) {
	n, err := strconv.Atoi(g.text)
	if err != nil || n < 0 || n > 100 {
		return nil, fmt.Errorf("%q is not a percentage from 0 to 100", g.text)
	}
	return &n, nil
}

func boolean(g given) (bool, error) {
	on, err := strconv.ParseBool(g.text)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", g.text)
	}
	return on, nil
}

func positive(g given) (int, error) {
	n, err := strconv.Atoi(g.text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a number of 1 or more", g.text)
	}
	return n, nil
}

func between(least, most int, noun string) func(given) (int, error) {
	return func(g given) (int, error) {
		n, err := strconv.Atoi(g.text)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("%q is not a number of %s from %d to %d", g.text, noun, least, most)
		}
		return n, nil
	}
}

func dollars(g given) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimPrefix(g.text, "$"), 64)
	if err != nil || f <= 0 || f > 1e6 {
		return 0, fmt.Errorf("%q is not an amount of dollars above 0", g.text)
	}
	return f, nil
}

func severity(g given) (precedent.Severity, error) {
	s := precedent.Severity(g.text)
	if !slices.Contains(precedent.Severities, s) && s != precedent.FailNever {
		return "", fmt.Errorf("unknown severity %q: want critical, high, medium, low, nit or none", g.text)
	}
	return s, nil
}

func duration(g given) (time.Duration, error) {
	d, err := time.ParseDuration(g.text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a duration such as 90s or 10m", g.text)
	}
	return d, nil
}
