-- Findings that other clones showed, without their text: what hotspots and the history of files
-- count. A finding that this database has itself is counted from its own sightings.

-- +goose Up
CREATE TABLE shared_findings (
    repo_id     TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    fingerprint TEXT   NOT NULL,
    path        TEXT   NOT NULL,
    category    TEXT   NOT NULL,
    severity    TEXT   NOT NULL,
    seen        BIGINT NOT NULL,
    first_seen  BIGINT NOT NULL,
    last_seen   BIGINT NOT NULL,
    PRIMARY KEY (repo_id, fingerprint)
);
CREATE INDEX shared_findings_by_path ON shared_findings (repo_id, path);

-- Who reviews regularly is counted by author.
CREATE INDEX corpus_comments_by_author ON corpus_comments (repo_id, author);
