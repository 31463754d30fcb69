-- What the pages of a server need: who is signed in, what was changed there, and how an open pull
-- request is called and labelled.

-- +goose Up
CREATE TABLE sessions (
    hash    TEXT   NOT NULL PRIMARY KEY,
    kind    TEXT   NOT NULL,
    person  TEXT   NOT NULL,
    login   TEXT   NOT NULL,
    detail  TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    until   BIGINT NOT NULL
);

-- An empty repo_id stands for the server itself.
CREATE TABLE audit (
    id      TEXT   NOT NULL PRIMARY KEY,
    repo_id TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    who     TEXT   NOT NULL,
    action  TEXT   NOT NULL,
    subject TEXT   NOT NULL,
    before  TEXT   NOT NULL,
    after   TEXT   NOT NULL
);
CREATE INDEX audit_by_repo ON audit (repo_id, id);

ALTER TABLE watched_pulls ADD COLUMN title TEXT NOT NULL DEFAULT '';
-- When it was seen first; 0 if that was before this column.
ALTER TABLE watched_pulls ADD COLUMN seen_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE watched_pulls ADD COLUMN labels TEXT NOT NULL DEFAULT '';

-- When a repository was reviewed last, to list those first that are active.
ALTER TABLE repos ADD COLUMN reviewed_at BIGINT NOT NULL DEFAULT 0;
UPDATE repos SET reviewed_at = COALESCE((SELECT MAX(v.at) FROM reviews v WHERE v.repo_id = repos.id), 0);
CREATE INDEX repos_by_review ON repos (reviewed_at);

-- To list findings, and what a memory did.
CREATE INDEX findings_by_time ON findings (repo_id, last_seen);
CREATE INDEX decisions_by_cause ON decisions (repo_id, caused_by) WHERE caused_by <> '';
