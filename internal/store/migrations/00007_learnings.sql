-- Directives for reviews that people gave. document is the learning as JSON; the
-- columns are what is asked for. history has every change of one, also those that had
-- no effect because it was forgotten before.

-- +goose Up
CREATE TABLE learnings (
    repo_id    TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    id         TEXT   NOT NULL,
    state      TEXT   NOT NULL,
    scope      TEXT   NOT NULL,
    document   TEXT   NOT NULL,
    updated_at BIGINT NOT NULL,
    loaded     BIGINT NOT NULL DEFAULT 0,
    used       BIGINT NOT NULL DEFAULT 0,
    last_used  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (repo_id, id)
);
CREATE INDEX learnings_by_state ON learnings (repo_id, state);

CREATE TABLE learning_history (
    repo_id  TEXT   NOT NULL,
    id       TEXT   NOT NULL,
    nth      BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    who      TEXT   NOT NULL,
    action   TEXT   NOT NULL,
    document TEXT   NOT NULL,
    PRIMARY KEY (repo_id, id, nth),
    FOREIGN KEY (repo_id, id) REFERENCES learnings (repo_id, id) ON DELETE CASCADE
);
