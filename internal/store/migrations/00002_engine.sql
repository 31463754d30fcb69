-- What asking models needs across processes: the books of a day, and the
-- answers of reviews that did not come to their end.

-- +goose Up
CREATE TABLE spending (
    repo_id      TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    day          TEXT   NOT NULL,
    microdollars BIGINT NOT NULL,
    PRIMARY KEY (repo_id, day)
);

-- task is the hash of all that was asked; answer is JSON.
CREATE TABLE answers (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    task    TEXT   NOT NULL,
    answer  TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (repo_id, task)
);
