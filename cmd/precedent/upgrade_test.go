package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestLatestRelease asks pages that answer as those of GitHub do.
func TestLatestRelease(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ location, want, says string }{
		"released":        {"/owner/name/releases/tag/v1.2.3", "v1.2.3", ""},
		"none yet":        {"/owner/name/releases", "", "names no release"},
		"another tag":     {"/owner/name/releases/tag/v1.2.3; rm", "", "names no release"},
		"no such project": {"", "", "names no release"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodHead || r.URL.String() != "/owner/name/releases/latest" || len(r.Cookies()) > 0 {
				t.Errorf("%s: asked %s %s", name, r.Method, r.URL)
			}
			if test.location == "" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			w.Header().Set("Location", test.location)
			w.WriteHeader(http.StatusFound)
		}))
		got, err := latestRelease(t.Context(), server.URL+"/owner/name/releases/")
		server.Close()
		if got != test.want || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := latestRelease(t.Context(), "not a page"); err == nil {
		t.Error("there is no such page")
	}
}

func TestHowToUpgrade(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]string{
		"": "sh install.sh ",
		"/opt/homebrew/Cellar/precedent/1.2.3/bin/precedent":       "brew upgrade",
		"C:/Users/mona/scoop/apps/precedent/current/precedent.exe": "scoop update",
		"/usr/bin/precedent":              "apt-get install ./precedent-linux-",
		"/home/mona/go/bin/precedent":     "go install ",
		"/home/mona/.local/bin/precedent": "BIN=/home/mona/.local/bin sh install.sh",
	} {
		if got := howToUpgrade(program, func(string) bool { return true }); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
	if got := howToUpgrade("/usr/bin/precedent", func(string) bool { return false }); !strings.HasPrefix(got, "dnf install") {
		t.Error(got)
	}
}
