-- Patterns across pull requests. document is the insight as JSON, but for the words of
-- the person who dismissed it, which later consolidations do not overwrite. An insight
-- refers to its findings, so that pruning keeps them; so does a learning to what it is
-- about. consolidations has the turn of the run that is looking for patterns, and what
-- the last attempt and the last complete run had seen: until when findings were new.

-- +goose Up
CREATE TABLE insights (
    repo_id       TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    id            TEXT   NOT NULL,
    document      TEXT   NOT NULL,
    updated_at    BIGINT NOT NULL,
    dismissed_by  TEXT   NOT NULL DEFAULT '',
    dismissed_why TEXT   NOT NULL DEFAULT '',
    dismissed_at  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (repo_id, id)
);

CREATE TABLE insight_findings (
    repo_id     TEXT NOT NULL,
    id          TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (repo_id, id, fingerprint),
    FOREIGN KEY (repo_id, id) REFERENCES insights (repo_id, id) ON DELETE CASCADE
);
CREATE INDEX insight_findings_by_finding ON insight_findings (repo_id, fingerprint);

CREATE TABLE consolidations (
    repo_id        TEXT   NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    holder         TEXT   NOT NULL,
    until          BIGINT NOT NULL,
    attempted_at   BIGINT NOT NULL,
    attempted_upto BIGINT NOT NULL,
    completed_at   BIGINT NOT NULL DEFAULT 0,
    completed_upto BIGINT NOT NULL DEFAULT 0
);

ALTER TABLE learnings ADD COLUMN about TEXT NOT NULL DEFAULT '';
CREATE INDEX learnings_by_finding ON learnings (repo_id, about);
