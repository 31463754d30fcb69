package lint

import (
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
	key := awsKey(1)
	hash := random(2, 40, "0123456789abcdef")
	block := keyBlock(3)
	keywords := strings.Repeat("curlopt_krblevel curlopt_localport judy_type ", 5)
	for _, test := range []struct {
		name   string
		change *diff.Change
		want   string
	}{
		{"nothing", change("a.go", "+x := 1"), ""},
		{
			"added", change("a.go", "@@10", " a", "+k := \""+key+"\" // gitleaks:allow nolint:gosec", " b"),
			"a.go:11 aws-access-token critical",
		},
		{
			"at the end of a bundle", change("app.min.js", "+"+strings.Repeat("var a=1;", 60_000)+"k=\""+key+"\""),
			"app.min.js:1 aws-access-token critical",
		},
		{"kept or deleted", change("a.go", " k := \""+key+"\"", "-j := \""+awsKey(2)+"\"", "+x"), ""},
		{
			"name above in the context", change("a.py", " api_token =", "-\"old\"", "+\""+hash+"\""),
			"a.py:2 generic-api-key high",
		},
		{"key block", change("id_rsa", prefix("+", block)...), "id_rsa:1-5 private-key critical"},
		{
			"encrypted key block", change("id_rsa", prefix("+", append([]string{
				block[0], "Proc-Type: 4,ENCRYPTED",
				"DEK-Info: AES-256-CBC," + random(3, 32, "0123456789ABCDEF"), "",
			}, block[1:]...))...),
			"id_rsa:1-8 private-key medium",
		},
		{
			"key within its old frame", change("id_rsa", " "+block[0], "-"+random(9, 64, base64Letters), "+"+block[1],
				"+"+block[2], "+"+block[3], " "+block[4]),
			"id_rsa:2-5 private-key critical",
		},
		{"two keys", change("a", "+"+key, "+"+awsKey(3)), "a:1 aws-access-token critical, a:2 aws-access-token critical"},
		{
			"identifier only", change("a.yml", "+discord_client_id: '"+random(4, 18, "0123456789")+"'"),
			"a.yml:1 discord-client-id medium",
		},
		{
			"key of an app of Firebase", change("app/google-services.json", `+"current_key": "AIza`+random(4, 35, base64Letters[:62])+`"`),
			"app/google-services.json:1 gcp-api-key medium",
		},
		{
			"key of a web app of Firebase", change("fb.js", `+apiKey: "AIza`+random(4, 35, base64Letters[:62])+`",`, `+authDomain: "a.firebaseapp.com",`),
			"fb.js:1 gcp-api-key medium",
		},
		{
			"value in a line that nobody reads", change("a.css", `+api_key = "`+random(4, 35, base64Letters)+`"`+strings.Repeat(";", longestRead)),
			"",
		},
		{"private key of a library", skipAs("vendored", change("vendor/a.org/b/c.key", prefix("+", block)...)), "vendor/a.org/b/c.key:1-5 private-key low"},
		{"moved", change("a", "-x := "+awsKey(3), "+y := "+awsKey(3), "+z := "+key), "a:1 aws-access-token low, a:2 aws-access-token critical"},
		{
			"key of Google elsewhere", change("app/maps.json", `+"current_key": "AIza`+random(4, 35, base64Letters[:62])+`"`),
			"app/maps.json:1 gcp-api-key critical",
		},
		{"test file", change("a_test.go", "+k := \""+key+"\""), "a_test.go:1 aws-access-token critical"},
		{"catch-all in a lock file", skip(change("go.sum", "+example.com/api-key v1.0.0 h1:"+random(5, 43,
			base64Letters[:58])+"=")), ""},
		{"known form in a generated file", skip(change("gen.go", "+"+key)), "gen.go:1 aws-access-token critical"},
		{
			"nonce of a WebSocket", change("ws.rs", `+.header("sec-websocket-key", "`+random(7, 22, base64Letters)+`==")`),
			"ws.rs:1 generic-api-key low",
		},
		{
			"key of a service in a header", change("ws.rs", `+.header("x-api-key", "`+random(7, 22, base64Letters)+`==")`),
			"ws.rs:1 generic-api-key high",
		},
		{"keywords of a language", change("langs.xml", "+"+keywords+" curlopt_keypasswd curlopt_keytype "+keywords), ""},
		{
			"a credential among words", change("run.sh", "+"+keywords+" --password "+hash+" "+keywords),
			"run.sh:1 assigned-credential high",
		},
		{
			"key with which pages search", change("docusaurus.config.js", "+appId: 'QX3RTNV0LM',", "+apiKey: '"+hash[:32]+"',", "+indexName: 'app',"),
			"docusaurus.config.js:2 generic-api-key low",
		},
		{
			"checksums of files", change("appinfo/sums.json", `+{"lib/Token.php":"`+hash[:32]+`"}`),
			"appinfo/sums.json:1 generic-api-key low",
		},
		{
			"a repository's identifier of Xcode",
			change("App.xcscmblueprint", `+"PrimaryRemoteRepositoryKey" : "`+hash[:40]+`",`, `+"RepositoryIdentifierKey" : "`+hash[:40]+`"`),
			"App.xcscmblueprint:1 generic-api-key low",
		},
		{
			"a key named like a path", change("vault.json", `+{"prod/api-token":"`+hash[:32]+`"}`),
			"vault.json:1 generic-api-key high",
		},
		{
			"another key of that service", change("docusaurus.config.js", "+appId: 'QX3RTNV0LM',", "+adminApiKey: '"+hash[:32]+"',", "+indexName: 'app',"),
			"docusaurus.config.js:2 generic-api-key high",
		},
		{
			"key to send events to PostHog", change("metric.go", `+const PostHogAPIKey = "phc_`+random(8, 43, base64Letters[:61])+`"`),
			"metric.go:1 generic-api-key low",
		},
		{"such a key elsewhere", change("gatsby-config.js", "+apiKey: '"+hash[:32]+"',", "+indexName: 'app',"), "gatsby-config.js:1 generic-api-key high"},
		{
			"another value there", change("docusaurus.config.js", "+apiKey: '"+random(9, 40, base64Letters[:61])+"',", "+indexName: 'app',"),
			"docusaurus.config.js:1 generic-api-key high",
		},
		{"key store", binary("deploy/server.p12"), "deploy/server.p12 pkcs12-file high"},
	} {
		t.Run(test.name, func(t *testing.T) { found(t, run(t, "secrets", &Input{Change: test.change}), test.want) })
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
