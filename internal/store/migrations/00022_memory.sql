-- Reviews, the findings that they saw, what people and the policy said about them, and what a server does. What
-- belongs to a repository has its id, and the key begins with it wherever a person's words or a file's path can
-- reach it. Times are unix milliseconds, ids are text made by the program, booleans are 0 or 1. Numbers of the
-- forge are BIGINT, 0 for none.

-- +goose Up
-- reviewed_at says when it was reviewed last, to list those first that are active.
CREATE TABLE repos (
    id          TEXT   NOT NULL PRIMARY KEY,
    created_at  BIGINT NOT NULL,
    reviewed_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX repos_by_review ON repos (reviewed_at);

-- The names of a repository: of its remote, and of its root commit from when it had none.
CREATE TABLE identities (
    host     TEXT   NOT NULL,
    owner    TEXT   NOT NULL,
    name     TEXT   NOT NULL,
    repo_id  TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    added_at BIGINT NOT NULL,
    PRIMARY KEY (host, owner, name)
);
CREATE INDEX identities_by_repo ON identities (repo_id);

-- document is the review's result as JSON; extra is JSON of what the result leaves out, and facts of its numbers for
-- statistics. work is the line of work of a local change: a branch, what is staged on it, or a range; empty for pull
-- requests.
CREATE TABLE reviews (
    id       TEXT   NOT NULL PRIMARY KEY,
    repo_id  TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    base     TEXT   NOT NULL,
    head     TEXT   NOT NULL,
    verdict  TEXT   NOT NULL,
    at       BIGINT NOT NULL,
    document TEXT   NOT NULL,
    extra    TEXT   NOT NULL,
    pull     BIGINT NOT NULL DEFAULT 0,
    work     TEXT   NOT NULL DEFAULT '',
    facts    TEXT   NOT NULL DEFAULT ''
);
CREATE INDEX reviews_by_time ON reviews (repo_id, at);
CREATE INDEX reviews_by_pull ON reviews (repo_id, pull, at);
CREATE INDEX reviews_by_work ON reviews (repo_id, work, at);

-- One row a finding, however often it was seen: as it was when last seen.
CREATE TABLE findings (
    repo_id     TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    fingerprint TEXT   NOT NULL,
    id          TEXT   NOT NULL,
    place       TEXT   NOT NULL,
    finder      TEXT   NOT NULL,
    rule        TEXT   NOT NULL,
    category    TEXT   NOT NULL,
    severity    TEXT   NOT NULL,
    confidence  BIGINT NOT NULL,
    path        TEXT   NOT NULL,
    side        TEXT   NOT NULL,
    start_line  BIGINT NOT NULL,
    end_line    BIGINT NOT NULL,
    symbol      TEXT   NOT NULL,
    quote       TEXT   NOT NULL,
    title       TEXT   NOT NULL,
    body        TEXT   NOT NULL,
    seen        BIGINT NOT NULL,
    first_seen  BIGINT NOT NULL,
    last_seen   BIGINT NOT NULL,
    last_review TEXT   NOT NULL,
    PRIMARY KEY (repo_id, fingerprint)
);
CREATE INDEX findings_by_path ON findings (repo_id, path, last_seen);
CREATE INDEX findings_by_review ON findings (last_review);
CREATE INDEX findings_by_time ON findings (repo_id, last_seen);

-- Every id that a finding was ever shown under: it changes when the repository
-- gets a remote, and the old one stays good.
CREATE TABLE finding_ids (
    repo_id     TEXT NOT NULL,
    id          TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (repo_id, id, fingerprint),
    FOREIGN KEY (repo_id, fingerprint) REFERENCES findings (repo_id, fingerprint) ON DELETE CASCADE
);
CREATE INDEX finding_ids_by_finding ON finding_ids (repo_id, fingerprint);

-- One row a finding and review; shown is 0 when the review hid it.
CREATE TABLE sightings (
    review_id   TEXT   NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    repo_id     TEXT   NOT NULL,
    fingerprint TEXT   NOT NULL,
    path        TEXT   NOT NULL,
    category    TEXT   NOT NULL,
    severity    TEXT   NOT NULL,
    confidence  BIGINT NOT NULL,
    title       TEXT   NOT NULL,
    dropped     TEXT   NOT NULL,
    dropped_by  TEXT   NOT NULL,
    shown       BIGINT NOT NULL,
    PRIMARY KEY (review_id, fingerprint),
    FOREIGN KEY (repo_id, fingerprint) REFERENCES findings (repo_id, fingerprint) ON DELETE CASCADE
);
CREATE INDEX sightings_by_finding ON sightings (repo_id, fingerprint);
CREATE INDEX sightings_by_path ON sightings (repo_id, path, shown);

-- The trail of each finding of a review. Both numbers count from 0: the
-- finding's within its review, the step's within its finding.
CREATE TABLE decisions (
    review_id TEXT   NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    repo_id   TEXT   NOT NULL,
    finding   BIGINT NOT NULL,
    nth       BIGINT NOT NULL,
    step      TEXT   NOT NULL,
    text      TEXT   NOT NULL,
    delta     BIGINT NOT NULL,
    caused_by TEXT   NOT NULL,
    PRIMARY KEY (review_id, finding, nth)
);
CREATE INDEX decisions_by_cause ON decisions (repo_id, caused_by) WHERE caused_by <> '';

-- What people declined. It outlives the finding: the fingerprint is no foreign key. rule and glob say how far it
-- reaches beyond its own finding, source is the page of the comment that it was made from, and retired says why it
-- was ended.
CREATE TABLE rejections (
    id          TEXT   NOT NULL PRIMARY KEY,
    repo_id     TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    fingerprint TEXT   NOT NULL,
    finding     TEXT   NOT NULL,
    place       TEXT   NOT NULL,
    claim       TEXT   NOT NULL,
    path        TEXT   NOT NULL,
    symbol      TEXT   NOT NULL,
    category    TEXT   NOT NULL,
    severity    TEXT   NOT NULL,
    reason      TEXT   NOT NULL,
    who         TEXT   NOT NULL,
    at          BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    hits        BIGINT NOT NULL,
    rule        TEXT   NOT NULL DEFAULT '',
    glob        TEXT   NOT NULL DEFAULT '',
    source      TEXT   NOT NULL DEFAULT '',
    retired     TEXT   NOT NULL DEFAULT '',
    UNIQUE (repo_id, fingerprint)
);

-- What stays of a pruned finding, so that confidence can still be calibrated by it: see outcomes.
CREATE TABLE labels (
    repo_id     TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    fingerprint TEXT   NOT NULL,
    place       TEXT   NOT NULL,
    finder      TEXT   NOT NULL,
    category    TEXT   NOT NULL,
    severity    TEXT   NOT NULL,
    confidence  BIGINT NOT NULL,
    outcome     TEXT   NOT NULL,
    at          BIGINT NOT NULL,
    accepted    BIGINT NOT NULL DEFAULT -1,
    refit       BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (repo_id, fingerprint)
);

-- The books of a day.
CREATE TABLE spending (
    repo_id      TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    day          TEXT   NOT NULL,
    microdollars BIGINT NOT NULL,
    PRIMARY KEY (repo_id, day)
);

-- The answers of reviews that did not come to their end. task is the hash of all that was asked; answer is JSON.
CREATE TABLE answers (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    task    TEXT   NOT NULL,
    answer  TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (repo_id, task)
);

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

-- What became of posted findings, as far as it is known. accepted says whether the team accepted it (1), rejected it
-- (0), or neither is known (-1), and confidence is what it was posted with, of which refit percent points came from
-- earlier labels.
CREATE TABLE outcomes (
    repo_id     TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull        BIGINT NOT NULL,
    fingerprint TEXT   NOT NULL,
    outcome     TEXT   NOT NULL,
    document    TEXT   NOT NULL,
    at          BIGINT NOT NULL,
    accepted    BIGINT NOT NULL DEFAULT -1,
    confidence  BIGINT NOT NULL DEFAULT 0,
    refit       BIGINT NOT NULL DEFAULT 0,
    finder      TEXT   NOT NULL DEFAULT '',
    category    TEXT   NOT NULL DEFAULT '',
    severity    TEXT   NOT NULL DEFAULT '',
    PRIMARY KEY (repo_id, pull, fingerprint)
);
CREATE INDEX outcomes_by_finding ON outcomes (repo_id, fingerprint);

CREATE TABLE pull_spending (
    repo_id      TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull         BIGINT NOT NULL,
    microdollars BIGINT NOT NULL,
    PRIMARY KEY (repo_id, pull)
);

-- The run that posts on a pull request, so that runs with one memory take turns. A run that died holds its turn until
-- the time in until. replica is that of a server that the run belongs to, empty for a command, and died has the runs
-- that had the turn before and died with their replicas, each after a space.
CREATE TABLE runs (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull    BIGINT NOT NULL,
    run     TEXT   NOT NULL,
    until   BIGINT NOT NULL,
    replica TEXT   NOT NULL DEFAULT '',
    died    TEXT   NOT NULL DEFAULT '',
    PRIMARY KEY (repo_id, pull)
);

-- Directives for reviews that people gave. document is the learning as JSON; the
-- columns are what is asked for. about is the fingerprint of its finding.
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
    about      TEXT   NOT NULL DEFAULT '',
    PRIMARY KEY (repo_id, id)
);
CREATE INDEX learnings_by_state ON learnings (repo_id, state);
CREATE INDEX learnings_by_finding ON learnings (repo_id, about);

-- Every change of a learning, also those that had no effect because it was forgotten before.
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

-- Calibration ignores labels up to this time.
CREATE TABLE threshold_resets (
    repo_id TEXT   NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    at      BIGINT NOT NULL
);

-- One row each time that a review had another threshold, or from another source, than the one
-- before it. labels is the number of labels that calibration used.
CREATE TABLE thresholds (
    repo_id   TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    review_id TEXT   NOT NULL,
    at        BIGINT NOT NULL,
    threshold BIGINT NOT NULL,
    source    TEXT   NOT NULL,
    labels    BIGINT NOT NULL,
    PRIMARY KEY (repo_id, review_id)
);
CREATE INDEX thresholds_by_time ON thresholds (repo_id, at);

-- Patterns across pull requests. document is the insight as JSON, but for the words of
-- the person who dismissed it, which later consolidations do not overwrite.
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

-- Pruning keeps the findings of insights.
CREATE TABLE insight_findings (
    repo_id     TEXT NOT NULL,
    id          TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (repo_id, id, fingerprint),
    FOREIGN KEY (repo_id, id) REFERENCES insights (repo_id, id) ON DELETE CASCADE
);
CREATE INDEX insight_findings_by_finding ON insight_findings (repo_id, fingerprint);

-- The turn of the run that is looking for patterns, and what the last attempt and the last complete run had seen:
-- until when findings were new.
CREATE TABLE consolidations (
    repo_id        TEXT   NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    holder         TEXT   NOT NULL,
    until          BIGINT NOT NULL,
    attempted_at   BIGINT NOT NULL,
    attempted_upto BIGINT NOT NULL,
    completed_at   BIGINT NOT NULL DEFAULT 0,
    completed_upto BIGINT NOT NULL DEFAULT 0
);

-- Comments of people that were read as commands or answered, each with a hash of what
-- it asked and what followed from it, as JSON. Their answers are posts of the kind answer.
CREATE TABLE handled_comments (
    repo_id  TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull     BIGINT NOT NULL,
    comment  TEXT   NOT NULL,
    hash     TEXT   NOT NULL,
    document TEXT   NOT NULL,
    at       BIGINT NOT NULL,
    PRIMARY KEY (repo_id, pull, comment)
);

-- A paused pull request is not reviewed.
CREATE TABLE paused_pulls (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull    BIGINT NOT NULL,
    who     TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (repo_id, pull)
);

-- What people took back, so that no copy of the memory brings it back when clones
-- share theirs. kind is rejection, and id the fingerprint.
CREATE TABLE forgotten (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kind    TEXT   NOT NULL,
    id      TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (repo_id, kind, id)
);

-- The version of the rules that made the chunks of a corpus, which is what people wrote on pull requests; 0 if some
-- have to be made again.
CREATE TABLE corpus_rules (
    repo_id TEXT   NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    rules   BIGINT NOT NULL
);

-- reverted is the pull request that reverted one; that has a row also before anything else is known of it.
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

-- Comments that were deleted stay as rows without text, so that a page that was read earlier does not bring them back.
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
CREATE INDEX corpus_comments_by_author ON corpus_comments (repo_id, author);

-- Chunks are computed from the comments of a conversation. number is that in the index; 0 if it is not there.
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
    number   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (repo_id, kind, comment, chunk)
);
CREATE INDEX corpus_chunks_by_number ON corpus_chunks (repo_id, number);

-- What is searched of the chunks with numbers that follow each other.
CREATE TABLE corpus_blocks (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    block   BIGINT NOT NULL,
    docs    BYTEA  NOT NULL,
    PRIMARY KEY (repo_id, block)
);

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

-- A vector counts while its hash is that of its chunk.
CREATE TABLE corpus_vectors (
    repo_id    TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    kind       TEXT   NOT NULL,
    comment    TEXT   NOT NULL,
    chunk      BIGINT NOT NULL,
    model      TEXT   NOT NULL,
    dimensions BIGINT NOT NULL,
    hash       TEXT   NOT NULL,
    vector     BYTEA  NOT NULL,
    PRIMARY KEY (repo_id, kind, comment, chunk, model, dimensions)
);

-- Which comments a complete listing of a repository has met so far, to find those that no longer
-- exist. began is 0 without an unfinished one, done says that a list was read to its end, and
-- ended is when the last finished one had begun. The kind pull stands for all comments on a pull
-- request.
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

-- Findings that other clones showed, without their text: what hotspots and the history of files
-- count. A finding that this database has itself is counted from its own sightings.
CREATE TABLE shared_findings (
    repo_id     TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    fingerprint TEXT   NOT NULL,
    path        TEXT   NOT NULL,
    category    TEXT   NOT NULL,
    severity    TEXT   NOT NULL,
    seen        BIGINT NOT NULL,
    first_seen  BIGINT NOT NULL,
    last_seen   BIGINT NOT NULL,
    PRIMARY KEY (repo_id, fingerprint)
);
CREATE INDEX shared_findings_by_path ON shared_findings (repo_id, path);

-- What a server knows of the open pull requests that it watches: how it last saw each, when it saw it first, and the
-- head whose last round ended.
CREATE TABLE watched_pulls (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull    BIGINT NOT NULL,
    head    TEXT   NOT NULL,
    shape   TEXT   NOT NULL,
    updated BIGINT NOT NULL,
    done    TEXT   NOT NULL,
    title   TEXT   NOT NULL DEFAULT '',
    seen_at BIGINT NOT NULL DEFAULT 0,
    labels  TEXT   NOT NULL DEFAULT '',
    PRIMARY KEY (repo_id, pull)
);

CREATE TABLE asked_pulls (
    repo_id TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    pull    BIGINT NOT NULL,
    asked   BIGINT NOT NULL,
    PRIMARY KEY (repo_id, pull)
);

-- Values of the server itself: each belongs to somebody until a time, or to nobody and for ever if that is 0.
CREATE TABLE server_values (
    name  TEXT   NOT NULL PRIMARY KEY,
    value TEXT   NOT NULL,
    until BIGINT NOT NULL
);

CREATE TABLE deliveries (
    forge    TEXT   NOT NULL,
    id       TEXT   NOT NULL,
    event    TEXT   NOT NULL,
    received BIGINT NOT NULL,
    PRIMARY KEY (forge, id)
);
CREATE INDEX deliveries_received ON deliveries (received);

-- What a server has to do. An entry is wanted for a kind, a repository and a pull request: repo is host/owner/name, or
-- empty for work of the server. generation grows with each event, ran and ran_head are those of the last execution,
-- and settled is the generation that ended as ended says: done, dead or cancelled. job is the job of River, which has
-- states, attempts and times; replica is where it runs, and fence the number of its last execution over all entries.
CREATE TABLE work (
    id         BIGINT NOT NULL PRIMARY KEY,
    kind       TEXT   NOT NULL,
    repo       TEXT   NOT NULL,
    pull       BIGINT NOT NULL,
    head       TEXT   NOT NULL,
    reason     TEXT   NOT NULL,
    generation BIGINT NOT NULL,
    settled    BIGINT NOT NULL,
    ended      TEXT   NOT NULL,
    problem    TEXT   NOT NULL,
    wanted_at  BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    job        BIGINT NOT NULL,
    replica    TEXT   NOT NULL,
    fence      BIGINT NOT NULL,
    ran        BIGINT NOT NULL,
    ran_head   TEXT   NOT NULL
);
CREATE INDEX work_job ON work (job);
CREATE INDEX work_repo ON work (repo);
CREATE INDEX work_changed ON work (changed_at);

-- repo '*' holds the number of the last execution of all.
CREATE TABLE work_turns (
    repo TEXT   NOT NULL PRIMARY KEY,
    turn BIGINT NOT NULL
);

-- A replica is alive until its time.
CREATE TABLE replicas (
    id    TEXT   NOT NULL PRIMARY KEY,
    until BIGINT NOT NULL
);

-- Who is signed in on the pages of a server.
CREATE TABLE sessions (
    hash    TEXT   NOT NULL PRIMARY KEY,
    kind    TEXT   NOT NULL,
    person  TEXT   NOT NULL,
    login   TEXT   NOT NULL,
    detail  TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    until   BIGINT NOT NULL
);

-- What people changed there. An empty repo_id stands for the server itself.
CREATE TABLE audit (
    id      TEXT   NOT NULL PRIMARY KEY,
    repo_id TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    who     TEXT   NOT NULL,
    action  TEXT   NOT NULL,
    subject TEXT   NOT NULL,
    before  TEXT   NOT NULL,
    after   TEXT   NOT NULL
);
CREATE INDEX audit_by_repo ON audit (repo_id, id);
