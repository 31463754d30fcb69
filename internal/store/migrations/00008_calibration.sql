-- What calibration learns from: whether the team accepted a posted finding (1), rejected
-- it (0), or neither is known (-1), and the confidence that it was posted with, of
-- which refit percent points came from earlier labels.

-- +goose Up
ALTER TABLE outcomes ADD COLUMN accepted BIGINT NOT NULL DEFAULT -1;
ALTER TABLE outcomes ADD COLUMN confidence BIGINT NOT NULL DEFAULT 0;
ALTER TABLE outcomes ADD COLUMN refit BIGINT NOT NULL DEFAULT 0;
ALTER TABLE outcomes ADD COLUMN finder TEXT NOT NULL DEFAULT '';
ALTER TABLE outcomes ADD COLUMN category TEXT NOT NULL DEFAULT '';
ALTER TABLE outcomes ADD COLUMN severity TEXT NOT NULL DEFAULT '';
CREATE INDEX outcomes_by_finding ON outcomes (repo_id, fingerprint);

ALTER TABLE labels ADD COLUMN accepted BIGINT NOT NULL DEFAULT -1;
ALTER TABLE labels ADD COLUMN refit BIGINT NOT NULL DEFAULT 0;

-- Older outcomes have the confidence of the finding when it was last seen. Within
-- the document, no text can contain this key: its quotes would be escaped.
UPDATE outcomes SET
    confidence = (SELECT f.confidence FROM findings f WHERE f.repo_id = outcomes.repo_id AND f.fingerprint = outcomes.fingerprint),
    finder = (SELECT f.finder FROM findings f WHERE f.repo_id = outcomes.repo_id AND f.fingerprint = outcomes.fingerprint),
    category = (SELECT f.category FROM findings f WHERE f.repo_id = outcomes.repo_id AND f.fingerprint = outcomes.fingerprint),
    severity = (SELECT f.severity FROM findings f WHERE f.repo_id = outcomes.repo_id AND f.fingerprint = outcomes.fingerprint),
    accepted = CASE
        WHEN outcome IN ('fixed', 'suggestion_committed', 'accepted') THEN 1
        WHEN outcome = 'declined' AND LOWER(document) LIKE '%"may_write":true%' THEN 0
        ELSE -1 END
WHERE EXISTS (SELECT 1 FROM findings f WHERE f.repo_id = outcomes.repo_id AND f.fingerprint = outcomes.fingerprint);

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
