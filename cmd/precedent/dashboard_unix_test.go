//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestDashboard opens the pages of the memory beside a clone as a browser does: the address works once, and a finding
// that is dismissed there is hidden by the next review. They are for this machine.
func TestDashboard(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	repo := defectiveRepository(t, home, "repo")
	reviewed := func() precedent.Review {
		t.Helper()
		_, out, _ := finished(t, precedentCmd(home, repo, "review", "--engine", "none", "--format", "json", "HEAD~1...HEAD"))
		return parsed[precedent.Review](t, out)
	}
	first := reviewed()
	if len(first.Live()) == 0 {
		t.Fatal("the review finds nothing")
	}
	found := first.Live()[0]

	cmd := precedentCmd(home, repo, "dashboard", "--no-browser")
	stdout := needs.Value(cmd.StdoutPipe())(t)
	needs.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	address := needs.Value(bufio.NewReader(stdout).ReadString('\n'))(t)
	address = strings.TrimSpace(address)
	jar := needs.Value(cookiejar.New(nil))(t)
	browser := &http.Client{Jar: jar}
	at, err := url.Parse(address)
	if err != nil || at.Hostname() != "127.0.0.1" {
		t.Fatal(address, err)
	}
	get := func(path string) (int, string) {
		t.Helper()
		return fetched(t, browser, http.MethodGet, "http://"+at.Host+path, nil)
	}

	if status, page := fetched(t, http.DefaultClient, http.MethodGet, "http://"+at.Host+"/", nil); status != http.StatusUnauthorized || strings.Contains(page, found.Title) {
		t.Errorf("without the address: %d %s", status, page)
	}
	status, page := fetched(t, browser, http.MethodGet, address, nil)
	link := regexp.MustCompile(`href="(/repos/[^/]+/[^/]+/[^/"]+)"`).FindStringSubmatch(page)
	if status != http.StatusOK || link == nil {
		t.Fatal(status, page)
	}
	if status, _ := fetched(t, http.DefaultClient, http.MethodGet, address, nil); status != http.StatusForbidden {
		t.Errorf("the address again: %d", status)
	}
	csrf := regexp.MustCompile(`name="csrf" value="([0-9a-f]+)"`).FindStringSubmatch(page)
	dismissal := url.Values{"csrf": csrf[1:], "reason": {"We do it so on purpose"}}
	form := "http://" + at.Host + link[1] + "/findings/" + found.ID + "/dismiss"
	if status, page := fetched(t, browser, http.MethodPost, form, dismissal); status != http.StatusOK {
		t.Fatal(status, page)
	}
	second := reviewed()
	for _, f := range second.Findings {
		if f.ID == found.ID && f.Dropped != precedent.Dismissed {
			t.Errorf("a finding that was dismissed on a page is %q in the next review", f.Dropped)
		}
	}
	if _, page := get(link[1]); !strings.Contains(page, second.ID) {
		t.Errorf("the next review is not on the page: %s", page)
	}
	needs.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	if err := cmd.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
	_, said := ends(t, precedent.ExitUsage, precedentCmd(home, repo, "dashboard", "--no-browser", "--listen", "0.0.0.0:0"))
	if !strings.Contains(said, "of this machine") {
		t.Errorf("--listen 0.0.0.0:0: %s", said)
	}
}

// fetched sends a request, with a form if there is one, and returns the answer.
func fetched(t *testing.T, client *http.Client, method, address string, form url.Values) (status int, page string) {
	t.Helper()
	r := needs.Value(http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode())))(t)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := client.Do(r)
	needs.NoError(t, err)
	defer answer.Body.Close()
	body := needs.Value(io.ReadAll(answer.Body))(t)
	return answer.StatusCode, string(body)
}
