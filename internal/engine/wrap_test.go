package engine

import (
	"encoding/json"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

const listSchema = `{"type":"object","required":["pairs"],"properties":{
	"pairs":{"type":"array","items":{
		"type":"object","required":["pair"],"properties":{"pair":{"type":"string"},"why":{"type":"string"}}}},
	"note":{"type":"string"}}}`

func TestWrap(t *testing.T) {
	for _, test := range []struct{ name, schema, output, want string }{
		{"a bare list", listSchema, `[{"pair":"p1"}]`, `{"pairs":[{"pair":"p1"}]}`},
		{"an empty one", listSchema, " []\n", `{"pairs":[]}`},
		{"one in prose", listSchema, "Here:\n```json\n[{\"pair\": \"p1\",}]\n```", `{"pairs":[{"pair":"p1"}]}`},
		{
			"whole numbers in it", listSchema, `[{"pair":"p1","n":[2.0,-0.0,1e2,-3.00,100000000.0,1.5]}]`,
			`{"pairs":[{"n":[2,-0,100,-3,100000000,1.5],"pair":"p1"}]}`,
		},
		{"the object itself", listSchema, `{"pairs":[]}`, `{"pairs":[]}`},
		{"a list of something else", listSchema, `[{"finding":"f1"}]`, ""},
		{"a key in the wrong case", listSchema, `[{"pair":"p1","Why":"x"}]`, ""},
		{
			"two required",
			`{"type":"object","required":["a","b"],"properties":{"a":{"type":"array"},"b":{"type":"array"}}}`, `[]`, "",
		},
		{"no object wanted", `{"type":"array"}`, `[1]`, `[1]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := needs.Value(Compile(json.RawMessage(test.schema)))(t)
			got, err := read(v, []byte(test.output))
			if string(got) != test.want || (err == nil) != (test.want != "") {
				t.Errorf("%s, %v; want %s", got, err, test.want)
			}
		})
	}
}
