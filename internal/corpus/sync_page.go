package corpus

import (
	"cmp"
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// page converts what a forge listed.
func (s *syncRun) page(ctx context.Context, got forge.HistoryPage) (Page, error) {
	var page Page
	for i := range got.Pulls {
		page.Pulls = append(page.Pulls, pullOf(&got.Pulls[i]))
	}
	known, err := s.stored(ctx, got.Comments)
	if err != nil {
		return page, err
	}
	for i := range got.Comments {
		m := commentOf(&got.Comments[i])
		if old, ok := known[m.Kind][m.ID]; ok {
			s.noteEdit(&m, old)
		} else { // for others, what was stored first counts
			if m.MayWrite, err = s.mayWrite(ctx, &got.Comments[i]); err != nil {
				return page, err
			}
		}
		page.Comments = append(page.Comments, m)
	}
	return page, nil
}

// stored are those of the comments that the corpus has, by kind and id.
func (s *syncRun) stored(ctx context.Context,
	all []forge.NumberedComment,
) (map[string]map[precedent.ForgeID]precedent.CorpusComment, error) {
	ids := map[string][]string{}
	for i := range all {
		kind := string(all[i].Kind)
		ids[kind] = append(ids[kind], string(all[i].ID))
	}
	found := map[string]map[precedent.ForgeID]precedent.CorpusComment{}
	for kind, of := range ids {
		var err error
		if found[kind], err = s.corpus.Rows.CorpusCommentsOf(ctx, kind, of); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// noteEdit sets the time of an edit that the forge does not tell: Gitea and GitHub's REST API have
// none for the texts of reviews. What a list has is the present text.
func (s *syncRun) noteEdit(m *Comment, known precedent.CorpusComment) {
	if m.Kind != string(forge.OnReview) || m.UpdatedAt.After(known.UpdatedAt) || !known.DeletedAt.IsZero() {
		return
	}
	if cleaned := s.corpus.clean(*m, &Saved{}); cleaned != nil && cleaned.DeletedAt.IsZero() && cleaned.Body != known.Body {
		m.UpdatedAt = s.now()
		if !m.UpdatedAt.After(known.UpdatedAt) {
			m.UpdatedAt = known.UpdatedAt.Add(time.Second)
		}
	}
}

// mayWrite reports whether the author of a comment may write now. It asks once for each author and
// run. If the forge does not tell, it is whether the author is listed as a member.
func (s *syncRun) mayWrite(ctx context.Context, m *forge.NumberedComment) (bool, error) {
	if m.Author.Bot || m.Author.ID == "" || m.Author.ID == s.corpus.Me {
		return false, nil
	}
	if may, ok := s.permissions[m.Author]; ok {
		return may, nil
	}
	if s.unknown {
		return m.Member, nil
	}
	may, known, err := mayWrite(ctx, s.o.Forge, s.o.Repo, m)
	if err != nil {
		return false, err
	}
	if s.unknown = !known; known {
		s.permissions[m.Author] = may
	}
	return may, nil
}

// mayWrite asks the forge whether the author of a comment may write, and tells whether it
// answered.
func mayWrite(ctx context.Context, f forge.Forge, repo precedent.Repo, m *forge.NumberedComment) (may, known bool,
	err error,
) {
	p, err := f.Permission(ctx, repo, m.Author)
	switch forge.KindOf(err) {
	case forge.KindRefused: // it is not a valid login
		return false, true, nil
	case forge.KindAuth:
		return m.Member, false, nil
	}
	return p.MayWrite(), err == nil, err
}

// pullOf converts a pull request.
func pullOf(p *forge.PullRequest) store.CorpusPull {
	return store.CorpusPull{Reverts: reverts(string(p.Title), string(p.Body)), CorpusPull: precedent.CorpusPull{
		Number: p.Number, Title: string(p.Title), AuthorID: p.Author.ID, Author: p.Author.Login, Merged: p.MergedAt,
		UpdatedAt: p.Updated,
	}}
}

// commentOf converts a comment, without the permission of its author.
func commentOf(m *forge.NumberedComment) Comment {
	return Comment{Bot: m.Author.Bot, CorpusComment: precedent.CorpusComment{
		Kind: string(m.Kind), ID: m.ID, Pull: m.Number, Root: cmp.Or(m.ReplyTo, m.ID), AuthorID: m.Author.ID,
		Author: m.Author.Login,
		Body:   m.Body, Span: m.Span, Hunk: m.Hunk, Commit: m.Commit, Outdated: m.Outdated, URL: m.URL, At: m.At,
		UpdatedAt: m.Edited,
	}}
}

// Apply brings the corpus up to date with what an event tells about comments. It changes nothing
// if there is no corpus yet, and leaves the checkpoints alone: a sync reads the same again.
func (c *Corpus) Apply(ctx context.Context, f forge.Forge, repo precedent.Repo, changes []forge.CommentChange) (Saved,
	error,
) {
	var all Saved
	if has, err := c.Rows.HasCorpus(ctx); err != nil || !has {
		return all, err
	}
	for i := range changes {
		page, err := c.change(ctx, f, repo, &changes[i])
		if err != nil {
			return all, err
		}
		saved, err := c.Save(ctx, page)
		if err != nil {
			return all, err
		}
		all.Add(saved)
	}
	return all, nil
}

// change is the page of one change.
func (c *Corpus) change(ctx context.Context, f forge.Forge, repo precedent.Repo, e *forge.CommentChange) (Page, error) {
	var page Page
	kinds := []forge.CommentKind{e.Kind}
	if e.Kind == "" {
		// Its id is that of one comment, whose kind is known if it is stored.
		kinds = []forge.CommentKind{forge.OnThread, forge.OnLine}
	}
	for _, kind := range kinds {
		stored, err := c.Rows.CorpusCommentsOf(ctx, string(kind), []string{string(e.ID)})
		known, found := stored[e.ID]
		switch {
		case err != nil:
			return page, err
		case !found && e.Kind == "":
			continue
		case e.Action == forge.CommentDeleted:
			gone := precedent.CorpusComment{Kind: string(kind), ID: e.ID, Pull: e.Number, DeletedAt: c.Now()}
			if known.UpdatedAt.After(gone.DeletedAt) { // by the clock of the forge
				gone.DeletedAt = known.UpdatedAt
			}
			page.Comments = append(page.Comments, Comment{CorpusComment: gone})
		case e.Kind == "":
			known.Body, known.UpdatedAt, known.DeletedAt = e.Body, e.Edited, time.Time{}
			page.Comments = append(page.Comments, Comment{CorpusComment: known, Bot: e.Author.Bot})
		default:
			m := commentOf(&e.NumberedComment)
			if !e.Author.Bot && e.Author.ID != "" {
				if m.MayWrite, _, err = mayWrite(ctx, f, repo, &e.NumberedComment); err != nil {
					return page, err
				}
			}
			page.Comments = append(page.Comments, m)
		}
	}
	if e.Pull.Number > 0 && e.Action != forge.CommentDeleted {
		page.Pulls = append(page.Pulls, pullOf(&e.Pull))
	}
	return page, nil
}
