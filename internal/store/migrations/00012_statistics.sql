-- What statistics need: the numbers of each review as a small JSON document, empty
-- for older ones, whose result has them. retired says why a rejection was ended.

-- +goose Up
ALTER TABLE reviews ADD COLUMN facts TEXT NOT NULL DEFAULT '';
ALTER TABLE rejections ADD COLUMN retired TEXT NOT NULL DEFAULT '';
