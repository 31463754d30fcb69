package lint

import (
	"encoding/base64"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// forms are lines that commit a credential. <b62:40> stands for 40 random characters of an alphabet, <pem> for a
// private key; see fill. The file is src/app/settings, with the extension given.
var forms = []struct{ name, ext, text string }{
	// What services issue.
	{"AWS access key", "go", `key := "AKIA<b32:16>"`},
	{"AWS secret key", "env", "AWS_SECRET_ACCESS_KEY=<b64:40>"},
	{"AWS secret key in YAML", "yml", "aws_secret_access_key: <b64:40>"},
	{"GitHub personal token", "py", `gh = Github("ghp_<b62:36>")`},
	{"GitHub fine-grained token", "yml", "pat: github_pat_<b62:82>"},
	{"GitHub app token", "sh", "curl -H 'Authorization: token ghs_<b62:36>' https://api.github.com"},
	{"GitLab token", "toml", `private_token = "glpat-<b62:20>"`},
	{"Slack bot token", "js", `new WebClient("xoxb-<dig:12>-<dig:12>-<b62:24>")`},
	{"Slack webhook", "py", `URL = "https://hooks.slack.com/services/T<up:8>/B<up:10>/<b62:24>"`},
	{"Stripe live key", "rb", `Stripe.api_key = "sk_live_<b62:24>"`},
	{"Stripe restricted key", "php", `$stripe = new StripeClient("rk_live_<b62:24>");`},
	{"Google API key", "html", `<script src="https://maps.googleapis.com/maps/api/js?key=AIza<b62:35>"></script>`},
	{"OpenAI key", "ts", `const openai = new OpenAI({ apiKey: "sk-<b62:20>T3BlbkFJ<b62:20>" });`},
	{"Anthropic key", "env", "ANTHROPIC_API_KEY=sk-ant-api03-<b62:93>AA"},
	{"npm token", "npmrc", "//registry.npmjs.org/:_authToken=npm_<b36:36>"},
	{"PyPI token", "pypirc", "password = pypi-AgEIcHlwaS5vcmc<b62:60>"},
	{"SendGrid key", "cs", `var client = new SendGridClient("SG.<b62:22>.<b62:43>");`},
	{"Twilio key", "java", `Twilio.init("SK<hex:32>");`},
	{"DigitalOcean token", "tf", `token = "dop_v1_<hex:64>"`},
	{"Shopify token", "json", `{"shopify": "shpat_<hex:32>"}`},
	{"Hugging Face token", "py", `login("hf_<low:34>")`},
	{"Databricks token", "ini", "token = dapi<hex:32>"},
	{"Telegram bot token", "py", `telegram_token = "<dig:9>:A<b62:34>"`},
	{"Vault token", "sh", "export VAULT_TOKEN=hvs.<b62:92>"},
	{"Linear key", "ts", `const linear = "lin_api_<b62:40>";`},
	{"Azure client secret", "yml", "client_secret: <b62:3>8Q~<b62:34>"},
	{"Grafana token", "yml", "token: glsa_<b62:32>_<hex:8>"},
	{"age identity", "txt", "AGE-SECRET-KEY-1<age:58>"},
	{"Heroku key", "env", "HEROKU_API_KEY=<uuid>"},
	{"Datadog key", "yaml", "datadog_api_key: <hex:40>"},
	{"JSON Web Token", "js", `const service = "<jwt>";`},

	// Private keys.
	{"private key", "pem", "<pem>"},
	{"OpenSSH key in YAML", "yml", "ssh_key: |\n<pem:  >"},
	{"private key in one line", "env", `TLS_KEY="<pem\n>"`},
	{
		"service account", "json",
		"{\n  \"type\": \"service_account\",\n  \"private_key_id\": \"<hex:40>\",\n  \"private_key\": \"<pem\\n>\"\n}",
	},
	{"private key in Go", "go", "const key = `<pem>`"},
	{"private key by concatenation", "java", `String k = <pem+>;`},

	// Generic passwords and keys, by language and format.
	{"Go", "go", `const apiKey = "<b62:32>"`},
	{"Go struct", "go", "\tcfg := Config{\n\t\tPassword: \"<b62:18>\",\n\t}"},
	{"Python", "py", `API_KEY = "<hex:32>"`},
	{"Python argument", "py", `db = connect(host="db", password="<b62:16>")`},
	{"Python next line", "py", "SECRET_KEY = (\n    \"<b62:50>\"\n)"},
	{"Django", "py", `SECRET_KEY = '<pw:50>'`},
	{"JavaScript", "js", `const authToken = '<b62:40>';`},
	{"JavaScript object", "js", `module.exports = { clientSecret: '<b64:44>' };`},
	{"TypeScript", "ts", `private readonly apiSecret: string = "<b62:24>";`},
	{"Java", "java", `private static final String DB_PASSWORD = "<b62:20>";`},
	{"Java call", "java", `dataSource.setPassword("<b62:20>");`},
	{"C#", "cs", `var accountKey = "<b64:86>==";`},
	{"C++", "cpp", `const std::string kApiKey{"<b62:32>"};`},
	{"Ruby", "rb", `config.secret_key_base = "<hex:128>"`},
	{"Ruby hash", "rb", `{ :password => "<b62:20>" }`},
	{"Rust", "rs", `let api_token: &str = "<b62:32>";`},
	{"PHP", "php", `define('DB_PASSWORD', '<b62:16>');`},
	{"Swift", "swift", `static let clientSecret = "<b62:32>"`},
	{"Kotlin", "kt", `val signingKey = "<b64:44>"`},
	{"YAML", "yml", "database:\n  password: <b62:20>"},
	{"JSON", "json", `{"db": {"password": "<b62:20>"}}`},
	{"TOML", "toml", `auth_token = "<b62:32>"`},
	{".env", "env", "SESSION_SECRET=<hex:64>"},
	{"XML element", "xml", "<server><password><b62:20></password></server>"},
	{"XML attributes", "xml", `<property name="password" value="<b62:20>"/>`},
	{".NET settings", "config", `<add key="ApiSecret" value="<b62:32>" />`},
	{"properties", "properties", "spring.datasource.password=<b62:20>"},
	{"ini", "ini", "[db]\npasswd = <b62:16>"},
	{"shell export", "sh", `export API_TOKEN="<b62:32>"`},
	{"shell flag", "sh", `mysqldump --password=<b62:16> app`},
	{"Dockerfile ENV", "Dockerfile", "ENV API_KEY=<b62:32>"},
	{"Dockerfile ENV with a space", "Dockerfile", "ENV DB_PASSWORD <b62:20>"},
	{"Compose", "yml", "    environment:\n      - POSTGRES_PASSWORD=<b62:20>"},
	{"Terraform", "tf", `  administrator_login_password = "<b62:16>"`},
	{"Terraform variable", "tfvars", `db_password = "<b62:20>"`},
	{"Kubernetes environment", "yaml", "        - name: API_KEY\n          value: <b62:32>"},
	{"Kubernetes secret", "yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: <base64>"},
	{"Postgres URL", "py", `DSN = "postgres://app:<b62:16>@db.internal:5432/app"`},
	{"MongoDB URL", "js", `mongoose.connect("mongodb+srv://svc:<b62:18>@cluster0.a1.mongodb.net/app")`},
	{"Redis URL", "yml", "redis: redis://:<b62:24>@cache.internal:6379/0"},
	{"basic auth URL", "sh", "git clone https://deploy:<b62:24>@git.acme.io/app.git"},
	{"SQL Server connection", "cs", `"Server=db;Database=app;User Id=sa;Password=<b62:18>;Encrypt=True"`},
	{
		"Azure storage connection", "json",
		`"DefaultEndpointsProtocol=https;AccountName=app;AccountKey=<b64:86>==;EndpointSuffix=core.windows.net"`,
	},
	{"Authorization bearer", "js", `headers: { "Authorization": "Bearer <b62:40>" }`},
	{"Authorization basic", "py", `headers = {"Authorization": "Basic <basic>"}`},
	{"header of a key", "go", `req.Header.Set("X-Api-Key", "<b62:32>")`},
	{"curl with a user", "sh", `curl -u admin:<b62:20> https://ci.acme.io/build`},
	{"netrc", "netrc", "machine api.acme.io login bot password <b62:24>"},
	{"password with signs", "yml", `password: "<pw:16>"`},
	{"password with signs in Java", "java", `String password = "<pw:18>";`},
	{"Docker login", "json", `{"auths": {"registry.acme.io": {"auth": "<basic>"}}}`},
}

// alphabets are what <name:length> draws from.
var alphabets = map[string]string{
	"hex": "0123456789abcdef", "dig": "0123456789", "low": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
	"up":  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"b32": base32Letters, "b36": "abcdefghijklmnopqrstuvwxyz0123456789",
	"b62": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"b64": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/", "age": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
	"pw": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#%^*-_=+",
}

var hole = regexp.MustCompile(`<([a-z0-9]+):(\d+)>|<(pem[^>]*|uuid|jwt|base64|basic)>`)

// fill replaces the holes of a form with random values.
func fill(r *rand.Rand, text string) string {
	draw := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.Intn(len(alphabet))]
		}
		return string(b)
	}
	encode := base64.StdEncoding.EncodeToString
	return hole.ReplaceAllStringFunc(text, func(h string) string {
		m := hole.FindStringSubmatch(h)
		if m[1] != "" {
			n, _ := strconv.Atoi(m[2])
			return draw(alphabets[m[1]], n)
		}
		switch kind, rest, _ := strings.Cut(m[3], "m"); {
		case kind == "pe":
			lines := []string{"-----BEGIN RSA PRIVATE " + "KEY-----"}
			for range 13 {
				lines = append(lines, draw(alphabets["b64"], 64))
			}
			lines = append(lines, draw(alphabets["b64"], 30)+"==", "-----END RSA PRIVATE "+"KEY-----")
			switch rest {
			case "":
				return strings.Join(lines, "\n")
			case `\n`:
				return strings.Join(lines, `\n`)
			case "+":
				return `"` + strings.Join(lines, "\\n\" +\n    \"") + `"`
			}
			return rest[1:] + strings.Join(lines, "\n"+rest[1:])
		case m[3] == "uuid":
			return draw(alphabets["hex"], 8) + "-" + draw(alphabets["hex"], 4) + "-4" + draw(alphabets["hex"], 3) + "-a" +
				draw(alphabets["hex"], 3) + "-" + draw(alphabets["hex"], 12)
		case m[3] == "jwt":
			part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
			return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"iss":"acme","sub":"`+draw(alphabets["hex"],
				12)+`","role":"service"}`) + "." + draw(alphabets["b62"], 43)
		case m[3] == "base64":
			return encode([]byte(draw(alphabets["b62"], 24)))
		}
		return encode([]byte("deploy:" + draw(alphabets["b62"], 24)))
	})
}

// shownFrom is review.DefaultThreshold, which stands higher than this package.
const shownFrom = 75

// TestSecretForms plants a credential in every form, many times: each is found and
// shown at the default threshold. Chance makes one in some hundred values look less
// random than the rules demand, such as an access key with few different letters.
func TestSecretForms(t *testing.T) {
	const rounds = 20
	missed, planted := 0, 0
	for _, form := range forms {
		lost := 0
		var last string
		for seed := range int64(rounds) {
			text := fill(rand.New(rand.NewSource(seed)), form.text)
			name := "src/app/settings." + form.ext
			if form.ext == "Dockerfile" {
				name = "src/app/Dockerfile"
			}
			res := run(t, "secrets", &Input{Change: change(name, prefix("+", strings.Split(text, "\n"))...)})
			shown := 0
			for _, f := range res.Findings {
				if f.Confidence >= shownFrom {
					shown++
				}
			}
			planted++
			if shown == 0 {
				lost++
				last = text
			}
		}
		if missed += lost; lost > 1 {
			t.Errorf("%s: %d of %d not shown, such as\n%s", form.name, lost, rounds, last)
		}
	}
	t.Logf("%d forms, %d of %d shown", len(forms), planted-missed, planted)
	if len(forms) < 60 || missed*200 > planted {
		t.Errorf("%d of %d not shown", missed, planted)
	}
}

// lookAlikes are lines without a credential, by what they have instead. fill makes their values, too.
var lookAlikes = []struct{ name, path, text string }{
	{"column in a plan", "db/plan.txt", `   Sort Key: _part_2_<dig:2>_block."at"`},
	{"group of a plan", "db/plan.txt", `Group Key: _part_1_1_block.sensor`},
	{"cache key", "app/a.go", `cacheKey := "<hex:32>"`},
	{"primary key", "db/a.sql", `-- primary key: orders_2024_pkey1`},
	{"key of a form", "app/page.py", `http://forms.example.org/view?hl=en&formkey=<b62:36>`},
	{"contributions", "deps/x/CONTRIBUTIONS", `Sign at http://forms.example.org/view?docskey=<b62:36>`},
	{"partition key", "app/a.py", `partition_key = "<hex:24>"`},
	{"public key", "app/a.yml", `public_key: <b64:43>=`},
	{"public key of age", "app/a.txt", `Public key: age1<age:58>`},
	{"public key in a short name", "app/a.toml", `pubkey = "<b64:43>="`},
	{"SSH key", "app/a.txt", `deploy_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b64:43>`},
	{"checksum", "app/a.json", `"secretChecksum": "<hex:64>"`},
	{"digest of an image", "app/a.yml", `image: token-service@sha256:<hex:64>`},
	{"integrity", "app/a.html", `<script integrity="sha384-<b64:64>" src="auth.js">`},
	{"hash of a password", "app/a.sql", `password_hash = '<b62:43>'`},
	{"bcrypt", "app/a.yml", `password: "$2b$12$<b62:53>"`},
	{"git object", "app/a.yml", `auth_commit: <hex:40>`},
	{"go.sum", "go.sum", `example.com/secret-token v1.2.3 h1:<b64:43>=`},
	{"etag", "app/a.go", `tokenETag := "<hex:32>"`},
	{"nonce", "app/a.html", `<meta name="token-nonce" content="<b62:22>">`},
	{"fingerprint", "app/a.yml", `key_fingerprint: <hex:40>`},
	{"serial number", "app/a.txt", `secret serial: <hex:32>`},
	{"id of a key", "app/a.tf", `access_key_id = "<b36:20>"`},
	{"id of a secret", "app/a.tf", `secret_id = "<uuid>"`},
	{"type of a token", "app/a.json", `"token_type": "Bearer2Extended"`},
	{"name of a secret", "app/a.yml", `secretName: app-tls-2024-v2`},
	{"URL for tokens", "app/a.yml", `token_url: https://login.acme.io/oauth2/v2.0/token`},
	{"path of a secret", "app/a.yml", `secret_path: kv/data/app1/prod2/db`},
	{"token of a page", "app/a.py", `next_page_token = "<b62:24>"`},
	{"token of a form", "app/a.html", `<input name="csrf_token" value="<b62:32>">`},
	{"identifier", "app/a.go", `token := VertexAi2Api.NewTokenSource3`},
	{"identifier with digits", "app/a.py", `api_key = openai_gpt4_client2_settings`},
	{"constant", "app/A.java", `static final String ACME_API_KEY = "ACME_API_KEY";`},
	{"constants", "app/A.java", `builder.maxTokens(DEFAULT_MAX_TOKENS_V2)`},
	{"model", "app/a.yml", `api-model: text-embedding-ada-002`},
	{"class", "app/a.tsx", `<Token className="px-4 py-2 text-sm2 rounded-lg2" />`},
	{"call", "app/a.cpp", `password = TextGetCString2(PG_GETARG_DATUM(6));`},
	{"environment in Python", "app/a.py", `API_KEY = os.environ["ACME_API_KEY_V2"]`},
	{"environment in Node", "app/a.js", `apiKey: process.env.ACME_API_KEY_2,`},
	{"environment in Go", "app/a.go", `password := os.Getenv("DB_PASSWORD_2")`},
	{"variable in YAML", "app/a.yml", `password: ${DB_PASSWORD_2024}`},
	{"variable of Actions", "app/a.yml", `token: ${{ secrets.DEPLOY_TOKEN_2 }}`},
	{"template", "app/a.yaml", `password: {{ .Values.db.password2 | b64enc }}`},
	{"variable in a shell", "app/a.sh", `export API_TOKEN="$1_TOKEN_2024"`},
	{"changeme", "app/a.env", `DB_PASSWORD=changeme12345`},
	{"xxxx", "app/a.env", `API_KEY=xxxxxxxxxxxxxxxxxxxx1`},
	{"angle brackets", "app/a.yml", `api_key: <your-api-key-2024>`},
	{"your key", "app/a.py", `api_key = "YOUR_API_KEY_1"`},
	{"digits in a row", "app/a.java", `String apiKey = "sk-1234567890";`},
	{"alphabet", "app/a.py", `secret = "abcdefghijklmnop1234"`},
	{"stars", "app/a.yml", `password: "********2024"`},
	{"human password", "app/a.yml", `password: Summer-Garden-2024`},
	{"local database", "app/a.yml", `url: postgres://postgres:postgres@localhost:5432/app`},
	{"placeholder in a URL", "app/a.py", `DSN = "mysql://user:password123@host/db"`},
	{"variable in a URL", "app/a.sh", `git clone https://bot:${GIT_TOKEN}@git.acme.io/a.git`},
	{"header in prose", "app/a.go", `// Bearer authentication-scheme2 is described in RFC 6750.`},
	{"basic in prose", "app/a.txt", `Basic authentication2 is not supported`},
	{"prose", "app/a.txt", `- Fix the password visibility toggle (#3312)`},
	{"translation", "app/de.json", `"password": "Passwort2festlegen"`},
	{"date", "app/a.txt", `Token-Expiration: 2025-06-04 04:00:00`},
	{"version", "app/a.toml", `auth-version = "v1.22.333-rc.4+build"`},
	{"region", "app/a.tf", `secret_region = "eu-central-1a-prod2"`},
	{"ARN", "app/a.tf", `secret_arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret/app"`},
	{
		"code about PEM", "app/a.cpp",
		"if (!text.startsWith(\"-----BEGIN PRIVATE \" \"KEY-----\") ||\n    !text.endsWith(\"-----END PRIVATE " +
			"KEY-----\")) {\n    return;",
	},
	{"storage emulator", "app/a.cs", "AccountKey=Eby8vdM02xNOcqFl" +
		"qUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"},
	{"test in the name", "app/a.env", `TEST_API_KEY=<b62:32>`},
	{"key of a unit test", "app/a_test.go", `const apiKey = "<b62:32>"`},
	{"key in tests", "src/test/java/A.java", `String secretKey = "<b64:40>";`},
	{"private key in fixtures", "pkg/testdata/key.pem", "<pem>"},
	{"private key in tests", "tests/ssl/server.key", "<pem>"},
	{"private key of a test by its name", "pkg/a.go", "var testServerKey = `<pem>`"},
	{"identity of a test by its name", "pkg/a.go", "var _, TestIdentity, _ = decode(\n\t\"AGE-SECRET-KEY-1<age:58>\")"},
	{"identity in a package for tests", "internal/testkit/a.go", `id := "AGE-SECRET-KEY-1<age:58>"`},
	{
		"invented service account", "internal/testdata/sa.json",
		"{\n  \"type\": \"service_account\",\n  \"private_key_id\": \"abcdef1234567890\",\n  \"private_key\": \"<pem\\n>\"\n}",
	},
	{
		"service account with a run as its id", "pkg/testdata/sa.json",
		"{\n  \"private_key_id\": \"1234567890123456789012345678901234567890\",\n  \"private_key\": \"<pem\\n>\"\n}",
	},
	{"issued key in fixtures", "pkg/fixtures/a.json", `{"key": "AKIA<b32:16>"}`},
	{"identity in documentation", "doc/keygen.1", "AGE-SECRET-KEY-1<age:58>"},
	{"cassette", "spec/cassettes/login.yml", `Authorization: Bearer <b62:40>`},
	{"recorded reply", "pkg/__snapshots__/a.snap", `"accessToken": "<b62:40>"`},
	{"expected output", "test/expected/a.out", `secret key: <b62:32>`},
	{"sample of settings", "app/.env.example", `API_KEY=<b62:32>`},
	{"README", "README.md", `export API_TOKEN=<b62:32>`},
	{"Stripe test key", "app/a.py", `stripe.api_key = "sk_test_<b62:24>"`},
}

func TestSecretLookAlikes(t *testing.T) {
	if len(lookAlikes) < 60 {
		t.Errorf("only %d look-alikes", len(lookAlikes))
	}
	for _, like := range lookAlikes {
		for seed := range int64(10) {
			text := fill(rand.New(rand.NewSource(seed)), like.text)
			res := run(t, "secrets", &Input{Change: change(like.path, prefix("+", strings.Split(text, "\n"))...)})
			for _, f := range res.Findings {
				if f.Confidence >= shownFrom {
					t.Errorf("%s: %s is shown for\n%s", like.name, f.Rule, text)
				}
			}
		}
	}
}

// TestTestKeysAreOneFinding: many keys in a file of fixtures are one low finding, which
// knows all of them, so that each is redacted.
func TestTestKeysAreOneFinding(t *testing.T) {
	var lines []string
	keys := map[string]bool{}
	for i := range int64(30) {
		key := "ghp_" + random(i, 36, alphabets["b62"])
		keys[key] = true
		lines = append(lines, "+"+key, "+")
	}
	res := run(t, "secrets", &Input{Change: change("pkg/testdata/keys.txt", lines...)})
	same(t, res, "pkg/testdata/keys.txt:1 github-pat low")
	for _, s := range res.Findings[0].Secrets {
		delete(keys, s)
	}
	if f := res.Findings[0]; len(keys) > 0 || f.Confidence >= shownFrom ||
		!strings.HasPrefix(f.Body, "This file has 30 values") {
		t.Errorf("%d keys unknown, confidence %d, body %q", len(keys), f.Confidence, f.Body)
	}
}
