-- What a server knows of the open pull requests that it watches: how it last saw each, and the
-- head whose last round ended. And values of the server itself: each belongs to somebody until a
-- time, or to nobody and for ever if that is 0.

-- +goose Up
CREATE TABLE watched_pulls (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull    BIGINT NOT NULL,
    head    TEXT   NOT NULL,
    shape   TEXT   NOT NULL,
    updated BIGINT NOT NULL,
    done    TEXT   NOT NULL,
    PRIMARY KEY (repo_id, pull)
);

CREATE TABLE asked_pulls (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull    BIGINT NOT NULL,
    asked   BIGINT NOT NULL,
    PRIMARY KEY (repo_id, pull)
);

CREATE TABLE server_values (
    name  TEXT   NOT NULL PRIMARY KEY,
    value TEXT   NOT NULL,
    until BIGINT NOT NULL
);
