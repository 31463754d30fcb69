-- What people took back, so that no copy of the memory brings it back when clones
-- share theirs. kind is rejection, and id the fingerprint.

-- +goose Up
CREATE TABLE forgotten (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kind    TEXT   NOT NULL,
    id      TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (repo_id, kind, id)
);
