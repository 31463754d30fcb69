-- Which line of work a review of a local change belongs to: a branch, what is
-- staged on it, or a range. Empty for pull requests, and for older reviews.

-- +goose Up
ALTER TABLE reviews ADD COLUMN work TEXT NOT NULL DEFAULT '';
CREATE INDEX reviews_by_work ON reviews (repo_id, work, at);
