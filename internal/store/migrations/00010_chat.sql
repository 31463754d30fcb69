-- Comments of people that were read as commands or answered, each with a hash of what
-- it asked and what followed from it, as JSON. Their answers are posts of the kind
-- answer. A paused pull request is not reviewed.

-- +goose Up
CREATE TABLE handled_comments (
    repo_id  TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull     BIGINT NOT NULL,
    comment  TEXT   NOT NULL,
    hash     TEXT   NOT NULL,
    document TEXT   NOT NULL,
    at       BIGINT NOT NULL,
    PRIMARY KEY (repo_id, pull, comment)
);

CREATE TABLE paused_pulls (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull    BIGINT NOT NULL,
    who     TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (repo_id, pull)
);
