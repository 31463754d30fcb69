-- Which comments a complete listing of a repository has met so far, to find those that no longer
-- exist. began is 0 without an unfinished one, done says that a list was read to its end, and
-- ended is when the last finished one had begun. The kind pull stands for all comments on a pull
-- request.

-- +goose Up
CREATE TABLE corpus_listings (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    stream  TEXT   NOT NULL,
    since   BIGINT NOT NULL,
    began   BIGINT NOT NULL,
    done    BIGINT NOT NULL,
    ended   BIGINT NOT NULL,
    PRIMARY KEY (repo_id, stream)
);

CREATE TABLE corpus_listed (
    repo_id TEXT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kind    TEXT NOT NULL,
    id      TEXT NOT NULL,
    PRIMARY KEY (repo_id, kind, id)
);
