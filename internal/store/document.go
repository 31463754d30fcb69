package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// documents runs a query for one column of JSON values.
func documents[T any](ctx context.Context, q querier, query string, args []any) ([]T, error) {
	var all []T
	err := rows(ctx, q, query, args, func(s scanner) error {
		var document string
		if err := s.Scan(&document); err != nil {
			return err
		}
		var v T
		if err := json.Unmarshal([]byte(document), &v); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		all = append(all, v)
		return nil
	})
	return all, err
}

// portableText is how PostgreSQL keeps a text: U+FFFD stands for zero bytes and for bytes that
// are not UTF-8, which it refuses.
func portableText(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}
