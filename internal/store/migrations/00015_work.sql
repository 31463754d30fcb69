-- The work of a server. An entry of work is wanted for a kind, a repository and a pull request: repo
-- is host/owner/name, or empty for work of the server. It is wanted again when generation grows.
-- fence is the number of its last execution over all
-- entries, and cancelled the generation that a person cancelled. repo '*' in work_turns holds the
-- number of the last execution of all, the others that of their own last one. beat grows while a
-- replica lives.

-- +goose Up
CREATE TABLE deliveries (
    forge    TEXT   NOT NULL,
    id       TEXT   NOT NULL,
    event    TEXT   NOT NULL,
    received BIGINT NOT NULL,
    PRIMARY KEY (forge, id)
);
CREATE INDEX deliveries_received ON deliveries (received);

CREATE TABLE work (
    id         BIGINT NOT NULL PRIMARY KEY,
    kind       TEXT   NOT NULL,
    repo       TEXT   NOT NULL,
    pull       BIGINT NOT NULL,
    head       TEXT   NOT NULL,
    reason     TEXT   NOT NULL,
    generation BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    attempts   BIGINT NOT NULL,
    crashes    BIGINT NOT NULL,
    problem    TEXT   NOT NULL,
    wanted_at  BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    due_at     BIGINT NOT NULL,
    replica    TEXT   NOT NULL,
    fence      BIGINT NOT NULL,
    ticket     BIGINT NOT NULL,
    cancelled  BIGINT NOT NULL,
    UNIQUE (kind, repo, pull)
);
CREATE INDEX work_state ON work (state, repo);
CREATE INDEX work_changed ON work (changed_at);

CREATE TABLE work_turns (
    repo TEXT   NOT NULL PRIMARY KEY,
    turn BIGINT NOT NULL
);

CREATE TABLE work_periods (
    kind TEXT   NOT NULL PRIMARY KEY,
    at   BIGINT NOT NULL
);

CREATE TABLE replicas (
    id      TEXT   NOT NULL PRIMARY KEY,
    beat    BIGINT NOT NULL,
    started BIGINT NOT NULL
);
