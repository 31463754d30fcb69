-- Jobs are River's: their states, attempts and times are in its tables. work says what is wanted:
-- generation grows with each event, ran and ran_head are those of the last execution, and settled
-- is the generation that ended as ended says: done, dead or cancelled. job is River's job, replica
-- where it runs, and fence the number of its last execution. A replica is alive until its time. A
-- period is a claim among the values of the server.

-- +goose Up
ALTER TABLE work RENAME TO work_before;
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
INSERT INTO work
    SELECT id, kind, repo, pull, head, reason, generation, CASE WHEN state = 'dead' THEN generation ELSE generation - 1 END,
        CASE WHEN state = 'dead' THEN 'dead' ELSE '' END, problem, wanted_at, changed_at, 0, '', fence, 0, ''
    FROM work_before WHERE state IN ('ready', 'waiting', 'running', 'dead');
DROP TABLE work_before;
CREATE INDEX work_job ON work (job);
CREATE INDEX work_repo ON work (repo);
CREATE INDEX work_changed ON work (changed_at);

DROP TABLE work_periods;
DELETE FROM work_turns WHERE repo <> '*';

DROP TABLE replicas;
CREATE TABLE replicas (
    id    TEXT   NOT NULL PRIMARY KEY,
    until BIGINT NOT NULL
);
