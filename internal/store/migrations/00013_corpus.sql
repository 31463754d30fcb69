-- What people wrote on pull requests. Comments that were deleted stay as rows without text,
-- so that a page that was read earlier does not bring them back. Chunks are computed from the
-- comments of a conversation; gone ones stay, so that an index learns that they are gone.
-- revision grows with each change. cleared is the revision of the last change after which an
-- index has to be made again, and rules the version of the rules that made the chunks; 0 if
-- some have to be made again. reverted is the pull request that reverted one, and of and title
-- say which one a pull request reverts. A vector counts while its hash is that of its chunk.

-- +goose Up
CREATE TABLE corpus_revisions (
    repo_id  TEXT   NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    cleared  BIGINT NOT NULL,
    rules    BIGINT NOT NULL
);

CREATE TABLE corpus_pulls (
    repo_id    TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    number     BIGINT NOT NULL,
    title      TEXT   NOT NULL,
    author_id  TEXT   NOT NULL,
    author     TEXT   NOT NULL,
    merged     BIGINT NOT NULL,
    reverted   BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (repo_id, number)
);

CREATE TABLE corpus_reverts (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull    BIGINT NOT NULL,
    of      BIGINT NOT NULL,
    title   TEXT   NOT NULL,
    PRIMARY KEY (repo_id, pull)
);

CREATE TABLE corpus_comments (
    repo_id    TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kind       TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    pull       BIGINT NOT NULL,
    root       TEXT   NOT NULL,
    author_id  TEXT   NOT NULL,
    author     TEXT   NOT NULL,
    may_write  BIGINT NOT NULL,
    body       TEXT   NOT NULL,
    path       TEXT   NOT NULL,
    side       TEXT   NOT NULL,
    start_line BIGINT NOT NULL,
    end_line   BIGINT NOT NULL,
    hunk       TEXT   NOT NULL,
    head       TEXT   NOT NULL,
    outdated   BIGINT NOT NULL,
    url        TEXT   NOT NULL,
    at         BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,
    PRIMARY KEY (repo_id, kind, id)
);
CREATE INDEX corpus_comments_by_root ON corpus_comments (repo_id, kind, root);
CREATE INDEX corpus_comments_by_pull ON corpus_comments (repo_id, pull);

CREATE TABLE corpus_chunks (
    repo_id  TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kind     TEXT   NOT NULL,
    comment  TEXT   NOT NULL,
    chunk    BIGINT NOT NULL,
    text     TEXT   NOT NULL,
    words    TEXT   NOT NULL,
    outcome  TEXT   NOT NULL,
    unusable TEXT   NOT NULL,
    hash     TEXT   NOT NULL,
    gone     BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (repo_id, kind, comment, chunk)
);
CREATE INDEX corpus_chunks_by_revision ON corpus_chunks (repo_id, revision);

CREATE TABLE corpus_checkpoints (
    repo_id   TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    stream    TEXT   NOT NULL,
    watermark BIGINT NOT NULL,
    since     BIGINT NOT NULL,
    cursor    TEXT   NOT NULL,
    pages     BIGINT NOT NULL,
    saved_at  BIGINT NOT NULL,
    PRIMARY KEY (repo_id, stream)
);

CREATE TABLE corpus_vectors (
    repo_id    TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kind       TEXT   NOT NULL,
    comment    TEXT   NOT NULL,
    chunk      BIGINT NOT NULL,
    model      TEXT   NOT NULL,
    dimensions BIGINT NOT NULL,
    hash       TEXT   NOT NULL,
    vector     BYTEA  NOT NULL,
    revision   BIGINT NOT NULL,
    PRIMARY KEY (repo_id, kind, comment, chunk, model, dimensions)
);
