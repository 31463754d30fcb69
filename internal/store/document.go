package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
)

// documents runs a query for one column of JSON values.
func documents[T any](ctx context.Context, q querier, query string, args []any) ([]T, error) {
	return collect(ctx, q, query, args, func(s scanner, v *T) error { return s.Scan(document{v}) })
}

// document is a column of JSON that is scanned into a value.
type document struct{ into any }

// Scan decodes the column.
func (d document) Scan(v any) error {
	var text sql.Null[string]
	err := text.Scan(v)
	if err == nil {
		err = json.Unmarshal([]byte(text.V), d.into)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// portableText is how PostgreSQL keeps a text: U+FFFD stands for zero bytes and for bytes that
// are not UTF-8, which it refuses.
func portableText(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}
