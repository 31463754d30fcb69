package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"github.com/precedent-dev/precedent"
)

// CorpusVector is the vector of a chunk by an embedding model.
type CorpusVector struct {
	Kind  string
	ID    precedent.ForgeID // of the chunk's comment
	Chunk int
	// Number is that of the chunk in the index; only CorpusVectors sets it.
	Number int64
	Model  string
	Hash   string // CorpusHash of the chunk that it was computed from
	// Vector has as many numbers as the model has dimensions. Only its direction is kept: a stored
	// one has the length 1.
	Vector []float32
}

// SaveCorpusVectors saves vectors, all or none. One of a chunk that has other words by now, or is
// gone, is left out. It returns how many were saved.
func (r *Repo) SaveCorpusVectors(ctx context.Context, vectors []CorpusVector) (int, error) {
	saved := 0
	err := r.change(ctx, "save vectors of the corpus", func(tx *sql.Tx) error {
		saved = 0
		if len(vectors) == 0 {
			return nil
		}
		save, err := tx.PrepareContext(ctx, `
			INSERT INTO corpus_vectors (repo_id, kind, comment, chunk, model, dimensions, hash, vector)
			SELECT h.repo_id, h.kind, h.comment, h.chunk, $5, $6, h.hash, $8 FROM corpus_chunks h
			WHERE h.repo_id = $1 AND h.kind = $2 AND h.comment = $3 AND h.chunk = $4 AND h.hash = $7
			ON CONFLICT (repo_id, kind, comment, chunk, model, dimensions) DO UPDATE SET
				hash = excluded.hash, vector = excluded.vector`)
		if err != nil {
			return err
		}
		defer save.Close()
		for _, v := range vectors {
			n, err := affected(save.ExecContext(ctx, r.id, v.Kind, string(v.ID), v.Chunk, v.Model, len(v.Vector), v.Hash,
				packVector(v.Vector)))
			if err != nil {
				return err
			}
			saved += int(n)
		}
		return nil
	})
	return saved, err
}

// packVector stores the direction of a vector, with a byte for each dimension: a quarter of what
// 32-bit numbers take. A cosine changes by at most 0.005 (decision 54).
func packVector(v []float32) []byte {
	most := 0.0
	for _, f := range v {
		most = max(most, math.Abs(float64(f)))
	}
	b := make([]byte, len(v))
	for i, f := range v {
		if most > 0 {
			b[i] = byte(int8(math.Round(float64(f) / most * math.MaxInt8)))
		}
	}
	return b
}

// unpackVector returns a vector with the length 1; with the length 0 if all bytes are 0.
func unpackVector(b []byte) []float32 {
	sum := 0
	for _, c := range b {
		sum += int(int8(c)) * int(int8(c))
	}
	length := math.Sqrt(max(1, float64(sum)))
	v := make([]float32, len(b))
	for i, c := range b {
		v[i] = float32(float64(int8(c)) / length)
	}
	return v
}

// CorpusVectors calls each for the vectors of a model, with this number of dimensions, whose
// chunks still have the same words.
func (r *Repo) CorpusVectors(ctx context.Context, model string, dimensions int, each func(CorpusVector) error) error {
	return r.db.fail("read vectors of the corpus", rows(ctx, r.db.read, `
		SELECT v.kind, v.comment, v.chunk, h.number, v.hash, v.vector FROM corpus_vectors v
		JOIN corpus_chunks h ON h.repo_id = v.repo_id AND h.kind = v.kind AND h.comment = v.comment AND h.chunk = v.chunk AND h.hash = v.hash
		WHERE v.repo_id = $1 AND v.model = $2 AND v.dimensions = $3
		ORDER BY v.kind, v.comment, v.chunk`, []any{r.id, model, dimensions}, func(s scanner) error {
		v := CorpusVector{Model: model}
		var packed []byte
		if err := s.Scan(&v.Kind, &v.ID, &v.Chunk, &v.Number, &v.Hash, &packed); err != nil {
			return err
		}
		if len(packed) != dimensions {
			return fmt.Errorf("%w: a vector of %d bytes", ErrCorrupt, len(packed))
		}
		v.Vector = unpackVector(packed)
		return each(v)
	}))
}

// CorpusWithoutVectors returns usable chunks that have no vector of the model with this number of
// dimensions, at most limit, the newest comments first.
func (r *Repo) CorpusWithoutVectors(ctx context.Context, model string, dimensions, limit int) ([]precedent.CorpusChunk,
	error,
) {
	var all []precedent.CorpusChunk
	err := r.corpusChunks(ctx, `AND h.unusable = '' AND NOT EXISTS (SELECT 1 FROM corpus_vectors v WHERE v.repo_id = $1 AND v.kind = h.kind
		AND v.comment = h.comment AND v.chunk = h.chunk AND v.model = $2 AND v.dimensions = $3 AND v.hash = h.hash)
		ORDER BY c.at DESC, h.kind, h.comment, h.chunk LIMIT $4`, []any{model, dimensions, limit}, func(c precedent.CorpusChunk) error {
		all = append(all, c)
		return nil
	})
	return all, err
}

// CorpusVectorSizes counts the vectors of a model by the number of their dimensions, the most first.
func (r *Repo) CorpusVectorSizes(ctx context.Context, model string) ([]VectorTally, error) {
	all, err := collect(ctx, r.db.read, `SELECT dimensions, COUNT(*) FROM corpus_vectors WHERE repo_id = $1 AND model = $2
		GROUP BY dimensions ORDER BY COUNT(*) DESC, dimensions`, []any{r.id, model}, func(s scanner, v *VectorTally) error {
		v.Model = model
		return s.Scan(&v.Dimensions, &v.Count)
	})
	return all, r.db.fail("read vectors of the corpus", err)
}
