package wire

import (
	"net/http"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
)

// keysTwice are objects that encoding/json reads as {"suppress": true}, and others as something else.
var keysTwice = []string{`{"suppress":false,"suppress":true}`, `[{"suppress":false,"ſuppresſ":true}]`}

// TestAnswersWithKeysTwice: neither a list, nor the answer to a change, nor an error's
// words are read from such JSON.
func TestAnswersWithKeysTwice(t *testing.T) {
	for _, body := range keysTwice {
		s := serve(t, status(http.StatusOK, body), status(http.StatusCreated, body))
		tr, _ := transport(t, s.URL, nil)
		var into any
		if e := fault(t, ReadEvent("Forge", "push", []byte(body), &into)); e.Kind != forge.KindAnswer || into != nil {
			t.Errorf("event %s: %+v", body, e)
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			_, err := send(t.Context(), tr, method, s.URL+"/api/x", "")
			e := fault(t, err)
			if e.Kind != forge.KindAnswer || !strings.Contains(e.Msg, "twice in one object") ||
				e.Unsure != (method == http.MethodPost) {
				t.Errorf("%s, answer %s: %+v", method, body, e)
			}
		}
	}
	if words := errorText([]byte(`{"message":"no","Message":"locked"}`), nil); words != "" {
		t.Errorf("repeats %q", words)
	}
}
