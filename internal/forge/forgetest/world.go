package forgetest

import (
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// World is what a forge knows. Its repositories have no host; that is the server's.
type World struct {
	// Me is the account of Secret. Change it before a server runs, or under Change.
	Me forge.Person

	mu    sync.Mutex
	repos map[string]*Repo
	clock *Clock
	last  int64 // last id given to anything
	hooks []*Hook
	real  *Real // where people act; nil if the world is all there is
}

// Bot is the account of Secret in a new world.
var Bot = forge.Person{ID: "500", Login: "precedent-bot"}

// Repo is a repository. Once a server runs, change it under World.Change.
type Repo struct {
	ID          int64
	Owner, Name string
	Pulls       map[int]*Pull
	// Issues are the numbers in Pulls that are issues in the lists of a whole repository.
	Issues map[int]bool
	// Members are the known accounts and their permissions.
	Members []Member
	// Teams are those of the organization that owns the repository; nil if a user owns
	// it. GitHub's roles are all in Members.
	Teams []Team
	// Former are earlier names, as owner/name.
	Former []string
	// Roles are those on GitHub that are not called like the permission that they are based
	// on, by account: maintain (write), triage (read), and custom ones.
	Roles map[precedent.ForgeID]string
	// Protected lets only administrators dismiss reviews.
	Protected bool
	// Default is the default branch; empty for main.
	Default string
	// ProtectedBranches are those that nobody may push to.
	ProtectedBranches []string
	// Rules are the types of the rules of rulesets that apply to a branch, on GitHub.
	Rules map[string][]string
	// UserOwned means that the owner is a user, and no organization.
	UserOwned bool
	// Archived makes the repository read-only.
	Archived bool
	Checks   []Check
	Statuses []Status
	// Labels are the labels of the repository, and Shared those of its organization.
	// The index determines the id.
	Labels, Shared []string
}

// Pull is a pull request with its comments, in the order in which they were made.
type Pull struct {
	forge.PullRequest
	Files int // number of changed files
	// Comments are of all kinds. One OnReview represents a review, even without text;
	// Reviews may have more about it.
	Comments []forge.Comment
	Diff     string
	// Huge makes the forge refuse to return the diff.
	Huge bool
	// Unrelated tells that head and base have no common commit. Only Gitea opens such a pull request.
	Unrelated bool
	// Earlier are the previous heads, oldest first.
	Earlier []Push
	// Reviews are by id. A review that is missing is a comment on the head.
	Reviews map[precedent.ForgeID]Review
	// Closed says who resolved a conversation, by the id of its first comment.
	Closed    map[precedent.ForgeID]forge.Person
	Reactions map[forge.CommentRef][]forge.Reaction
	// Folded are the minimized comments, and why.
	Folded map[forge.CommentRef]string

	written map[forge.CommentRef]time.Time      // when the forge received them
	mails   map[precedent.ForgeID]int           // by who wrote
	placed  map[precedent.ForgeID]forge.Comment // original places of inline comments that a push moved
}

// Push is an earlier head of a pull request.
type Push struct{ SHA, Diff string }

// Review is a review without its text.
type Review struct {
	ID     precedent.ForgeID // set by Reviews
	Author forge.Person
	State  ReviewState
	Body   string
	Commit string
	Inline int // number of inline comments
}

// ReviewState is the state of a review.
type ReviewState string

// The states that a review can be in.
const (
	Pending          ReviewState = "PENDING" // only its author sees it
	Commented        ReviewState = "COMMENTED"
	ChangesRequested ReviewState = "CHANGES_REQUESTED"
	Approved         ReviewState = "APPROVED"
	Dismissed        ReviewState = "DISMISSED" // after it requested changes
)

// Check is a check run on a commit.
type Check struct {
	ID                        int64
	Commit, Name, External    string
	Status, Conclusion        string
	Title, Summary, Text, URL string
	Suite                     int64 // the run of a workflow that it belongs to
	Job                       bool  // it is a job of that run
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

// Add adds a repository.
func (w *World) Add(r *Repo) {
	w.Change(func() {
		for _, name := range append([]string{r.Owner + "/" + r.Name}, r.Former...) {
			w.repos[strings.ToLower(name)] = r
		}
	})
}

// Rename moves a repository, or gives it another name. The former name leads to it until a
// new repository gets that name. Call it under Change.
func (w *World) Rename(r *Repo, owner, name string) {
	was := precedent.Repo{Owner: r.Owner, Name: r.Name}
	r.Owner, r.Name, r.Former = owner, name, append(r.Former, r.Owner+"/"+r.Name)
	for _, p := range r.Pulls {
		for _, b := range []*forge.Branch{&p.Base, &p.Head} {
			if b.Repo.Owner == was.Owner && b.Repo.Name == was.Name {
				b.Repo.Owner, b.Repo.Name = owner, name
			}
		}
	}
	w.repos[strings.ToLower(owner+"/"+name)] = r
}

// Change runs f while no server reads the world.
func (w *World) Change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// has reports whether a repository has this name now, under any owner.
func (w *World) has(name string) bool {
	for _, r := range w.repos {
		if strings.EqualFold(r.Name, name) {
			return true
		}
	}
	return false
}

// Repo finds a repository, ignoring case; nil if there is none. Call it under Change.
func (w *World) Repo(owner, name string) *Repo { return w.repos[strings.ToLower(owner+"/"+name)] }
