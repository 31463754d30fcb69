package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/precedent-dev/precedent"
)

// blockDocs is how many chunks a block of the index has at most. One that changes is written as a
// whole: some 10 KB.
const blockDocs = 64

// writeDocs writes what is searched of chunks by their numbers, and removes those that have nothing.
func (s *corpusSave) writeDocs(ctx context.Context, docs map[int64][]byte) error {
	delete(docs, 0)
	blocks := map[int64]map[int64][]byte{}
	for number, doc := range docs {
		n := number / blockDocs
		if blocks[n] == nil {
			blocks[n] = map[int64][]byte{}
		}
		blocks[n][number] = doc
	}
	for n, changed := range blocks {
		all := map[int64][]byte{}
		err := rows(ctx, s.tx, "SELECT docs FROM corpus_blocks WHERE repo_id = $1 AND block = $2", []any{s.repo.id, n},
			func(r scanner) error {
				var block []byte
				if err := r.Scan(&block); err != nil {
					return err
				}
				return eachDoc(block, func(number int64, doc []byte) error { all[number] = doc; return nil })
			})
		if err != nil {
			return err
		}
		for number, doc := range changed {
			if all[number] = doc; doc == nil {
				delete(all, number)
			}
		}
		if err := putRows(ctx, s.tx, "corpus_blocks", "repo_id, block", "docs", []any{s.repo.id, n, joinDocs(all)}); err != nil {
			return err
		}
	}
	return nil
}

// joinDocs returns a block: for each chunk its number, the length of what is searched, and that.
func joinDocs(docs map[int64][]byte) []byte {
	block := []byte{}
	for _, n := range slices.Sorted(maps.Keys(docs)) {
		block = binary.AppendUvarint(block, uint64(n))
		block = binary.AppendUvarint(block, uint64(len(docs[n])))
		block = append(block, docs[n]...)
	}
	return block
}

func eachDoc(block []byte, each func(number int64, doc []byte) error) error {
	for len(block) > 0 {
		number, n := binary.Uvarint(block)
		size, m := binary.Uvarint(block[max(0, n):])
		if n <= 0 || m <= 0 || size > uint64(len(block)-n-m) {
			return fmt.Errorf("%w: a block of the corpus", ErrCorrupt)
		}
		block = block[n+m:]
		if err := each(int64(number), block[:size:size]); err != nil {
			return err
		}
		block = block[size:]
	}
	return nil
}

// ReadCorpusIndex calls each with what is searched of each chunk, in the order of their numbers.
func (r *Repo) ReadCorpusIndex(ctx context.Context, each func(number int64, doc []byte) error) error {
	return r.db.fail("read index of the corpus", rows(ctx, r.db.read,
		"SELECT docs FROM corpus_blocks WHERE repo_id = $1 ORDER BY block", []any{r.id}, func(s scanner) error {
			var block []byte
			if err := s.Scan(&block); err != nil {
				return err
			}
			return eachDoc(block, each)
		}))
}

// CorpusNumbered returns the chunks with the numbers, as far as they exist.
func (r *Repo) CorpusNumbered(ctx context.Context, numbers []int64) (map[int64]*precedent.CorpusChunk, error) {
	found := make(map[int64]*precedent.CorpusChunk, len(numbers))
	err := rowsIn(ctx, r.db.read, corpusChunkQuery+"AND h.number IN (%s)", []any{r.id}, numbers,
		func(s scanner) error {
			var c precedent.CorpusChunk
			number, err := scanCorpusChunk(s, &c)
			found[number] = &c
			return err
		})
	return found, r.db.fail("read corpus", err)
}
