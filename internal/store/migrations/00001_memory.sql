-- The first schema: reviews, the findings that they saw, and what people and
-- the policy said about them. Every row belongs to a repository, and its key
-- begins with it wherever a person's words or a file's path can reach it.
-- Times are unix milliseconds, ids are text made by the program, booleans are 0 or 1.

-- +goose Up
CREATE TABLE repos (
    id         TEXT   NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL
);

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

-- document is the review's result as JSON; extra is JSON of what the result leaves out.
CREATE TABLE reviews (
    id       TEXT   NOT NULL PRIMARY KEY,
    repo_id  TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    base     TEXT   NOT NULL,
    head     TEXT   NOT NULL,
    verdict  TEXT   NOT NULL,
    at       BIGINT NOT NULL,
    document TEXT   NOT NULL,
    extra    TEXT   NOT NULL
);
CREATE INDEX reviews_by_time ON reviews (repo_id, at);

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

-- What people declined. It outlives the finding: the fingerprint is no foreign key.
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
    UNIQUE (repo_id, fingerprint)
);

-- The guide's rules, once per content: hash is over all of the rule's fields.
CREATE TABLE rules (
    repo_id  TEXT   NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    hash     TEXT   NOT NULL,
    id       TEXT   NOT NULL,
    text     TEXT   NOT NULL,
    category TEXT   NOT NULL,
    source   TEXT   NOT NULL,
    line     BIGINT NOT NULL,
    dir      TEXT   NOT NULL,
    PRIMARY KEY (repo_id, hash)
);

-- The rules that a review's finders were given, in their order.
CREATE TABLE review_rules (
    review_id TEXT   NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    repo_id   TEXT   NOT NULL,
    nth       BIGINT NOT NULL,
    hash      TEXT   NOT NULL,
    PRIMARY KEY (review_id, nth),
    FOREIGN KEY (repo_id, hash) REFERENCES rules (repo_id, hash) ON DELETE CASCADE
);
CREATE INDEX review_rules_by_rule ON review_rules (repo_id, hash);

-- What stays of a pruned finding, so that confidence can still be calibrated by it.
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
    PRIMARY KEY (repo_id, fingerprint)
);
