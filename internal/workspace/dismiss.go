package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/text"
)

// Dismissal is what a person dismisses, or restores.
type Dismissal struct {
	IDs  []string // of findings, or their beginnings
	Rule string   // of an analyzer; empty for none
	// Words and files of the person. Without a name it is the one of git's configuration.
	memory.Dismissal
	// Pull is the pull request in whose comments ids are looked up that the memory does not
	// have; 0 for the newest open ones.
	Pull int
	// Connect opens the forge for that.
	Connect func() (Connection, error)
	User    string // the name if git's configuration has none
}

// Dismissed is the result for an id, or for a rule.
type Dismissed struct {
	Dismissal precedent.Dismissal
	// Widen is where the same remark was dismissed before; empty if it was not. See memory.Widen.
	Widen string
	Err   error
}

// Dismiss dismisses the findings and the rule, each on its own. Ids that the memory does not
// have are looked up in the comments of pull requests, of which nothing is changed.
func (r *Env) Dismiss(ctx context.Context, w *Workspace, d Dismissal) []Dismissed {
	d.Who = cmp.Or(d.Who, r.userName(ctx, w), d.User)
	var all []Dismissed
	unknown := map[string]int{} // full ids, each with its index in all
	for _, id := range d.distinctIDs() {
		j, err := w.Memory.Dismiss(ctx, id, d.Dismissal)
		all = append(all, Dismissed{Dismissal: j, Err: err})
		if errors.Is(err, memory.ErrUnknownID) && len(id) == precedent.FindingIDLen {
			unknown[id] = len(all) - 1
		}
	}
	if len(unknown) > 0 && ctx.Err() == nil {
		r.dismissPosted(ctx, w, d, unknown, all)
	}
	if d.Rule != "" {
		j, err := w.Memory.DismissRule(ctx, d.Rule, d.Dismissal)
		all = append(all, Dismissed{Dismissal: j, Err: err})
	}
	for i := range all {
		if d := &all[i]; d.Err == nil {
			d.Widen, _ = w.Memory.Widen(ctx, d.Dismissal) // an offer
		}
	}
	return all
}

// distinctIDs are the ids, each once however it is written.
func (d *Dismissal) distinctIDs() []string {
	var ids []string
	for _, id := range d.IDs {
		if id = memory.NormalizeID(id); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// dismissPosted dismisses those of the unknown ids that have a comment, and writes the results into all.
func (r *Env) dismissPosted(ctx context.Context, w *Workspace, d Dismissal, unknown map[string]int, all []Dismissed) {
	l := lookup{
		workspace: w, pull: d.Pull, wanted: map[string]bool{},
		found: map[string]precedent.Dismissal{},
	}
	for id := range unknown {
		l.wanted[id] = true
	}
	err := l.run(ctx, d.Connect)
	for id, i := range unknown {
		j, found := l.found[id]
		if !found {
			all[i].Err = l.notFound(all[i].Err, err)
			continue
		}
		if e := r.KeepMemory(ctx, w); e != nil {
			all[i].Err = e
			continue
		}
		all[i].Dismissal, all[i].Err = w.Memory.DismissPosted(ctx, j, d.Dismissal)
	}
}

// KeepMemory makes the file of a memory that has none yet.
func (r *Env) KeepMemory(ctx context.Context, w *Workspace) error {
	if w.Memory.DB.Kept() || w.File.Value == "" {
		return nil
	}
	db, err := r.OpenMemory(ctx, w.Repository)
	if err != nil {
		return err
	}
	_ = w.Memory.DB.Close() // it was empty
	w.Memory.DB = db
	return w.Memory.Open(ctx)
}

// Restore undoes the dismissals of the findings and of the rule, each on its own.
func (r *Env) Restore(ctx context.Context, w *Workspace, d Dismissal) []Dismissed {
	var all []Dismissed
	for _, id := range d.distinctIDs() {
		j, err := w.Memory.Undismiss(ctx, id)
		all = append(all, Dismissed{Dismissal: j, Err: err})
	}
	if d.Rule == "" {
		return all
	}
	undone, err := w.Memory.UndismissRule(ctx, d.Rule, d.Glob)
	if err != nil {
		return append(all, Dismissed{Err: err})
	}
	for _, j := range undone {
		all = append(all, Dismissed{Dismissal: j})
	}
	return all
}

// userName is the name of the person in git's configuration; empty for none.
func (r *Env) userName(ctx context.Context, w *Workspace) string {
	if w.Git != nil {
		return w.Git.UserName()
	}
	return git.UserName(ctx, r.Git)
}

// MaxLookupPulls limits the open pull requests whose comments are searched for ids.
const MaxLookupPulls = 20

// maxClaim bounds a finding's title in a comment, in characters.
const maxClaim = 200

// lookup searches the comments of pull requests for findings.
type lookup struct {
	workspace  *Workspace
	connection Connection
	pull       int             // 0 for the open ones
	wanted     map[string]bool // full ids
	found      map[string]precedent.Dismissal
	me         forge.Person
	people     Permissions
}

// run searches until everything is found. It returns why it could not search, or not all.
func (l *lookup) run(ctx context.Context, connect func() (Connection, error)) error {
	repo := l.workspace.IDs[0]
	if l.workspace.unborn || repo.IsLocal() {
		if l.pull != 0 {
			return Hinted(errors.New("the repository has no remote on a forge"), "set it: --repo host/owner/name")
		}
		return errNoForge
	}
	var err error
	if l.connection, err = connect(); err != nil {
		return err
	}
	if repo.Host != l.connection.Host() {
		return Hinted(fmt.Errorf("%s is not on %s", repo, l.connection.Host()),
			"to search the comments of its pull requests, set its forge with --forge")
	}
	if !l.connection.Known {
		return Hinted(errors.New("without a token the comments of its pull requests are not searched"), "set %s",
			l.connection.TokenName)
	}
	l.people = Permissions{
		Known: map[precedent.ForgeID]forge.Permission{},
		Ask: func(ctx context.Context, who forge.Person) (forge.Permission, error) {
			return l.connection.Permission(ctx, repo, who)
		},
	}
	pulls, err := l.pulls(ctx, repo)
	if err != nil {
		return l.connection.Explain(err)
	}
	if l.me, err = l.connection.Me(ctx); err != nil && ctx.Err() != nil {
		return err // a token of a workflow has no account; then others vouch for comments
	}
	for _, p := range pulls {
		if err := l.search(ctx, p); err != nil {
			return l.connection.Explain(err)
		}
		if len(l.found) == len(l.wanted) {
			break
		}
	}
	return nil
}

var errNoForge = errors.New("no forge")

func (l *lookup) pulls(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	if l.pull != 0 {
		p, err := l.connection.PullRequest(ctx, repo, l.pull)
		return []forge.PullRequest{p}, err
	}
	open, err := l.connection.Open(ctx, repo)
	if err != nil && forge.KindOf(err) != forge.KindTooLarge {
		return nil, err
	}
	return open[:min(len(open), MaxLookupPulls)], nil
}

// search reads the comments of a pull request, whose repository may have been renamed.
func (l *lookup) search(ctx context.Context, p forge.PullRequest) error {
	if repo := p.Base.Repo; !slices.Contains(l.workspace.IDs, repo) {
		l.workspace.IDs = append(l.workspace.IDs, repo)
	}
	comments, err := l.connection.Comments(ctx, p.Base.Repo, p.Number)
	if err != nil && forge.KindOf(err) != forge.KindTooLarge {
		return err
	}
	reader := comment.Writer{
		PullRequest: comment.PullRequest{Repo: p.Base.Repo, RepoID: p.Base.RepoID, Number: p.Number},
		Key:         l.connection.Key,
	}
	for _, c := range comments { // the oldest first: a copy of a comment comes later
		if c.Kind != forge.OnLine {
			continue
		}
		m, ok := reader.Read(string(c.Body))
		if _, have := l.found[m.Finding]; !ok || have || m.Kind != comment.Finding || !l.wanted[m.Finding] ||
			!l.valid(ctx, m, c.Author) {
			continue
		}
		l.found[m.Finding] = precedent.Dismissal{
			Finding: m.Finding, Fingerprint: m.Fingerprint, Claim: text.Cut(text.Collapse(text.Clean(m.Title)), maxClaim),
			Path: c.Span.Path, Category: m.Category, Severity: m.Severity, Source: c.URL,
		}
	}
	return nil
}

// valid tells whether a marker may be believed. Its id is made of its fingerprint, so the
// author of a comment cannot have another finding dismissed. What the person is shown of the
// finding is believed if it is signed, or if the account is a bot or may write.
func (l *lookup) valid(ctx context.Context, m comment.Marker, author forge.Person) bool {
	bound := slices.ContainsFunc(l.workspace.IDs,
		func(id precedent.Repo) bool { return precedent.FindingID(id, m.Fingerprint) == m.Finding })
	switch {
	case m.Fingerprint == "" || author.ID == "":
		return false
	case !l.connection.Key.IsZero():
		return true // Read has checked the signature
	}
	return bound && (author.ID == l.me.ID || author.Bot || l.people.Permission(ctx, author).MayWrite())
}

// notFound is the error of an id that is in no comment, either.
func (l *lookup) notFound(unknown, failure error) error {
	switch {
	case errors.Is(failure, errNoForge):
		return unknown
	case failure != nil:
		return Hinted(fmt.Errorf("%w, and its comment could not be looked up: %w", unknown, failure), "%s", HintOf(failure))
	case l.pull != 0:
		return Hinted(fmt.Errorf("%w, and #%d has no comment with it", unknown, l.pull),
			"precedent review prints the id of each finding")
	}
	return Hinted(fmt.Errorf("%w, and it is in no comment on the open pull requests that changed last", unknown),
		"name the pull request with --pr NUMBER")
}
