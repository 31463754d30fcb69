-- A pull request that was reverted says so itself: corpus_pulls has a row for it, also before it is
-- known otherwise.

-- +goose Up
DROP TABLE corpus_reverts;
