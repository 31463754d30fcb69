package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestOnlyServer: a gate asks the operator's servers for packages, the usual ones, or none, and never without
// encryption.
func TestOnlyServer(t *testing.T) {
	for value, want := range map[string]string{
		"": "https://usual.example", "https://own.example/npm/": "https://own.example/npm/",
		"sparse+https://own.example/": "https://own.example/",
		"off":                         "", "http://own.example": "", "file:///packages": "",
	} {
		a := &app{env: map[string]string{"PIP_INDEX_URL": value}}
		if got := a.onlyServer("PIP_INDEX_URL", "https://usual.example"); got != want {
			t.Errorf("%q: %q", value, got)
		}
	}
	visited := false
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited = true }))
	defer plain.Close()
	from := httptest.NewServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer from.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, from.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&app{env: map[string]string{}}).packageClient().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusFound || visited {
		t.Errorf("status %d, visited %v", response.StatusCode, visited)
	}
}
