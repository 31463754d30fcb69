package forgetest

import (
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// World is what a forge knows. Repositories in it have no host: that is the
// server's.
type World struct {
	// Me is the account of Secret. Change it before a server runs, or under Change.
	Me forge.Person

	mu    sync.Mutex
	repos map[string]*Repo
	clock *Clock
	last  int64 // number that was given out last, to anything
}

// Bot is the account of Secret in a new world.
var Bot = forge.Person{ID: "500", Login: "precedent-bot"}

// Repo is a repository. Change it under World.Change once a server runs.
type Repo struct {
	ID          int64
	Owner, Name string
	Pulls       map[int]*Pull
	// Members are the accounts that the forge knows, and what they may do here.
	Members []Member
	// Former are names as owner/name under which it was known.
	Former []string
	// Archived: nobody can write here.
	Archived bool
	Checks   []Check
	Statuses []Status
	// Labels are those that pull requests may have, and Shared those of the owner.
	// An id is a place in them.
	Labels, Shared []string
}

// Pull is a pull request, and what was said on it, in the order in which it was
// said.
type Pull struct {
	forge.PullRequest
	// Comments are those of all kinds. One OnReview stands for a review, even
	// without words; more of it may be in Reviews.
	Comments []forge.Comment
	Diff     string
	// Huge: the forge refuses to give the diff.
	Huge bool
	// Earlier are the heads before this one, oldest first.
	Earlier []Push
	// Reviews are by number. One that is missing here was commented on the head.
	Reviews map[precedent.ForgeID]Review
	// Closed tells who resolved a conversation, by the number of its first comment.
	Closed    map[precedent.ForgeID]forge.Person
	Reactions map[forge.CommentRef][]forge.Reaction
	// Folded are the comments that are minimised, and why.
	Folded map[forge.CommentRef]string

	written map[forge.CommentRef]time.Time      // when the forge was told of them
	placed  map[precedent.ForgeID]forge.Comment // inline comments as they were first, where a push moved them
}

// Push is a head that a pull request had.
type Push struct{ SHA, Diff string }

// Review is what is known of a review beside its words.
type Review struct {
	ID     precedent.ForgeID // set by Reviews
	Author forge.Person
	State  ReviewState
	Body   string
	Commit string
	Inline int // how many inline comments it has
}

// ReviewState is what a review says without words.
type ReviewState string

// The states that a review can be in.
const (
	Pending          ReviewState = "PENDING" // only its author sees it
	Commented        ReviewState = "COMMENTED"
	ChangesRequested ReviewState = "CHANGES_REQUESTED"
	Approved         ReviewState = "APPROVED"
)

// Check is a check run on a commit.
type Check struct {
	ID                        int64
	Commit, Name, External    string
	Status, Conclusion        string
	Title, Summary, Text, URL string
	By                        forge.Person
	Started, Completed        time.Time
	written                   time.Time
}

// Status is a commit status. The newest of a context counts.
type Status struct {
	ID                                 int64
	Commit, Context, State, URL, Words string
	By                                 forge.Person
	At                                 time.Time
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
