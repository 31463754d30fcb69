-- What a review of a pull request needs across pushes: which reviews were of
-- which pull request, what was posted and what is still to be, the threads, and
-- what became of them. Numbers of the forge are BIGINT, 0 for none.

-- +goose Up
ALTER TABLE reviews ADD COLUMN pull BIGINT NOT NULL DEFAULT 0;
CREATE INDEX reviews_by_pull ON reviews (repo_id, pull, at);

-- The outbox. payload is JSON: what is to be sent. state is planned, sending,
-- unknown, confirmed, rejected, superseded or undeliverable.
CREATE TABLE posts (
    repo_id    TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    id         TEXT   NOT NULL,
    pull       BIGINT NOT NULL,
    review_id  TEXT   NOT NULL,
    head       TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    thread     TEXT   NOT NULL,
    nth        BIGINT NOT NULL,
    payload    TEXT   NOT NULL,
    hash       TEXT   NOT NULL,
    state      TEXT   NOT NULL,
    attempts   BIGINT NOT NULL,
    remote     TEXT   NOT NULL,
    why        TEXT   NOT NULL,
    at         BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (repo_id, id)
);
CREATE INDEX posts_by_pull ON posts (repo_id, pull, at);

-- One row a thread, and one thread a fingerprint of a pull request. document is
-- the thread as JSON; the columns are what is asked for.
CREATE TABLE threads (
    repo_id     TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    id          TEXT   NOT NULL,
    pull        BIGINT NOT NULL,
    fingerprint TEXT   NOT NULL,
    comment     TEXT   NOT NULL,
    state       TEXT   NOT NULL,
    document    TEXT   NOT NULL,
    opened_at   BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (repo_id, id),
    UNIQUE (repo_id, pull, fingerprint)
);

-- What became of posted findings, as far as it is known.
CREATE TABLE outcomes (
    repo_id     TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull        BIGINT NOT NULL,
    fingerprint TEXT   NOT NULL,
    outcome     TEXT   NOT NULL,
    document    TEXT   NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (repo_id, pull, fingerprint)
);

CREATE TABLE pull_spending (
    repo_id      TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull         BIGINT NOT NULL,
    microdollars BIGINT NOT NULL,
    PRIMARY KEY (repo_id, pull)
);
