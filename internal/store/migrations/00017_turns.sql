-- Who has the turn to post: the replica of a server that the run belongs to, or nobody if it is a
-- command; and the runs that had the turn before and died with their replicas, each after a space.

-- +goose Up
ALTER TABLE runs ADD COLUMN replica TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN died TEXT NOT NULL DEFAULT '';
