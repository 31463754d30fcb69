package forgetest

import (
	"strings"
	"sync"

	"github.com/precedent-dev/precedent/internal/forge"
)

// World is what a forge knows. Repositories in it have no host: that is the
// server's.
type World struct {
	mu    sync.Mutex
	repos map[string]*Repo
}

// Repo is a repository. Change it under World.Change once a server runs.
type Repo struct {
	ID          int64
	Owner, Name string
	Pulls       map[int]*Pull
	// Members are the accounts that the forge knows, and what they may do here.
	Members []Member
	// Former are names as owner/name under which it was known.
	Former []string
}

// Pull is a pull request, and what was said on it, in the order in which it was
// said.
type Pull struct {
	forge.PullRequest
	Comments []forge.Comment
	Diff     string
	// Huge: the forge refuses to give the diff.
	Huge bool
}

// Member is an account and its permission.
type Member struct {
	Person     forge.Person
	Permission forge.Permission
}

// Add puts a repository into the world.
func (w *World) Add(r *Repo) {
	w.Change(func() {
		for _, name := range append([]string{r.Owner + "/" + r.Name}, r.Former...) {
			w.repos[strings.ToLower(name)] = r
		}
	})
}

// Change runs f while no server reads the world.
func (w *World) Change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// Repo is the repository of a name, whatever its case; nil if there is none. It
// is called under Change.
func (w *World) Repo(owner, name string) *Repo { return w.repos[strings.ToLower(owner+"/"+name)] }
