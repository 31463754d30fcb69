-- How far a dismissal reaches beyond its own finding: a rule, and the files that a
-- person named. Source is the page of the comment that it was made from.

-- +goose Up
ALTER TABLE rejections ADD COLUMN rule TEXT NOT NULL DEFAULT '';
ALTER TABLE rejections ADD COLUMN glob TEXT NOT NULL DEFAULT '';
ALTER TABLE rejections ADD COLUMN source TEXT NOT NULL DEFAULT '';
