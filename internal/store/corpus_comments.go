package store

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
)

const corpusCommentColumns = `c.kind, c.id, c.pull, c.root, c.author_id, c.author, c.may_write, c.body, c.path, c.side,
	c.start_line, c.end_line, c.hunk, c.head, c.outdated, c.url, c.at, c.updated_at, c.deleted_at`

func corpusCommentInto(c *precedent.CorpusComment) []any {
	return []any{
		&c.Kind, &c.ID, &c.Pull, &c.Root, &c.AuthorID, &c.Author, &c.MayWrite, &c.Body, &c.Path, &c.Side,
		&c.Start, &c.End, &c.Hunk, &c.Commit, &c.Outdated, &c.URL, (*moment)(&c.At), (*moment)(&c.UpdatedAt),
		(*moment)(&c.DeletedAt),
	}
}

// corpusCommentsOf returns the comments of a kind, also deleted ones, that have one of the values in a column.
func (r *Repo) corpusCommentsOf(ctx context.Context, q querier, column, kind string,
	values []string,
) ([]precedent.CorpusComment, error) {
	return collectIn(ctx, q, "SELECT "+corpusCommentColumns+" FROM corpus_comments c WHERE c.repo_id = $1 AND c.kind = $2 AND "+
		column+" IN (%s)", []any{r.id, kind}, values, func(s scanner, c *precedent.CorpusComment) error {
		return s.Scan(corpusCommentInto(c)...)
	})
}

// compareComments compares the comments of the page with those that are stored, and decides what
// changes.
func (s *corpusSave) compareComments(ctx context.Context) error {
	if len(s.page.Comments) == 0 {
		return nil
	}
	s.rows = make(map[commentKey]*precedent.CorpusComment, len(s.page.Comments))
	byKind := map[string][]string{}
	for i := range s.page.Comments {
		c := &s.page.Comments[i]
		byKind[c.Kind] = append(byKind[c.Kind], string(c.ID))
	}
	for kind, ids := range byKind {
		if err := s.load(ctx, "c.id", kind, ids); err != nil {
			return err
		}
	}
	changed := map[commentKey]bool{}
	for i := range s.page.Comments {
		c := s.page.Comments[i]
		if s.apply(c) {
			if k := (commentKey{c.Kind, c.ID}); !changed[k] {
				changed[k] = true
				s.dirty = append(s.dirty, k)
			}
		}
	}
	return nil
}

// load reads the comments of a kind that have one of the values in a column, unless they are
// there.
func (s *corpusSave) load(ctx context.Context, column, kind string, values []string) error {
	all, err := s.repo.corpusCommentsOf(ctx, s.tx, column, kind, values)
	for i := range all {
		if k := (commentKey{all[i].Kind, all[i].ID}); s.rows[k] == nil {
			s.rows[k] = &all[i]
		}
	}
	return err
}

// apply puts a version of a comment in place of the stored one if it is newer, and tells whether
// the row has to be written.
func (s *corpusSave) apply(c precedent.CorpusComment) bool {
	c.At, c.UpdatedAt, c.DeletedAt = corpusTime(c.At), corpusTime(c.UpdatedAt), corpusTime(c.DeletedAt)
	if c.UpdatedAt.Before(c.At) {
		c.UpdatedAt = c.At
	}
	if c.Root == "" || c.Kind != "inline" {
		c.Root = c.ID
	}
	k := commentKey{c.Kind, c.ID}
	old := s.rows[k]
	switch {
	case !c.DeletedAt.IsZero():
		return s.delete(k, c, old)
	case old == nil:
		s.saved.Stored++
	case !old.DeletedAt.IsZero() && c.UpdatedAt.After(old.DeletedAt):
		c.MayWrite = c.MayWrite || old.MayWrite
		s.saved.Updated++
	case !old.DeletedAt.IsZero():
		s.saved.Duplicate++
		return false
	case c.UpdatedAt.After(old.UpdatedAt):
		s.touch(conversation{old.Kind, old.Root})
		c.MayWrite = old.MayWrite
		s.saved.Updated++
	case c.UpdatedAt.Equal(old.UpdatedAt) && c.Outdated && !old.Outdated:
		c, c.Outdated = *old, true
		s.saved.Updated++
	default:
		s.saved.Duplicate++
		return false
	}
	s.rows[k] = &c
	s.touch(conversation{c.Kind, c.Root})
	return true
}

// delete removes the text of a comment. One that is not known gets a row, so that an earlier
// version that comes later does not count.
func (s *corpusSave) delete(k commentKey, c precedent.CorpusComment, old *precedent.CorpusComment) bool {
	switch {
	case old == nil:
		s.rows[k] = &precedent.CorpusComment{
			Kind: c.Kind, ID: c.ID, Pull: c.Pull, Root: c.Root, At: c.DeletedAt,
			UpdatedAt: c.DeletedAt, DeletedAt: c.DeletedAt,
		}
		return true
	case !old.DeletedAt.IsZero() || old.UpdatedAt.After(c.DeletedAt):
		return false
	}
	gone := *old
	gone.Body, gone.Hunk, gone.DeletedAt = "", "", c.DeletedAt
	s.rows[k] = &gone
	s.saved.Deleted++
	s.touch(conversation{gone.Kind, gone.Root})
	return true
}

// corpusTime is a time as it comes back from the database.
func corpusTime(t time.Time) time.Time { return fromZeroMillis(zeroMillis(t)) }

func (s *corpusSave) write(ctx context.Context) error {
	var comments [][]any
	for _, k := range s.dirty {
		c := s.rows[k]
		comments = append(comments, []any{
			s.repo.id, c.Kind, string(c.ID), c.Pull, string(c.Root), string(c.AuthorID), c.Author, zeroOne(c.MayWrite),
			string(c.Body), c.Path, string(c.Side), c.Start, c.End, string(c.Hunk), c.Commit, zeroOne(c.Outdated), c.URL,
			millis(c.At), millis(c.UpdatedAt), zeroMillis(c.DeletedAt),
		})
	}
	return putRows(ctx, s.tx, "corpus_comments", "repo_id, kind, id", "pull, root, author_id, author, may_write, body, path, side, "+
		"start_line, end_line, hunk, head, outdated, url, at, updated_at, deleted_at", comments...)
}

// CorpusRegulars returns those of the authors who review regularly: who began conversations on lines in at least so
// many pull requests of others, half of which, at least, led to a change that was merged. An author is a login with
// the id that the forge gives it, so that a login that somebody else took over begins anew.
func (r *Repo) CorpusRegulars(ctx context.Context, logins []string, pulls int) (map[CorpusAuthor]bool, error) {
	regular := map[CorpusAuthor]bool{}
	err := rowsIn(ctx, r.db.read, `
		SELECT c.author_id, c.author FROM corpus_comments c
		JOIN corpus_chunks k ON k.repo_id = c.repo_id AND k.kind = c.kind AND k.comment = c.id AND k.chunk = 0
		WHERE c.repo_id = $1 AND c.kind = 'inline' AND c.deleted_at = 0 AND k.unusable <> 'author' AND c.author IN (%s)
		GROUP BY c.author_id, c.author HAVING COUNT(DISTINCT c.pull) >= $2
			AND 2 * SUM(CASE WHEN k.outcome = $3 THEN 1 ELSE 0 END) >= COUNT(*)`,
		[]any{r.id, pulls, precedent.CommentAdopted}, logins, func(s scanner) error {
			var a CorpusAuthor
			err := s.Scan(&a.ID, &a.Login)
			regular[a] = true
			return err
		})
	return regular, r.db.fail("read who reviews regularly", err)
}

// CorpusAuthor is the author of a comment.
type CorpusAuthor struct {
	ID    precedent.ForgeID // empty if the comment was imported without one
	Login string
}
