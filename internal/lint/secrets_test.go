package lint

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/secret"
)

// random makes a string of an alphabet. Secrets in tests are made, because
// literal ones would be found in this repository.
func random(seed int64, n int, alphabet string) string {
	r := rand.New(rand.NewSource(seed))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.Intn(len(alphabet))]
	}
	return string(b)
}

const (
	base32Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	base64Letters = base32Letters + "abcdefghijklmnopqrstuvwxyz018+/"
)

func awsKey(seed int64) string { return "AKIA" + random(seed, 16, base32Letters) }

func keyBlock(lines int) []string {
	b := []string{"-----BEGIN RSA PRIVATE " + "KEY-----"}
	for i := range lines {
		b = append(b, random(int64(i), 64, base64Letters))
	}
	return append(b, "-----END RSA PRIVATE "+"KEY-----")
}

func TestSecrets(t *testing.T) {
	key, google := awsKey(1), "AIza"+random(4, 35, base64Letters[:62])
	hash := random(2, 40, "0123456789abcdef")
	block := keyBlock(3)
	encrypted := append([]string{
		block[0], "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC," + random(3, 32, "0123456789ABCDEF"), "",
	}, block[1:]...)
	keywords := strings.Repeat("curlopt_krblevel curlopt_localport judy_type ", 5)
	const header, docs = `+.header("%s", "%s==")`, "docusaurus.config.js"
	value := random(7, 22, base64Letters)
	list := func(lines ...string) []string { return lines }
	for _, test := range []struct {
		name, path string
		lines      []string
		want       string // without the path
	}{
		{"nothing", "a.go", list("+x := 1"), ""},
		{"selector", "a.css", list("+#rel, #rev, #accesskey {width:200px;}"), ""},
		{
			"added", "a.go", list("@@10", " a", "+k := \""+key+"\" // gitleaks:allow nolint:gosec", " b"),
			":11 aws-access-token critical",
		},
		{"kept or deleted", "a.go", list(" k := \""+key+"\"", "-j := \""+awsKey(2)+"\"", "+x"), ""},
		{"name above", "a.py", list(" api_token =", "-\"old\"", "+\""+hash+"\""), ":2 generic-api-key medium"},
		{"key among what tests read", "config/test_resources/a.yml", prefix("+", block), ":1-5 private-key low"},
		{"key of an example", "elk/elk-vagrant-example.key", prefix("+", block), ":1-5 private-key low"},
		{"name in code beside tests", "testrig/models.go", list("+api_token = \"" + hash + "\""), ":1 generic-api-key low"},
		{"name in an environment of tests", ".env.testing", list("+API_TOKEN=" + hash), ":1 generic-api-key low"},
		{"name in settings of tests", "phpunit.xml.dist", list(`+<env name="JWT_SECRET" value="` + hash + `"/>`), ":1 assigned-credential low"},
		{
			"key of a program and its secret", "a.cs", list(`+string API_KEY = "`+hash+`";`, `+string API_SECRET = "`+hash[8:]+`";`),
			":2 generic-api-key medium, a.cs:1 generic-api-key low",
		},
		{
			"key of a program and a placeholder", "a.cs", list(`+string API_KEY = "`+hash+`";`, `+string API_SECRET = "changeme";`),
			":1 generic-api-key medium",
		},
		{"name in settings", "a.toml", list("+api_token = \"" + hash + "\""), ":1 generic-api-key high"},
		{"columns of a table", "a.go", list("+SELECT id, endpoint, key_auth, key_p256dh, user_id"), ":1 assigned-credential low"},
		{"signs sessions in CI", ".travis.yml", list("+  - APP_SECRET_TOKEN=" + hash), ":1 generic-api-key low"},
		{"of a bucket in CI", ".drone.yml", list("+      secret_key: " + hash), ":1 generic-api-key high"},
		{"signs sessions in production", ".github/workflows/deploy.yml", list("+  SECRET_KEY_BASE: " + hash), ":1 generic-api-key high"},
		{"of an administrator of a search", ".env", list("+ALGOLIA_SEARCH_ADMIN_KEY=" + hash[:32]), ":1 algolia-api-key high"},
		{"in a program of documents", "docs-service/a.yml", list("+password: " + hash), ":1 generic-api-key high"},
		{"with a word of names", "a.yml", list("+password: my-" + value), ":1 generic-api-key high"},
		{"of a service in CI", ".travis.yml", list("+  - AWS_SECRET_KEY=" + hash), ":1 generic-api-key high"},
		{"token in a header", "README.md", list("+Authorization: Bearer ghp_" + "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17"), ":1 github-pat critical"},
		{"key block", "id_rsa", prefix("+", block), ":1-5 private-key critical"},
		{"encrypted key block", "id_rsa", prefix("+", encrypted), ":1-8 private-key medium"},
		{
			"key within its old frame", "id_rsa",
			list(" "+block[0], "-"+random(9, 64, base64Letters), "+"+block[1], "+"+block[2], "+"+block[3], " "+block[4]),
			":2-5 private-key critical",
		},
		{"identifier", "a.yml", list("+discord_client_id: '" + random(4, 18, "0123456789") + "'"), ":1 discord-client-id medium"},
		{"Firebase", "app/google-services.json", list(`+"current_key": "` + google + `"`), ":1 gcp-api-key medium"},
		{"Firebase in the web", "fb.js", list(`+apiKey: "`+google+`",`, `+authDomain: "a.firebaseapp.com",`), ":1 gcp-api-key medium"},
		{
			"value in a line that nobody reads", "a.js",
			list(`+api_key = "` + random(4, 35, base64Letters) + `"` + strings.Repeat(";", longestRead)), "",
		},
		{
			"moved", "a", list("-x := "+awsKey(3), "+y := "+awsKey(3), "+z := "+key),
			":1 aws-access-token low, a:2 aws-access-token critical",
		},
		{"Google elsewhere", "app/maps.json", list(`+"current_key": "` + google + `"`), ":1 gcp-api-key critical"},
		{"test file", "a_test.go", list("+k := \"" + key + "\""), ":1 aws-access-token critical"},
		{"nonce of a WebSocket", "ws.rs", list(fmt.Sprintf(header, "sec-websocket-key", value)), ":1 generic-api-key low"},
		{"key in a header", "ws.rs", list(fmt.Sprintf(header, "x-api-key", value)), ":1 generic-api-key medium"},
		{"keywords of a language", "langs.xml", list("+" + keywords + " curlopt_keypasswd curlopt_keytype " + keywords), ""},
		{"among words", "run.sh", list("+" + keywords + " --password " + hash + " " + keywords), ":1 assigned-credential high"},
		{
			"key with which pages search", docs,
			list("+appId: 'QX3RTNV0LM',", "+apiKey: '"+hash[:32]+"',", "+indexName: 'app',"), ":2 generic-api-key low",
		},
		{"checksums", "appinfo/sums.json", list(`+{"lib/Token.php":"` + hash[:32] + `"}`), ":1 generic-api-key low"},
		{
			"a repository's identifier of Xcode", "App.xcscmblueprint",
			list(`+"PrimaryRemoteRepositoryKey" : "`+hash[:40]+`",`, `+"RepositoryIdentifierKey" : "`+hash[:40]+`"`),
			":1 generic-api-key low",
		},
		{"named like a path", "vault.json", list(`+{"prod/api-token":"` + hash[:32] + `"}`), ":1 generic-api-key high"},
		{
			"another key of that service", docs,
			list("+appId: 'QX3RTNV0LM',", "+adminApiKey: '"+hash[:32]+"',", "+indexName: 'app',"), ":2 generic-api-key medium",
		},
		{
			"key to send events to PostHog", "metric.go",
			list(`+const PostHogAPIKey = "phc_` + random(8, 43, base64Letters[:61]) + `"`), ":1 generic-api-key low",
		},
		{
			"such a key elsewhere", "gatsby-config.js", list("+apiKey: '"+hash[:32]+"',", "+indexName: 'app',"),
			":1 generic-api-key medium",
		},
		{
			"another value there", docs, list("+apiKey: '"+random(9, 40, base64Letters[:61])+"',", "+indexName: 'app',"),
			":1 generic-api-key medium",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := test.want
			if want != "" {
				want = test.path + want
			}
			found(t, run(t, "secrets", &Input{Change: change(test.path, test.lines...)}), want)
		})
	}
	module := change("go.sum", "+example.com/api-key v1.0.0 h1:"+random(5, 43, base64Letters[:58])+"=")
	for want, c := range map[string]*diff.Change{
		"":                                   skip(module), // the catch-all is for code
		"gen.go:1 aws-access-token critical": skip(change("gen.go", "+"+key)),
		"deploy/server.p12 pkcs12-file high": binary("deploy/server.p12"),
		"vendor/a.org/b/c.key:1-5 private-key low": skipAs("vendored", change("vendor/a.org/b/c.key", prefix("+", block)...)),
	} {
		found(t, run(t, "secrets", &Input{Change: c}), want)
	}
}

func prefix(sign string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = sign + l
	}
	return out
}

func skip(c *diff.Change) *diff.Change { return skipAs("generated", c) }

func skipAs(why string, c *diff.Change) *diff.Change {
	c.Files[0].Skip = why
	return c
}

func binary(path string) *diff.Change {
	return &diff.Change{Files: []diff.File{{Path: path, OldPath: path, Status: diff.Added, Binary: true, Skip: "binary"}}}
}

// TestSecretStaysInTheQuote: title and body are shown and stored as they are.
func TestSecretStaysInTheQuote(t *testing.T) {
	key := awsKey(1)
	r := run(t, "secrets", &Input{Change: change("conf/app.yml", "+aws: "+key)})
	if len(r.Findings) != 1 {
		t.Fatalf("%d findings", len(r.Findings))
	}
	f := r.Findings[0]
	if f.Quote != "aws: "+key || f.Title != "Hard-coded secret: AWS access token committed in app.yml" {
		t.Errorf("quote %q, title %q", f.Quote, f.Title)
	}
	if f.Category != precedent.Secrets || f.Confidence != issuedConfidence {
		t.Errorf("category %s, confidence %d", f.Category, f.Confidence)
	}
	for _, part := range []string{key, key[4:12]} {
		if strings.Contains(f.Title+f.Body, part) {
			t.Errorf("the secret is in %q, %q", f.Title, f.Body)
		}
	}
}

// TestSecretInFiles: a value that several files have is one finding of each severity.
func TestSecretInFiles(t *testing.T) {
	key, hash := awsKey(1), random(2, 40, "0123456789abcdef")
	c := change("a.yml", "+aws: "+key, "+aws: "+key, "+api_token: "+hash)
	for _, name := range []string{"b.yml", "c.yml", "a.go"} {
		c.Files = append(c.Files, change(name, "+aws: "+key, "+api_token = \""+hash+"\"").Files...)
	}
	r := run(t, "secrets", &Input{Change: c})
	needs.Equal(t, []string{
		"a.yml:1 aws-access-token critical", "a.yml:2 aws-access-token critical", "a.yml:3 generic-api-key high", "a.go:2 generic-api-key medium",
	}, needs.Each(r.Findings, func(f precedent.Finding) string { return fmt.Sprint(f.String(), " ", f.Rule, " ", f.Severity) }))
	for i, want := range []string{"", "other files, too: b.yml:1, c.yml:1, a.go:1.", "other files, too: b.yml:2, c.yml:2.", ""} {
		if body := r.Findings[i].Body; !strings.HasSuffix(body, want) || strings.Contains(body, "other files") != (want != "") {
			t.Errorf("%d: %q", i, body)
		}
	}
}

func TestSecretsGiveUp(t *testing.T) {
	needs.Soak(t, "uses up the budget of the search for secrets")
	line := "+" + strings.Repeat("api-key:token=secret ", 3000)
	var lines []string
	for range 400 {
		lines = append(lines, line)
	}
	c := change("a.txt", lines...)
	r := run(t, "secrets", &Input{Change: c})
	if r.Status != precedent.StatusTruncated || !strings.Contains(r.Error, "a.txt") {
		t.Errorf("%s, %q", r.Status, r.Error)
	}
	if s := ScanSecrets(c); !s.Unscanned(&c.Files[0].Hunks[0]) {
		t.Error("all was searched")
	}
}

// TestScanSecrets: one scan has what is reported of the new side, and what must not leave of both.
func TestScanSecrets(t *testing.T) {
	before, after := awsKey(81), awsKey(82)
	c := change("a.go", " package a", "-const key = \""+before+"\"", "+const key = \""+after+"\"", " // End.")
	s := ScanSecrets(c)
	leaving := needs.Each(s.Leaving(&c.Files[0].Hunks[0]), func(m secret.Match) string { return m.Secret })
	needs.Equal(t, []string{after, before}, leaving)
	r := run(t, "secrets", &Input{Change: c, Secrets: func() *Secrets { return s }})
	if len(r.Findings) != 1 || r.Findings[0].Secrets[0] != after {
		t.Errorf("findings %+v", r.Findings)
	}
	// What the scan left out, nobody scans again.
	if r := run(t, "secrets", &Input{Change: c, Secrets: func() *Secrets { return &Secrets{} }}); len(r.Findings) != 0 {
		t.Errorf("scanned again: %+v", r.Findings)
	}
}
