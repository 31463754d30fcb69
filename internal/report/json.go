package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"unicode/utf16"
	"unicode/utf8"

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
	_, err := w.Write(bytes.ReplaceAll(escapeHidden(b.Bytes()), []byte("##["), []byte(`##\u005b`)))
	return err
}

// escapeHidden escapes the hidden characters of JSON. They occur in strings only, so the value
// is the same.
func escapeHidden(data []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		i += n
		if r < 0x7f {
			continue
		}
		if _, hidden := text.Hidden(r); !hidden {
			continue
		}
		out = append(out, data[done:i-n]...)
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		done = i
	}
	return append(out, data[done:]...)
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
