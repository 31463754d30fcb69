package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
)

func documents[T any](ctx context.Context, q querier, query string, args []any) ([]T, error) {
	return collect(ctx, q, query, args, scanDocument[T])
}

func scanDocument[T any](s scanner, v *T) error { return s.Scan(document{v}) }

// document is a column of JSON: the value that is written to it, or a pointer to where it is scanned.
type document struct{ of any }

func (d document) Value() (driver.Value, error) {
	text, err := json.Marshal(d.of)
	return string(text), err
}

func (d document) Scan(v any) error {
	var text sql.Null[string]
	err := text.Scan(v)
	if err == nil {
		err = json.Unmarshal([]byte(text.V), d.of)
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
