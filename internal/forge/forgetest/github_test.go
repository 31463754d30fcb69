package forgetest

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// shopServer is GitHub with Shop and Till.
func shopServer(t testing.TB) (*Stage, *GitHub, *Pull) {
	t.Helper()
	s, p, shop := NewStage(t), Till(), Shop()
	shop.Pulls[till] = p
	s.World.Add(shop)
	return s, s.GitHub(t), p
}

// ask sends a request, and reads the JSON of the answer.
func ask(t testing.TB, g *GitHub, token, method, path string, body any) (int, any) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		data = nil
	}
	req, err := http.NewRequestWithContext(t.Context(), method, g.URL+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"User-Agent": {"precedent"}, "X-Github-Api-Version": {"2022-11-28"}, "Accept": {"application/vnd.github+json"},
		"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token},
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	var out any
	if len(text) > 0 {
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	return resp.StatusCode, out
}

const (
	shopPath = "/api/v3/repos/acme/shop"
	tillPath = shopPath + "/pulls/8"
)

// words is everything in an answer, for a look at its words.
func words(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

func id(v any) precedent.ForgeID {
	o, _ := v.(object)
	n, _ := o["id"].(float64)
	return precedent.NumberID(int64(n))
}

// TestGitHubRefuses what GitHub refuses, in its words, and changes nothing.
func TestGitHubRefuses(t *testing.T) {
	line := func(change object) object {
		out := object{"path": "src/till.go", "line": 3, "side": "RIGHT", "body": "x"}
		maps.Copy(out, change)
		return out
	}
	review := func(comments ...object) object {
		return object{"event": "COMMENT", "body": "x", "comments": comments}
	}
	long := strings.Repeat("é", forge.MaxPost+1)
	const (
		reviews, issue = tillPath + "/reviews", shopPath + "/issues/8"
		noLine, blank  = "Line could not be resolved", "Body can't be blank"
		tooLong        = "maximum is 65536 characters"
	)
	for _, test := range []struct {
		name, method, path string
		body               any
		status             int
		want               string
	}{
		{"line", "POST", reviews, review(line(nil), line(object{"line": 20})), 422, noLine},
		{"no line", "POST", reviews, review(object{"path": "src/till.go", "body": "x"}), 422, noLine},
		{"side", "POST", reviews, review(line(object{"line": 44, "side": "LEFT"})), 422, noLine},
		{"path", "POST", reviews, review(line(object{"path": "x.go"})), 422, "Path could not be resolved"},
		{"start", "POST", reviews, review(line(object{"start_line": 3})), 422, "Start line could not be resolved"},
		{"hunk", "POST", reviews, review(line(object{"start_line": 3, "line": 42})), 422, "same hunk"},
		{"commit", "POST", reviews, object{"event": "COMMENT", "body": "x", "commit_id": sha("9")}, 422, "commit_id"},
		{"no words", "POST", reviews, object{"event": "COMMENT"}, 422, blank},
		{"no words of a comment", "POST", reviews, review(line(object{"body": ""})), 422, blank},
		{"long review", "POST", reviews, object{"event": "COMMENT", "body": long}, 422, tooLong},
		{"long remark", "POST", reviews, review(line(object{"body": long})), 422, tooLong},
		{"long comment", "POST", issue + "/comments", object{"body": long}, 422, tooLong},
		{"no comment", "POST", issue + "/comments", object{"body": ""}, 422, "missing_field"},
		{"answer to nothing", "POST", tillPath + "/comments/77/replies", object{"body": "x"}, 404, "Not Found"},
		{"no pull request", "POST", shopPath + "/pulls/99/reviews", review(line(nil)), 404, "Not Found"},
		{"no comment to edit", "PATCH", shopPath + "/pulls/comments/77", object{"body": "x"}, 404, "Not Found"},
		{"no comment to delete", "DELETE", shopPath + "/issues/comments/77", nil, 404, "Not Found"},
		{
			"check by a person", "POST", shopPath + "/check-runs",
			object{"name": "x", "head_sha": sha("c")},
			403,
			"Resource not accessible by personal access token",
		},
		{"label", "DELETE", issue + "/labels/none", nil, 404, "Label does not exist"},
		{"app", "GET", "/api/v3/app", nil, 401, "JSON web token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, g, p := shopServer(t)
			status, got := ask(t, g, Secret, test.method, test.path, test.body)
			if status != test.status || !strings.Contains(words(got), test.want) {
				t.Errorf("%d, %s", status, words(got))
			}
			checkNothingPosted(t, s, p)
		})
	}
}

// TestGitHubKeepsUnsent: a review that is not sent is its author's alone, and the only one.
func TestGitHubKeepsUnsent(t *testing.T) {
	s, g, p := shopServer(t)
	key := app(t, g)
	other := token(t, s, g, key)
	pending := object{"body": "b", "comments": []object{{"path": "src/till.go", "line": 3, "body": "x"}}}
	status, made := ask(t, g, Secret, "POST", tillPath+"/reviews", pending)
	if status != 200 || made.(object)["state"] != "PENDING" || made.(object)["submitted_at"] != nil {
		t.Fatalf("%d, %s", status, words(made))
	}
	one := fmt.Sprintf("%s/reviews/%s", tillPath, id(made))
	count := func(token, path string) int {
		_, all := ask(t, g, token, "GET", path, nil)
		return len(all.([]any))
	}
	if a, b, c := count(Secret, tillPath+"/reviews"), count(other, tillPath+"/reviews"),
		count(Secret, tillPath+"/comments"); a != 1 || b != 0 || c != 0 {
		t.Errorf("its author sees %d, others see %d, in the list of comments stand %d", a, b, c)
	}
	if status, _ := ask(t, g, other, "GET", one, nil); status != 404 {
		t.Errorf("others are answered %d", status)
	}
	if status, got := ask(t, g, Secret, "POST", tillPath+"/reviews", pending); status != 422 ||
		!strings.Contains(words(got), "only have one pending review per pull request") {
		t.Errorf("a second one: %d, %s", status, words(got))
	}
	if len(s.World.Shown(p)) != 0 || s.World.Unsent(p) != 1 || len(s.World.Threads(p)) != 0 {
		t.Errorf("is seen: %+v", s.World.Shown(p))
	}
	if status, _ := ask(t, g, Secret, "DELETE", one, nil); status != 200 || s.World.Unsent(p) != 0 {
		t.Errorf("its author deletes it: %d", status)
	}
	pending["event"] = "COMMENT"
	_, made = ask(t, g, other, "POST", tillPath+"/reviews", pending)
	if status, got := ask(t, g, other, "DELETE", fmt.Sprintf("%s/reviews/%s", tillPath, id(made)), nil); status != 422 ||
		len(s.World.Shown(p)) != 2 {
		t.Errorf("a review that was sent is deleted: %d, %s", status, words(got))
	}
}

// TestPush: after a push comments stand where their lines are now, or are outdated where they stood first.
func TestPush(t *testing.T) {
	s, g, p := shopServer(t)
	var ids []precedent.ForgeID
	for _, r := range []forge.Remark{goodRemarks[0], goodRemarks[2], goodRemarks[1], goodRemarks[4]} {
		ids = append(ids, s.World.Remark(p, Bo, r.Span, r.Body).ID)
	}
	moved := strings.Replace(tillDiff, "@@ -40,3 +41,4 @@", "@@ -40,3 +51,4 @@", 1)
	moved = strings.Replace(moved, "+TWO", "+Two", 1)
	s.World.Push(p, sha("d"), moved)
	_, got := ask(t, g, Secret, "GET", tillPath+"/comments", nil)
	at := func(i int) string {
		o := got.([]any)[i].(object)
		return fmt.Sprintf("%v %v %v %.1s %.1s", o["start_line"], o["line"], o["original_line"], o["commit_id"],
			o["original_commit_id"])
	}
	for i, want := range []string{"<nil> 3 3 d c", "51 53 43 d c", "<nil> 3 3 d c", "<nil> <nil> 2 f c"} {
		if at(i) != want {
			t.Errorf("%d: %s, want %s", i, at(i), want)
		}
	}
	s.World.Push(p, sha("e"), "")
	outdated := 0
	for _, m := range s.World.Shown(p) {
		if m.Outdated && m.Commit == sha("c") && slices.Contains(ids, m.ID) &&
			(m.ID != ids[1] || m.Span == goodRemarks[2].Span) {
			outdated++
		}
	}
	if outdated != 4 {
		t.Errorf("%d outdated of %+v", outdated, s.World.Shown(p))
	}
	// A review may still be about an earlier head, and is outdated at once.
	old := object{
		"event": "COMMENT", "body": "x", "commit_id": sha("c"),
		"comments": []object{{"path": "src/till.go", "line": 3, "body": "late"}},
	}
	status, _ := ask(t, g, Secret, "POST", tillPath+"/reviews", old)
	if said := s.World.By(p, Bot); status != 200 || len(said) != 2 || !said[1].Outdated || said[1].Commit != sha("c") {
		t.Errorf("%d, %+v", status, said)
	}
}

// app lets an app in, and gives its key.
func app(t testing.TB, g *GitHub) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	g.AsApp(App{ID: 77, Slug: "precedent-app", Key: &key.PublicKey, Installation: 5})
	return key
}

// jwt is what an app proves itself with.
func jwt(t testing.TB, key *rsa.PrivateKey, claims object) string {
	t.Helper()
	part := func(v any) string {
		data, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(data)
	}
	text := part(object{"alg": "RS256", "typ": "JWT"}) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	sign, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sign)
}

func token(t testing.TB, s *Stage, g *GitHub, key *rsa.PrivateKey) string {
	t.Helper()
	at := s.Clock.Now().Unix()
	status, got := ask(t, g, jwt(t, key, object{"iss": 77, "iat": at - 60, "exp": at + 540}), "POST",
		"/api/v3/app/installations/5/access_tokens", nil)
	if status != 201 {
		t.Fatalf("%d, %s", status, words(got))
	}
	return got.(object)["token"].(string)
}

// TestApp: tokens of an installation are given for a good web token, and for an hour.
func TestApp(t *testing.T) {
	s, g, _ := shopServer(t)
	key := app(t, g)
	at := s.Clock.Now().Unix()
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	good := object{"iss": 77, "iat": at, "exp": at + 600}
	for name, web := range map[string]string{
		"another key": jwt(t, other, good), "another app": jwt(t, key, object{"iss": 78, "iat": at, "exp": at + 600}),
		"too long":        jwt(t, key, object{"iss": 77, "iat": at, "exp": at + 700}),
		"over":            jwt(t, key, object{"iss": 77, "iat": at - 600, "exp": at}),
		"from the future": jwt(t, key, object{"iss": 77, "iat": at + 60, "exp": at + 500}), "no token": "x",
		"a person's": Secret,
	} {
		if status, _ := ask(t, g, web, "GET", "/api/v3/app", nil); status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
	web := jwt(t, key, good)
	if status, got := ask(t, g, web, "GET", "/api/v3/app", nil); status != 200 || got.(object)["slug"] != "precedent-app" {
		t.Errorf("%d, %s", status, words(got))
	}
	if status, _ := ask(t, g, web, "GET", tillPath, nil); status != 401 {
		t.Errorf("an app itself reads: %d", status)
	}
	if status, _ := ask(t, g, web, "POST", "/api/v3/app/installations/5/access_tokens",
		object{"permissions": object{"contents": "write"}}); status != 422 {
		t.Errorf("more than the app may: %d", status)
	}
	issued := token(t, s, g, key)
	s.Clock.Pass(time.Hour)
	if status, _ := ask(t, g, issued, "GET", tillPath, nil); status != 401 || g.Issued() != 1 {
		t.Errorf("after an hour: %d", status)
	}
}
