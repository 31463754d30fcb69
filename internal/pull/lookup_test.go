package pull

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/pulltest"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// clone makes a clone of the repository whose pull requests are on the stage.
func (s *stage) clone(name string) *workspace.Workspace {
	s.T.Helper()
	dir := filepath.Join(s.Home, name)
	pulltest.Git(s.T, s.Home, s.Home, "clone", "-q", filepath.Join(s.Home, "work"), dir)
	pulltest.Git(s.T, s.Home, dir, "remote", "set-url", "origin", "https://"+s.connection.Host()+"/acme/shop.git")
	pulltest.Git(s.T, s.Home, dir, "config", "user.name", "Kim Git")
	w := needs.Value(s.env.OpenWorkspace(s.T.Context(), workspace.Location{Dir: dir}))(s.T)
	s.T.Cleanup(w.Close)
	return w
}

func (s *stage) dismiss(w *workspace.Workspace, d workspace.Dismissal) []workspace.Dismissed {
	d.Connect = func() (workspace.Connection, error) { return s.connection, nil }
	return s.env.Dismiss(s.T.Context(), w, d)
}

// postedID returns the id and the fingerprint of a posted finding.
func (s *stage) postedID(path string) (id, fingerprint string) {
	s.T.Helper()
	for _, c := range s.World.By(s.Pull, forgetest.Bot) {
		m, ok := comment.Writer{}.Read(string(c.Body))
		if ok && m.Kind == comment.Finding && c.Span.String() == path {
			return m.Finding, m.Fingerprint
		}
	}
	s.T.Fatal("nothing was posted on " + path)
	return "", ""
}

// TestDismissPosted: an id of a posted comment is dismissed in another clone, whose memory
// does not have it, and the forge is only read.
func TestDismissPosted(t *testing.T) {
	s := newStage(t)
	if _, _, err := s.review(&pulltest.Engine{Arrive: pulltest.Meeting(1)}); err != nil {
		t.Fatal(err)
	}
	id, fingerprint := s.postedID("till.js:2")
	before := len(s.Script.Requests())
	w := s.clone("other")
	all := s.dismiss(w, workspace.Dismissal{
		IDs:       []string{strings.ToUpper(id), id[:4], id},
		Dismissal: memory.Dismissal{Reason: "we know"},
	})
	if len(all) != 2 || all[0].Err != nil || all[1].Err == nil { // only whole ids are looked up
		t.Fatalf("%+v", all)
	}
	if again := s.dismiss(w, workspace.Dismissal{IDs: []string{id}}); !errors.Is(again[0].Err, memory.ErrDismissed) {
		t.Errorf("%+v", again)
	}
	j := all[0].Dismissal
	if j.Finding != id || j.Fingerprint != fingerprint || j.Who != "Kim Git" || j.Path != "till.js" ||
		j.Category != precedent.Bugs || j.Severity != precedent.High || !strings.Contains(j.Source, "/pull/7") ||
		j.Claim != pulltest.Findings["  ledger.total -= amount"] {
		t.Errorf("%+v", j)
	}
	for _, r := range s.Script.Requests()[before:] {
		if r.Method != http.MethodGet && !strings.Contains(r.Path, "graphql") {
			t.Errorf("%s %s", r.Method, r.Path)
		}
	}
}

// TestDismissPostedElsewhere: without the key of the marker, its author vouches for it, and
// the fingerprint for the id. A closed pull request is searched if it is named.
func TestDismissPostedElsewhere(t *testing.T) {
	s := newStage(t)
	if _, _, err := s.review(&pulltest.Engine{Arrive: pulltest.Meeting(1)}); err != nil {
		t.Fatal(err)
	}
	id, fingerprint := s.postedID("till.js:2")
	s.connection.Key = comment.Key{}
	unknown := precedent.FindingID(precedent.Repo{Host: "x", Owner: "y", Name: "z"}, fingerprint)
	marker := func(finding, fingerprint string) string {
		return (comment.Writer{}).Finding(precedent.Finding{
			ID: finding, Fingerprint: fingerprint, Category: precedent.Bugs, Severity: precedent.Low, Title: "x",
		}, comment.Marker{Thread: "t1"}, false)
	}
	at := precedent.Span{Path: "till.js", Side: precedent.Right, Start: 3, End: 3}
	s.World.Remark(s.Pull, forgetest.Ann, at, marker(unknown, fingerprint)) // the id is not that of the fingerprint
	stranger := precedent.FindingID(s.repo(), strings.Repeat("a", 32))
	// may not write
	s.World.Remark(s.Pull, forgetest.Cy, at, marker(stranger, strings.Repeat("a", 32)))
	w := s.clone("other")
	all := s.dismiss(w, workspace.Dismissal{IDs: []string{unknown, stranger, id}})
	if all[0].Err == nil || all[1].Err == nil || all[2].Err != nil {
		t.Fatalf("%+v", all)
	}
	s.World.Change(func() { s.Pull.State = forge.Closed })
	w = s.clone("closed")
	if all := s.dismiss(w, workspace.Dismissal{IDs: []string{id}}); all[0].Err == nil {
		t.Errorf("%+v", all)
	}
	if all := s.dismiss(w, workspace.Dismissal{IDs: []string{id}, Pull: 7}); all[0].Err != nil {
		t.Errorf("%+v", all)
	}
}
