package engine

import "encoding/json"

// wrap puts a list into the object that the schema requires: models often omit an
// object that has only one list. Any other answer is returned unchanged.
func (v *Validator) wrap(answer []byte) []byte {
	name, ok := v.onlyList()
	if !ok || len(answer) == 0 || answer[0] != '[' {
		return answer
	}
	wrapped, err := json.Marshal(map[string]json.RawMessage{name: answer})
	if err != nil {
		return answer
	}
	return wrapped
}

// onlyList returns the only property that the schema requires, if it is an array.
func (v *Validator) onlyList() (name string, ok bool) {
	s := v.schema
	if !only(s, "object") || len(s.Required) != 1 {
		return "", false
	}
	name = s.Required[0]
	return name, only(s.Properties[name], "array")
}

// only tells whether a schema allows one type and no other.
func only(s *schema, kind string) bool {
	return s != nil && len(s.Type) == 1 && s.Type[0] == kind
}
