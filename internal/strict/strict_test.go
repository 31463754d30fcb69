package strict

import (
	"strings"
	"testing"
)

// keysTwice are objects that encoding/json reads as {"suppress": true}, and others as
// something else.
var keysTwice = []string{
	`{"suppress":false,"suppress":true}`, `{"suppress":false,"SUPPRESS":true}`, `{"suppress":false,"Suppre\u0053s":true}`,
	`{"suppress":false,"ſuppresſ":true}`, `[{"a":"\"","b":[{"c":1,"C":2}]}]`, `{"a":{"x":1},"b":[],"A":{}}`, `{"":1,"":2}`,
	`{"\u212a":1,"k":2}`, `[[[{"a":1}],{"b":"\\","B":1}]]`,
}

// TestKeysThatAreThereTwice keeps the promise "JSON parser differentials: exact case, no
// duplicates, depth and size caps".
func TestKeysThatAreThereTwice(t *testing.T) {
	for _, s := range keysTwice {
		if Check([]byte(s), Default) == nil {
			t.Errorf("accepted: %s", s)
		}
		var into any
		if Unmarshal([]byte(s), &into) == nil || UnmarshalKnown([]byte(s), &into) == nil {
			t.Errorf("decoded: %s", s)
		}
	}
	for _, s := range []string{
		``, `null`, `"a"`, `{}`, `[{"a":1},{"a":2}]`, `{"a":{"a":{"A":1}},"b":"a"}`, `{"a":"b","c":"b"}`,
		`{"a":["a","a","A"],"ab":1}`, `{"+1":1,"-1":1}`,
		strings.Repeat("[", Default.Depth) + strings.Repeat("]", Default.Depth),
	} {
		if err := Check([]byte(s), Default); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	if Check([]byte(strings.Repeat("[", Default.Depth+1)), Default) == nil {
		t.Error("nested too deep, and accepted")
	}
}

// TestUnmarshalKnown refuses what a type does not have, and what follows the value.
func TestUnmarshalKnown(t *testing.T) {
	var v struct{ Directive string }
	for text, ok := range map[string]bool{
		`{"Directive":"a"} `: true, `{"directive":"a","DIRECTIVE":"b"}`: false, `{"directive":"a","other":1}`: false,
		`{"directive":"a"} {}`: false,
		`{"directive":"a"}]`:   false, ``: false,
	} {
		if err := UnmarshalKnown([]byte(text), &v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLimits: numbers and their amount are limited if values are.
func TestLimits(t *testing.T) {
	few := Limits{Depth: 3, Values: 5}
	for text, want := range map[string]string{
		`[1,2,3,4,5,6]`: "more than 5 values", `{"a":1e999}`: "exponent", `[` + strings.Repeat("9", 65) + `]`: "65 digits",
		`[-1.5E+3, "1e999"]`: "",
	} {
		err := Check([]byte(text), few)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(strings.Replace(err.Error(), "more than 64 digits",
			"65 digits", 1), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
