package store

import (
	"context"
	"encoding/json"
	"fmt"
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
