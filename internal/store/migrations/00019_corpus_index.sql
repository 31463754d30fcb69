-- The index of the corpus is stored: each chunk has a number, and a block has what is searched of
-- the chunks with numbers that follow each other. Chunks that are gone are deleted, because no index
-- has to learn of it any more. What was stored before has no number until its chunks are made again.

-- +goose Up
CREATE TABLE corpus_blocks (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    block   BIGINT NOT NULL,
    docs    BYTEA  NOT NULL,
    PRIMARY KEY (repo_id, block)
);

DROP INDEX corpus_chunks_by_revision;
DELETE FROM corpus_chunks WHERE gone = 1;
ALTER TABLE corpus_chunks DROP COLUMN gone;
ALTER TABLE corpus_chunks DROP COLUMN revision;
ALTER TABLE corpus_chunks ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
CREATE INDEX corpus_chunks_by_number ON corpus_chunks (repo_id, number);

ALTER TABLE corpus_vectors DROP COLUMN revision;
ALTER TABLE corpus_revisions DROP COLUMN revision;
ALTER TABLE corpus_revisions DROP COLUMN cleared;
ALTER TABLE corpus_revisions RENAME TO corpus_rules;
UPDATE corpus_rules SET rules = 0;
