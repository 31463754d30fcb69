package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf16"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// JSON writes the review as the contract that its schema field names.
func JSON(w io.Writer, r *precedent.Review) error {
	named := *r
	named.Schema = cmp.Or(r.Schema, precedent.ResultSchema)
	return Value(w, &named)
}

// Value writes a value of a command's --json. Empty lists are [], never null.
func Value(w io.Writer, v any) error { return writeJSON(w, withoutNil(reflect.ValueOf(v)).Interface()) }

// writeJSON writes a value indented, without HTML escapes, with a line end. Control and invisible characters are
// escaped.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	// GitHub's runner would read it as a command.
	_, err := io.WriteString(w, strings.ReplaceAll(escapeHidden(b.String()), "##[", `##\u005b`))
	return err
}

// escapeHidden escapes the hidden characters of JSON. They occur in strings only, so the value
// is the same.
func escapeHidden(data string) string {
	var b strings.Builder
	for _, r := range data {
		if _, hidden := text.Hidden(r); r < 0x7f || !hidden {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// withoutNil returns a copy of a value without nil lists and maps.
func withoutNil(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch kind := v.Kind(); {
	case kind == reflect.Struct:
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(withoutNil(v.Field(i)))
			}
		}
	case kind == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			c.Index(i).Set(withoutNil(v.Index(i)))
		}
	case kind == reflect.Map:
		c.Set(reflect.MakeMap(v.Type()))
		for at := v.MapRange(); at.Next(); {
			c.SetMapIndex(at.Key(), withoutNil(at.Value()))
		}
	case kind == reflect.Pointer && !v.IsNil():
		c.Set(reflect.New(v.Type().Elem()))
		c.Elem().Set(withoutNil(v.Elem()))
	case kind == reflect.Interface && !v.IsNil():
		c.Set(withoutNil(v.Elem()))
	}
	return c
}
