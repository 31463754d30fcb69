package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

type viewer struct {
	local    bool   // the local user
	reader   bool   // the holder of the reader's token
	person   string // the id of the account on the forge
	login    string
	operator bool   // may see and change the jobs of the server
	secret   string // of the session
}

func (v viewer) in() bool { return v.local || v.reader || v.person != "" }

// key names the viewer where requests are counted.
func (v viewer) key() string { return cmp.Or(v.person, v.login) }

// csrf is the token that forms of this session carry.
func (v viewer) csrf() string { return hashOf("form " + v.secret) }

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// sameSecret compares in the same time for every text.
func sameSecret(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// readerLogin is the name of the holder of the reader's token. No forge allows it as a login.
const readerLogin = "reader's token"

func (s *Site) viewer(r *http.Request) (viewer, error) {
	c, err := r.Cookie(s.cookieName())
	if err != nil { // there is none
		return viewer{}, nil
	}
	if s.o.DB == nil {
		s.localMu.Lock()
		defer s.localMu.Unlock()
		if s.localKey == "" || !sameSecret(c.Value, s.localKey) {
			return viewer{}, nil
		}
		return viewer{local: true, login: s.o.User, secret: c.Value}, nil
	}
	is, found, err := s.o.DB.Session(r.Context(), store.BrowserSession, hashOf(c.Value), s.o.Now())
	if err != nil || !found {
		return viewer{}, err
	}
	if is.Person == "" { // of the reader's token: it ends with the token
		if s.o.ReaderToken == "" || is.Detail != hashOf(s.o.ReaderToken) {
			return viewer{}, nil
		}
		return viewer{reader: true, login: readerLogin, secret: c.Value}, nil
	}
	operator := slices.ContainsFunc(s.o.Operators, func(o string) bool { return strings.EqualFold(o, is.Login) })
	return viewer{person: is.Person, login: is.Login, operator: operator, secret: c.Value}, nil
}

// permission returns what somebody may do in a repository, by its present name: somebody else may have taken a former
// one, which leads to the same memory. It is none if the forge does not tell.
func (s *Site) permission(ctx context.Context, v viewer, repo precedent.Repo) (forge.Permission, error) {
	switch {
	case v.local:
		return forge.Admin, nil
	case v.reader:
		return forge.Read, nil
	}
	repo, err := s.o.DB.PresentName(ctx, repo)
	if err != nil {
		return forge.None, err
	}
	// The client remembers an answer for a minute.
	got, err := s.o.Forge.Permission(ctx, repo, forge.Person{ID: precedent.ForgeID(v.person), Login: v.login})
	switch forge.KindOf(err) {
	case forge.KindAuth, forge.KindNotFound, forge.KindRefused:
		return forge.None, nil
	}
	return got, err
}

// Bounds of the list of repositories.
const (
	listedRepos = 30  // on a page
	askedRepos  = 120 // permissions that one page asks for
	askedAtOnce = 8
)

// visible returns the repositories that somebody may read, those that were reviewed last first, and
// whether there may be more. Who knows the name of another one can open its page.
func (s *Site) visible(ctx context.Context, v viewer, most int) (all []store.Active, more bool, err error) {
	if s.o.DB == nil {
		w, err := s.openLocal(ctx)
		if err != nil {
			return nil, false, err
		}
		rows := w.Memory.Rows
		_, last, err := rows.Period(ctx)
		return []store.Active{{Repo: rows, Name: w.IDs[0], Last: last}}, false, err
	}
	candidates, err := s.o.DB.ActiveRepos(ctx, store.Page{Limit: askedRepos + 1})
	if err != nil {
		return nil, false, err
	}
	more = len(candidates) > askedRepos
	candidates = candidates[:min(len(candidates), askedRepos)]
	for len(candidates) > 0 && len(all) < most {
		batch := candidates[:min(len(candidates), askedAtOnce)]
		candidates = candidates[len(batch):]
		may := make([]bool, len(batch))
		var group sync.WaitGroup
		for i := range batch {
			group.Go(func() {
				got, err := s.permission(ctx, v, batch[i].Name)
				may[i] = err == nil && got != forge.None
			})
		}
		group.Wait()
		for i := range batch {
			if may[i] {
				all = append(all, batch[i])
			}
		}
	}
	more = more || len(candidates) > 0 || len(all) > most
	return all[:min(len(all), most)], more, ctx.Err()
}

// ownPath returns a path of this site that a request may be sent on to, else the first page.
func ownPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") ||
		strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	return u.RequestURI()
}

// rate is how many requests somebody may send at once, and how long one takes to come back.
type rate struct {
	burst int
	every time.Duration
}

// Rates of requests. A page has two static files, which are not counted.
var (
	pageRate   = rate{burst: 120, every: 200 * time.Millisecond}
	signInRate = rate{burst: 10, every: 10 * time.Second}        // guesses of the reader's token
	forgeRate  = rate{burst: 100, every: 500 * time.Millisecond} // a proxy makes all people one address
	agentRate  = rate{burst: 60, every: 500 * time.Millisecond}
)

// maxRates bounds the memory of rates: beyond it, it begins anew.
const maxRates = 10_000

// rates counts requests by what they are, as buckets that fill with time.
type rates struct {
	now func() time.Time

	mu   sync.Mutex
	full map[string]time.Time // when the bucket of a name is full again
}

// pass tells whether one more request is within the rate.
func (r *rates) pass(name string, limit rate) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if r.full == nil || len(r.full) > maxRates {
		r.full = map[string]time.Time{}
	}
	full := r.full[name]
	if full.Before(now) {
		full = now
	}
	full = full.Add(limit.every)
	if full.Sub(now) > time.Duration(limit.burst)*limit.every {
		return false
	}
	r.full[name] = full
	return true
}
