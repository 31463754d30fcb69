-- The run that posts on a pull request, so that runs with one memory take turns. A
-- run that died holds its turn until the time in until.

-- +goose Up
CREATE TABLE runs (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull    BIGINT NOT NULL,
    run     TEXT   NOT NULL,
    until   BIGINT NOT NULL,
    PRIMARY KEY (repo_id, pull)
);
