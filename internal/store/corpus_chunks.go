package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/precedent-dev/precedent"
)

// CorpusHash is the hash of the texts of a chunk. A vector that was computed from a chunk counts
// as long as the chunk has the hash.
func CorpusHash(c *precedent.CorpusChunk) string {
	h := sha256.New()
	h.Write([]byte(c.Text))
	h.Write([]byte{0})
	h.Write([]byte(c.Words))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// chunk makes the chunks of the conversations that changed again.
func (s *corpusSave) chunk(ctx context.Context) error {
	if len(s.touched) == 0 {
		return nil
	}
	if err := execute(ctx, s.tx, `INSERT INTO corpus_rules (repo_id, rules) VALUES ($1, $2)
		ON CONFLICT (repo_id) DO NOTHING`, s.repo.id, s.page.Rules); err != nil {
		return err
	}
	all := s.conversations()
	members := s.members()
	pulls, err := s.pullsOf(ctx, members)
	if err != nil {
		return err
	}
	stored, err := s.storedChunks(ctx, members)
	if err != nil {
		return err
	}
	var chunks []precedent.CorpusChunk
	for _, c := range all {
		v := CorpusConversation{}
		for _, m := range members[c] {
			if m.DeletedAt.IsZero() {
				v.Comments = append(v.Comments, *m)
			}
		}
		if len(v.Comments) == 0 {
			continue
		}
		slices.SortFunc(v.Comments, func(a, b precedent.CorpusComment) int {
			return cmp.Or(a.At.Compare(b.At), a.ID.Compare(b.ID))
		})
		v.Pull = pulls[v.Comments[0].Pull]
		v.Pull.Number = v.Comments[0].Pull
		chunks = append(chunks, s.page.Chunk(v)...)
	}
	s.saved.Chunks = len(chunks)
	return s.writeChunks(ctx, chunks, stored)
}

// loadThreads reads the other comments of the conversations that changed. It comes before the page
// is written, so that it does not read that back.
func (s *corpusSave) loadThreads(ctx context.Context) error {
	roots := map[string][]string{}
	for _, c := range s.conversations() {
		roots[c.kind] = append(roots[c.kind], string(c.root))
	}
	if s.rows == nil {
		s.rows = map[commentKey]*precedent.CorpusComment{}
	}
	for kind, ids := range roots {
		if err := s.load(ctx, "c.root", kind, ids); err != nil {
			return err
		}
	}
	return nil
}

// members returns the comments of the conversations that changed, deleted ones included.
func (s *corpusSave) members() map[conversation][]*precedent.CorpusComment {
	members := make(map[conversation][]*precedent.CorpusComment, len(s.touched))
	for _, c := range s.rows {
		if v := (conversation{c.Kind, c.Root}); s.touched[v] {
			members[v] = append(members[v], c)
		}
	}
	return members
}

func (s *corpusSave) pullsOf(ctx context.Context,
	members map[conversation][]*precedent.CorpusComment,
) (map[int]precedent.CorpusPull, error) {
	seen := map[int]bool{}
	var numbers []int
	for _, all := range members {
		for _, c := range all {
			if !seen[c.Pull] {
				seen[c.Pull] = true
				numbers = append(numbers, c.Pull)
			}
		}
	}
	return s.loadPulls(ctx, numbers)
}

type chunkKey struct {
	commentKey
	chunk int
}

// storedChunk is what is stored of a chunk besides its texts.
type storedChunk struct {
	hash   string
	number int64 // in the index; 0 if it is not there
}

func (s *corpusSave) storedChunks(
	ctx context.Context, members map[conversation][]*precedent.CorpusComment,
) (map[chunkKey]storedChunk, error) {
	ids := map[string][]string{}
	for c, all := range members {
		for _, m := range all {
			ids[c.kind] = append(ids[c.kind], string(m.ID))
		}
	}
	found := map[chunkKey]storedChunk{}
	for kind, all := range ids {
		err := rowsIn(ctx, s.tx, `SELECT comment, chunk, hash, number FROM corpus_chunks
			WHERE repo_id = $1 AND kind = $2 AND comment IN (%s)`, []any{s.repo.id, kind}, all,
			func(r scanner) error {
				var c storedChunk
				k := chunkKey{commentKey: commentKey{kind: kind}}
				err := r.Scan(&k.id, &k.chunk, &c.hash, &c.number)
				found[k] = c
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// writeChunks writes the chunks, and deletes those that were stored and are not among them. A vector
// is deleted if its chunk has other words now.
func (s *corpusSave) writeChunks(
	ctx context.Context, chunks []precedent.CorpusChunk, stored map[chunkKey]storedChunk,
) error {
	var last int64
	err := row(ctx, s.tx, "SELECT COALESCE(MAX(number), 0) FROM corpus_chunks WHERE repo_id = $1", []any{s.repo.id},
		into(&last))
	if err != nil {
		return err
	}
	docs := map[int64][]byte{}
	var made [][]any
	for i := range chunks {
		c := &chunks[i]
		k, hash := chunkKey{commentKey{c.Kind, c.ID}, c.Chunk}, CorpusHash(c)
		old, ok := stored[k]
		delete(stored, k)
		if ok && old.hash != hash {
			if err := s.dropVectors(ctx, k); err != nil {
				return err
			}
		}
		number := old.number
		if number == 0 {
			last++
			number = last
		}
		docs[number] = s.page.Index(c)
		made = append(made, []any{
			s.repo.id, c.Kind, string(c.ID), c.Chunk, string(c.Text), string(c.Words), string(c.Outcome), c.Unusable, hash, number,
		})
	}
	if err := putRows(ctx, s.tx, "corpus_chunks", "repo_id, kind, comment, chunk",
		"text, words, outcome, unusable, hash, number", made...); err != nil {
		return err
	}
	for k, old := range stored {
		docs[old.number] = nil
		if err := s.dropVectors(ctx, k); err != nil {
			return err
		}
		if err := execute(ctx, s.tx, `DELETE FROM corpus_chunks
			WHERE repo_id = $1 AND kind = $2 AND comment = $3 AND chunk = $4`,
			s.repo.id, k.kind, string(k.id), k.chunk); err != nil {
			return err
		}
	}
	return s.writeDocs(ctx, docs)
}

func (s *corpusSave) dropVectors(ctx context.Context, k chunkKey) error {
	return execute(ctx, s.tx,
		"DELETE FROM corpus_vectors WHERE repo_id = $1 AND kind = $2 AND comment = $3 AND chunk = $4",
		s.repo.id, k.kind, string(k.id), k.chunk)
}

const corpusChunkQuery = `SELECT h.number, h.chunk, h.text, h.words, h.outcome, h.unusable, COALESCE(p.title, ''), ` + corpusCommentColumns + `
	FROM corpus_chunks h JOIN corpus_comments c ON c.repo_id = h.repo_id AND c.kind = h.kind AND c.id = h.comment
	LEFT JOIN corpus_pulls p ON p.repo_id = c.repo_id AND p.number = c.pull
	WHERE h.repo_id = $1 `

func scanCorpusChunk(s scanner, c *precedent.CorpusChunk) (number int64, err error) {
	own := []any{&number, &c.Chunk, &c.Text, &c.Words, &c.Outcome, &c.Unusable, &c.PullTitle}
	err = s.Scan(append(own, corpusCommentInto(&c.CorpusComment)...)...)
	return number, err
}

// CorpusChunks calls each for the chunks of comments that exist, ordered by kind, id and number.
// Those that are not usable as precedents say why.
func (r *Repo) CorpusChunks(ctx context.Context, each func(precedent.CorpusChunk) error) error {
	return r.corpusChunks(ctx, "ORDER BY h.kind, h.comment, h.chunk", nil, each)
}

// HasCorpus reports whether the corpus has comments.
func (r *Repo) HasCorpus(ctx context.Context) (bool, error) {
	var one int
	err := rows(ctx, r.db.read, "SELECT 1 FROM corpus_comments WHERE repo_id = $1 LIMIT 1", []any{r.id}, into(&one))
	return one > 0, r.db.fail("read corpus", err)
}

func (r *Repo) corpusChunks(ctx context.Context, condition string, args []any,
	each func(precedent.CorpusChunk) error,
) error {
	return r.db.fail("read corpus", rows(ctx, r.db.read, corpusChunkQuery+condition, append([]any{r.id}, args...),
		func(s scanner) error {
			var c precedent.CorpusChunk
			if _, err := scanCorpusChunk(s, &c); err != nil {
				return err
			}
			return each(c)
		}))
}
