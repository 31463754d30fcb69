package store

// joinCorpus moves the corpus of the repository $2 to the repository $1. Of two versions of a row
// the later one stays. The index is made again from all chunks.
var joinCorpus = []string{
	`UPDATE corpus_pulls SET reverted = (SELECT MAX(o.reverted) FROM corpus_pulls o WHERE (o.repo_id = $1 OR o.repo_id = $2)
		AND o.number = corpus_pulls.number) WHERE repo_id = $1 OR repo_id = $2`,
	`DELETE FROM corpus_pulls WHERE repo_id = $1 AND EXISTS (SELECT 1 FROM corpus_pulls o
		WHERE o.repo_id = $2 AND o.number = corpus_pulls.number AND o.updated_at > corpus_pulls.updated_at)`,
	`UPDATE corpus_pulls SET repo_id = $1 WHERE repo_id = $2 AND NOT EXISTS (SELECT 1 FROM corpus_pulls o
		WHERE o.repo_id = $1 AND o.number = corpus_pulls.number)`,
	`DELETE FROM corpus_comments WHERE repo_id = $1 AND EXISTS (SELECT 1 FROM corpus_comments o WHERE o.repo_id = $2 AND o.kind = corpus_comments.kind
		AND o.id = corpus_comments.id AND o.updated_at > corpus_comments.updated_at AND o.updated_at > corpus_comments.deleted_at)`,
	`DELETE FROM corpus_comments WHERE repo_id = $1 AND EXISTS (SELECT 1 FROM corpus_comments o WHERE o.repo_id = $2 AND o.kind = corpus_comments.kind
		AND o.id = corpus_comments.id AND o.deleted_at >= corpus_comments.updated_at AND o.deleted_at > corpus_comments.deleted_at)`,
	`UPDATE corpus_comments SET repo_id = $1 WHERE repo_id = $2 AND NOT EXISTS (SELECT 1 FROM corpus_comments o
		WHERE o.repo_id = $1 AND o.kind = corpus_comments.kind AND o.id = corpus_comments.id)`,
	`UPDATE corpus_chunks SET repo_id = $1 WHERE repo_id = $2 AND NOT EXISTS (SELECT 1 FROM corpus_chunks o
		WHERE o.repo_id = $1 AND o.kind = corpus_chunks.kind AND o.comment = corpus_chunks.comment AND o.chunk = corpus_chunks.chunk)`,
	`INSERT INTO corpus_checkpoints (repo_id, stream, watermark, since, cursor, pages, saved_at)
	SELECT $1, stream, watermark, since, cursor, pages, saved_at FROM corpus_checkpoints WHERE repo_id = $2
	ON CONFLICT (repo_id, stream) DO NOTHING`,
	`INSERT INTO corpus_listings (repo_id, stream, since, began, done, ended)
	SELECT $1, stream, since, began, done, ended FROM corpus_listings WHERE repo_id = $2
	ON CONFLICT (repo_id, stream) DO NOTHING`,
	`INSERT INTO corpus_listed (repo_id, kind, id) SELECT $1, kind, id FROM corpus_listed WHERE repo_id = $2
	ON CONFLICT (repo_id, kind, id) DO NOTHING`,
	`UPDATE corpus_vectors SET repo_id = $1 WHERE repo_id = $2 AND NOT EXISTS (SELECT 1 FROM corpus_vectors o
		WHERE o.repo_id = $1 AND o.kind = corpus_vectors.kind AND o.comment = corpus_vectors.comment AND o.chunk = corpus_vectors.chunk
		AND o.model = corpus_vectors.model AND o.dimensions = corpus_vectors.dimensions)`,
	`DELETE FROM corpus_blocks WHERE repo_id = $1 OR repo_id = $2`,
	`UPDATE corpus_chunks SET number = 0 WHERE repo_id = $1 OR repo_id = $2`,
	`INSERT INTO corpus_rules (repo_id, rules) SELECT $1, 0 FROM corpus_rules WHERE repo_id = $2
	ON CONFLICT (repo_id) DO UPDATE SET rules = 0`,
}
