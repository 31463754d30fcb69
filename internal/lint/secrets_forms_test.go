package lint

import (
	"encoding/base64"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// forms are lines that commit a credential. <b62:40> stands for 40 random characters
// of an alphabet, <pem> for a private key; see fill. The file is src/app/settings,
// with the extension given.
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
	{"service account", "json", "{\n  \"type\": \"service_account\",\n  \"private_key_id\": \"<hex:40>\",\n  \"private_key\": \"<pem\\n>\"\n}"},
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
	{"Azure storage connection", "json", `"DefaultEndpointsProtocol=https;AccountName=app;AccountKey=<b64:86>==;EndpointSuffix=core.windows.net"`},
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
	"hex": "0123456789abcdef", "dig": "0123456789", "low": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "up": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"b32": base32Letters, "b36": "abcdefghijklmnopqrstuvwxyz0123456789", "b62": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
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
			return draw(alphabets["hex"], 8) + "-" + draw(alphabets["hex"], 4) + "-4" + draw(alphabets["hex"], 3) + "-a" + draw(alphabets["hex"], 3) + "-" + draw(alphabets["hex"], 12)
		case m[3] == "jwt":
			part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
			return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"iss":"acme","sub":"`+draw(alphabets["hex"], 12)+`","role":"service"}`) + "." + draw(alphabets["b62"], 43)
		case m[3] == "base64":
			return encode([]byte(draw(alphabets["b62"], 24)))
		}
		return encode([]byte("deploy:" + draw(alphabets["b62"], 24)))
	})
}

// shownFrom is review.DefaultThreshold, which stands higher than this package.
const shownFrom = 75

// TestSecretForms plants a credential in every form, many times: each one is found,
// and shown at the default threshold.
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
				for _, f := range res.Findings {
					last += "\n      " + f.Rule
				}
			}
		}
		if missed += lost; lost > 0 {
			t.Errorf("%s: %d of %d not shown, such as\n%s", form.name, lost, rounds, last)
		}
	}
	t.Logf("%d forms, %d of %d shown", len(forms), planted-missed, planted)
}
