package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
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
		if checkKeys([]byte(s)) == nil {
			t.Errorf("accepted: %s", s)
		}
		var into any
		e := fault(t, ReadEvent("Forge", "push", []byte(s), &into))
		if e.Kind != forge.KindAnswer || into != nil {
			t.Errorf("event %s: %+v", s, e)
		}
	}
	for _, s := range []string{
		``, `null`, `"a"`, `{}`, `[{"a":1},{"a":2}]`, `{"a":{"a":{"A":1}},"b":"a"}`, `{"a":"b","c":"b"}`, `{"a":["a","a","A"],"ab":1}`, `{"+1":1,"-1":1}`,
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
	} {
		if err := checkKeys([]byte(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	if checkKeys([]byte(strings.Repeat("[", maxDepth+1))) == nil {
		t.Error("nested too deep, and accepted")
	}
}

// TestAnswersWithKeysTwice: neither a list, nor the answer to a change, nor an error's
// words are read from such JSON.
func TestAnswersWithKeysTwice(t *testing.T) {
	for _, body := range keysTwice {
		s := serve(t, status(http.StatusOK, body), status(http.StatusCreated, body))
		tr, _ := transport(t, s.URL, nil)
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			ctx, a := tr.Watch(t.Context())
			_, err := send(ctx, tr, method, s.URL+"/api/x", "")
			e := fault(t, a.Fail("ask", err))
			if e.Kind != forge.KindAnswer || !strings.Contains(e.Msg, "key twice") || e.Unsure != (method == http.MethodPost) {
				t.Errorf("%s, answer %s: %+v", method, body, e)
			}
		}
	}
	if words := errorText([]byte(`{"message":"no","Message":"locked"}`), nil); words != "" {
		t.Errorf("repeats %q", words)
	}
}

// FuzzCheckKeys compares with a decoder that keeps every key.
func FuzzCheckKeys(f *testing.F) {
	for _, s := range keysTwice {
		f.Add(s)
	}
	f.Add(`{"a":[1,{"b":null,"c":"\\\""}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		err := checkKeys([]byte(s))
		if !json.Valid([]byte(s)) {
			return
		}
		if got, want := err != nil, refusesSlowly(s); got != want {
			t.Errorf("%q: refused %v (%v), want %v", s, got, err, want)
		}
	})
}

// refusesSlowly is checkKeys by the tokens of encoding/json.
func refusesSlowly(s string) bool {
	d := json.NewDecoder(strings.NewReader(s))
	type level struct {
		object, value bool
		keys          map[string]bool
	}
	var open []level
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		top := &level{}
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '}' || v == ']' {
				open = open[:len(open)-1]
				continue
			}
			top.value = false
			if open = append(open, level{object: v == '{', keys: map[string]bool{}}); len(open) > maxDepth {
				return true
			}
		case string:
			if !top.object || top.value {
				top.value = false
				continue
			}
			folded := ""
			for _, r := range v {
				folded += string(smallest(r))
			}
			if top.keys[folded] {
				return true
			}
			top.keys[folded], top.value = true, true
		default:
			top.value = false
		}
	}
}

// pullList is a list of pull requests, as long as the responses of large repositories.
func pullList(size int) []byte {
	var b strings.Builder
	b.WriteByte('[')
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		repo := `{"id":1,"full_name":"acme/shop","owner":{"login":"acme","id":7,"type":"User"},"archived":false}`
		fmt.Fprintf(&b, `{"id":%d,"user":{"login":"ann","id":7},"body":%q,"base":{"repo":%s},"head":{"repo":%s},"labels":[],"created_at":"2026-03-04T05:06:07Z"}`,
			i, strings.Repeat("Words of a \"comment\".\n", 10), repo, repo)
	}
	b.WriteByte(']')
	return []byte(b.String())
}

// BenchmarkCheckKeys is of a list of 5 MB.
func BenchmarkCheckKeys(b *testing.B) {
	data := pullList(5 << 20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := checkKeys(data); err != nil {
			b.Fatal(err)
		}
	}
}
