-- The rules that a review checked are stored with it.

-- +goose Up
DROP TABLE IF EXISTS review_rules;
DROP TABLE IF EXISTS rules;
