package pull

import (
	"path/filepath"
	"testing"

	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestSharedMemoryIsKept: a memory in the database of a server lasts, although its repository has no
// file of its own: events reach its corpus.
func TestSharedMemoryIsKept(t *testing.T) {
	s := newStage(t)
	s.env.DataDir = filepath.Join(s.Home, "server")
	db := needs.Value(s.env.OpenInstallation(t.Context(), ""))(t)
	defer db.Close()
	s.env.Shared = db
	repo := s.repo()
	w := needs.Value(s.env.SharedWorkspace(t.Context(), repo))(t)
	defer w.Close()
	s.World.Say(s.Pull, forgetest.Ann, "", "Please close the file.") // so that there is a corpus
	if _, err := s.env.SyncCorpus(t.Context(), s.connection, w,
		corpus.SyncOptions{Since: forgetest.Epoch.AddDate(-1, 0, 0), Sleep: s.Clock.Sleep}); err != nil {
		t.Fatal(err)
	}
	now := s.Clock.Now()
	needs.NoError(t, s.read(7, func(pull *Pull) error {
		pull.ApplyEvent(t.Context(), forge.Event{Repo: repo, Comments: []forge.CommentChange{{
			Action: forge.CommentCreated, Pull: pull.PullRequest,
			NumberedComment: forge.NumberedComment{Number: 7, Comment: forge.Comment{
				ID: "777", Kind: forge.OnThread, Author: forgetest.Ann, Body: "Please close the file in every case.",
				At: now, Edited: now,
			}},
		}}})
		return nil
	}))
	rows := w.Memory.Rows
	all, err := rows.CorpusCommentsOf(t.Context(), string(forge.OnThread), []string{"777"})
	if c := all["777"]; err != nil || !c.MayWrite || c.Pull != 7 {
		t.Errorf("the event is not in the corpus: %+v, %v", c, err)
	}
}
