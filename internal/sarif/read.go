package sarif

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxMany is the largest number of elements read of a Many. One rule can have
// thousands of results in one file.
const MaxMany = 10_000

// MaxFew is the largest number of elements read of a list that has one or a few, such as that of runs.
const MaxFew = 16

// Few is a list of which MaxFew elements are read, and one more if there are more.
type Few[T any] []T

// Many is a list of which at most MaxMany elements are read.
type Many[T any] []T

// UnmarshalJSON reads the first elements.
func (l *Few[T]) UnmarshalJSON(b []byte) (err error) {
	*l, err = firstOf[T](b, MaxFew+1)
	return err
}

// UnmarshalJSON reads the first elements.
func (l *Many[T]) UnmarshalJSON(b []byte) (err error) {
	*l, err = firstOf[T](b, MaxMany)
	return err
}

func firstOf[T any](b []byte, most int) (all []T, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	open, err := d.Token()
	if err != nil || open == nil { // null is an empty list
		return nil, err
	}
	if open != json.Delim('[') {
		return nil, fmt.Errorf("want a list, not %v", open)
	}
	for d.More() && len(all) < most {
		var v T
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// Properties are a tool's additional data. They are not read.
type Properties map[string]any

// UnmarshalJSON reads nothing.
func (*Properties) UnmarshalJSON([]byte) error { return nil }
