package secret

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// leaving are texts with a credential, by form, in the file in which they are. <b62:20> is
// a random value, <human> a password as people make them, ⟦base64:…⟧ an encoding of what
// is in it. The values are made when the test runs; see plant.
var leaving = []struct{ form, path, text string }{
	{"URL", "app/db.py", `DSN = "postgres://app:<human>@db.internal:5432/app"`},
	{"URL", "deploy/app.yml", "      DATABASE_URL: mysql2://root:<pw:12>@mysql/app?pool=5"},
	{"URL", "src/queue.ts", "const url = `amqps://svc:<b62:14>@mq.acme.io/vhost`"},
	{"URL", ".github/workflows/a.yml", "      - run: git clone https://oauth2:<b62:26>@git.acme.io/app.git"},
	{"URL", "app/a.go", `const proxy = "http://builder:<low:11>@proxy.corp:3128"`},
	{"URL", "docs/setup.md", "Use redis://:<human>@cache.acme.io:6379/1 for staging."},
	{"URL", "a.sh", "pip install --index-url https://<hex:40>@pypi.acme.io/simple app"},
	{"URL", "Gemfile", `source "https://<b62:20>:x-oauth-basic@gems.acme.io"`},
	{"URL", "app/a.go", `resp, err := http.Get("https://api.acme.io/v1/items?api_key=<b62:24>&page=2")`},
	{"URL", "app/a.js", "fetch(`https://api.acme.io/v1?access_token=<b62:18>`)"},

	{"header", "app/a.js", `headers: { Authorization: "Bearer <b62:32>" }`},
	{"header", "app/a.py", `requests.get(url, headers={"Authorization": "Basic ⟦base64:deploy:<human>⟧"})`},
	{"header", "a.sh", `curl -H "Authorization: token <hex:40>" https://git.acme.io/api/v1/repos`},
	{"header", "app/a.go", `req.Header.Set("Authorization", "Bearer <b62:24>")`},
	{"header", "app/a.rb", `request["X-Api-Key"] = "<b62:20>"`},
	{"header", "a.sh", `curl -H 'PRIVATE-TOKEN: <b62:20>' https://gitlab.acme.io/api/v4/projects`},
	{"header", "app/A.java", `.header("X-Auth-Token", "<hex:32>")`},
	{"header", "a.http", "GET /items HTTP/1.1\nHost: api.acme.io\nProxy-Authorization: Basic ⟦base64:svc:<pw:10>⟧"},
	{"header", "a.http", "Authorization: ApiKey <b62:22>"},

	{"prefix", "notes.md", "Groq takes gsk_<b62:52> since May."},
	{"prefix", "notes.md", "Deploy with nfp_<b62:36>, please."},
	{"prefix", "a.csv", "ann,sk-ant-oat01-<b62:95>,active"},
	{"prefix", "a.csv", "bob,sbp_<hex:40>,active"},
	{"prefix", "a.go", "login(\"dckr_pat_<b62:27>\")"},
	{"prefix", "a.go", "login(\"figd_<b62:43>\")"},
	{"prefix", "a.go", "login(\"GOCSPX-<b62:28>\")"},
	{"prefix", "a.sh", "tailscale up tskey-auth-k<b62:12>CNTRL-<b62:32>"},
	{"prefix", "a.sh", "hs pat-na1-<uuid>"},
	{"prefix", "a.py", "client('r8_<b62:37>')"},
	{"prefix", "a.py", "client('xai-<b62:80>')"},
	{"prefix", "a.py", "# was sk-or-v1-<hex:64>"},

	{"npmrc", "Dockerfile", `RUN echo "//npm.acme.io/:_authToken=<uuid>" > ~/.npmrc`},
	{"npmrc", "ci/setup.sh", "npm config set _auth ⟦base64:ci:<human>⟧"},
	{"npmrc", "ci/npm.txt", "//npm.acme.io/:_password=⟦base64:<human>⟧"},
	{"npmrc", "ci/yarnrc.yml", "npmScopes:\n  acme:\n    npmAuthToken: <b62:30>"},

	{"Docker", "docker/config.json", "{\n  \"auths\": {\n    \"registry.acme.io\": {\n      \"auth\": \"⟦base64:robot:<human>⟧\"\n    }\n  }\n}"},
	{"Docker", "docker/config.json", `{"auths":{"r.acme.io":{"username":"robot","password":"<pw:12>"}}}`},
	{"Docker", "docker/config.json", `{"auths":{"r.acme.io":{"identitytoken":"<b62:40>"}}}`},
	{"Docker", "a.sh", `docker login -u robot -p <human> registry.acme.io`},
	{"Docker", "a.sh", `echo "<human>" | docker login -u robot --password-stdin registry.acme.io`},
	{"Docker", "Makefile", "\tpodman login --username ci --password <b62:14> quay.io"},
	{"Docker", "Dockerfile", "ARG NPM_TOKEN=<uuid>"},
	{"Docker", "compose.yml", "    environment:\n      MYSQL_ROOT_PASSWORD: <human>"},

	{"kubeconfig", "ops/cluster.yml", "users:\n- name: admin\n  user:\n    client-key-data: ⟦base64:-----BEGIN EC PRIVATE <key>-----\n<b64:64>\n-----END EC PRIVATE KEY-----⟧"},
	{"kubeconfig", "ops/cluster.yml", "  user:\n    token: <b62:48>"},
	{"kubeconfig", "ops/cluster.yml", "  user:\n    username: admin\n    password: <human>"},

	{"PuTTY", "keys/deploy.txt", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: deploy\nPublic-Lines: 2\n<pub>\n<pub>\nPrivate-Lines: 1\n<b64:44>\nPrivate-MAC: <mac>"},
	{"PuTTY", "keys/deploy.txt", "PuTTY-User-Key-File-2: ssh-rsa\r\nPrivate-Lines: 3\r\n<b64:64>\r\n<b64:64>\r\n<b64:20>\r\nPrivate-MAC: <mac>\r"},

	{"webhook", "app/notify.py", `URL = "https://discord.com/api/webhooks/<dig:18>/<b62:68>"`},
	{"webhook", "app/notify.rb", `HOOK = 'https://discordapp.com/api/webhooks/<dig:18>/<b62:68>'`},
	{"webhook", "ci.yml", "  slack: https://hooks.slack.com/services/T<up:8>/B<up:10>/<b62:24>"},
	{"webhook", "app/a.cs", `var teams = "https://acme.webhook.office.com/webhookb2/<uuid>@<uuid>/IncomingWebhook/<hex:32>/<uuid>";`},
	{"webhook", "app/a.js", "post('https://chat.googleapis.com/v1/spaces/AAA/messages?key=<b62:39>&token=<b62:43>')"},
	{"webhook", "app/a.sh", "curl -d @m.json https://hooks.zapier.com/hooks/catch/<dig:7>/<low:9>/"},
	{"webhook", "app/a.py", `BOT = "https://api.telegram.org/bot<dig:9>:<b62:35>/sendMessage"`},
	{"webhook", "app/a.yml", "mattermost: https://chat.acme.io/hooks/<b36:26>"},

	{"XML", "nuget.config", "<packageSourceCredentials><acme>\n  <add key=\"Username\" value=\"ci\" />\n  <add key=\"ClearTextPassword\" value=\"<human>\" />\n</acme></packageSourceCredentials>"},
	{"XML", "settings.xml", "<server>\n  <id>acme</id>\n  <username>ci</username>\n  <password><human></password>\n</server>"},
	{"XML", "web.config", `<add name="Db" connectionString="Server=db;Database=app;User Id=sa;Password=<human>;Encrypt=True" />`},
	{"XML", "beans.xml", `<property name="password" value="<pw:10>"/>`},
	{"XML", "beans.xml", `<property name="password"><value><b62:12></value></property>`},
	{"XML", "context.xml", `<Resource name="jdbc/app" username="app" password="<human>" url="jdbc:mysql://db/app"/>`},
	{"XML", "app.config", `<appSettings><add key="StorageSecret" value="<b64:43>=" /></appSettings>`},
	{"XML", "strings.xml", `<string name="api_key"><b62:24></string>`},
	{"XML", "a.plist", "<key>ApiToken</key>\n<string><b62:24></string>"},

	{"netrc", "ci/a.sh", "cat > ~/.netrc <<EOF\nmachine api.heroku.com\n  login ops@acme.io\n  password <uuid>\nEOF"},
	{"netrc", "ci/a.txt", "machine git.acme.io login bot password <human>"},
	{"netrc", "ci/a.txt", "default login anonymous password <low:10>"},
	{"pgpass", "ci/a.sh", "db.internal:5432:app:app:<human>"},
	{"pgpass", "ci/a.sh", `echo "*:*:*:postgres:<b62:12>" > ~/.pgpass`},
	{"my.cnf", "ops/client.cnf", "[client]\nuser=backup\npassword=<human>\nhost=db"},
	{"my.cnf", "ops/client.cnf", "[mysqldump]\npassword = \"<pw:11>\""},

	{"JDBC", "app/A.java", `String url = "jdbc:postgresql://db:5432/app?user=app&password=<human>&ssl=true";`},
	{"JDBC", "app.properties", "url=jdbc:sqlserver://db:1433;databaseName=app;user=sa;password=<human>;encrypt=true"},
	{"JDBC", "app.properties", "url=jdbc:oracle:thin:scott/<b62:9>@db:1521/app"},
	{"JDBC", "app/A.java", `DriverManager.getConnection(url, "app", "<human>");`},
	{"connection", "app/a.cs", `new SqlConnection("Data Source=db;Initial Catalog=app;User ID=app;Pwd=<pw:10>");`},
	{"connection", "app/a.json", `"AzureWebJobsStorage": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=<b64:86>==;EndpointSuffix=core.windows.net"`},
	{"connection", "app/a.json", `"bus": "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=<b64:43>="`},
	{"connection", "app/a.py", `conn = psycopg2.connect("host=db dbname=app user=app password=<human>")`},

	{"SAS", "app/a.py", `URL = "https://a.blob.core.windows.net/c/f?sv=2022-11-02&sr=b&sp=r&se=2026-01-01&sig=<b62:40>%3D"`},
	{"SAS", "app/a.cs", `"SharedAccessSignature sr=https%3a%2f%2fa.azure-devices.net&sig=<b62:40>%3d&se=1735689600"`},
	{"SAS", "docs/a.md", "https://b.s3.amazonaws.com/f?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-Signature=<hex:64>"},
	{"SAS", "docs/a.md", "https://storage.googleapis.com/b/f?GoogleAccessId=a&Expires=1&Signature=<b62:60>%3D"},

	{"cookie", "tests/login.http", "Cookie: theme=dark; session=<b62:40>"},
	{"cookie", "app/a.sh", "curl -b 'JSESSIONID=<hex:32>' https://app.acme.io"},
	{"cookie", "app/a.py", `cookies = {"sessionid": "<b36:32>"}`},
	{"cookie", "app/a.py", `s.headers["Cookie"] = "_app_session=<b64:60>; path=/"`},

	{"JWT", "app/a.js", `localStorage.setItem("t", "⟦jwt:<b62:43>⟧")`},
	{"JWT", "a.sh", `TOKEN=⟦jwt:<b62:43>⟧`},

	{"PEM", "app/A.java", "String k = \"-----BEGIN RSA PRIVATE <key>-----\\n\" +\n    \"<b64:64>\\n\" +\n    \"<b64:64>\\n\" +\n    \"-----END RSA PRIVATE KEY-----\";"},
	{"PEM", "app/a.json", `{"private_key": "-----BEGIN PRIVATE <key>-----\n<b64:64>\n<b64:64>\n-----END PRIVATE KEY-----\n"}`},
	{"PEM", "app/a.go", "const k = `-----BEGIN EC PRIVATE <key>-----\n<b64:64>\n<b64:64>\n`"},
	{"PEM", "app/a.js", "const k = [\n  '-----BEGIN RSA PRIVATE <key>-----',\n  '<b64:64>',\n  '<b64:64>',\n  '-----END RSA PRIVATE KEY-----'].join('\\n')"},
	{"PEM", "app/a.py", "K = (\"-----BEGIN OPENSSH \" \"PRIVATE <key>-----\\n\"\n     \"<b64:70>\\n\"\n     \"<b64:40>\\n\")"},
	{"PEM", "app/a.yml", "tls:\n  key: |\n    -----BEGIN PRIVATE <key>-----\n    <b64:64>\n    <b64:64>\n    -----END PRIVATE KEY-----"},

	{"YAML block", "ops/values.yaml", "db:\n  password: |\n    <human>\n"},
	{"YAML block", "ops/values.yaml", "auth_token: >-\n  <b62:32>\n"},
	{"YAML block", "ops/values.yaml", "ca:\n  signing_key: |-\n    <b64:64>\n    <b64:64>\n"},

	{"Kubernetes", "ops/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  pg: ⟦base64:<human>⟧\n  user: ⟦base64:app-<dig:6>⟧"},
	{"Kubernetes", "ops/secret.yaml", "apiVersion: v1\nstringData:\n  value: <low:10>\nkind: Secret"},
	{"Kubernetes", "ops/secret.yaml", "kind: Secret\nstringData:\n  app.ini: |\n    [db]\n    pw = <human>\n"},
	{"Kubernetes", "ops/secret.yaml", "  user: app\n  pg: ⟦base64:<human>⟧\n  other: x"},
	{"PEM", "app/a.go", "<b64:64>\n<b64:64>\n<b64:64>\n"},
	{"Kubernetes", "ops/deploy.yaml", "        env:\n        - name: DB_PASSWORD\n          value: <human>"},
	{"Kubernetes", "a.sh", "kubectl create secret generic db --from-literal=password=<human>"},
	{"Kubernetes", "a.sh", "helm install app ./chart --set postgres.password=<human>"},

	{"Terraform", "main.tf", `  administrator_login_password = "<b62:16>"`},
	{"Terraform", "main.tf", "  master_password      = \"<human>\"\n"},
	{"Terraform", "variables.tf", "variable \"db_password\" {\n  type    = string\n  default = \"<human>\"\n}"},
	{"Terraform", "prod.tfvars", `api_token = "<b62:24>"`},
	{"Terraform", "state.json", `"attributes": {"username": "app", "password": "<human>"}`},

	{"ini", "app/settings.ini", "[smtp]\nuser = mailer\npassword = <human>"},
	{"ini", "app/app.properties", "spring.datasource.password=<human>"},
	{"ini", "app/app.properties", "jwt.secret: <b62:18>"},
	{"ini", "app/app.toml", `secret_key = '<b62:32>'`},
	{"ini", "ops/redis.conf", "requirepass <human>"},
	{"ini", "ops/wpa.conf", "network={\n  ssid=\"acme\"\n  psk=\"<human>\"\n}"},
	{"env", "ops/app.txt", "export DB_PASSWORD=<human>"},
	{"env", "ops/app.txt", `export STRIPE_SECRET="<b62:30>"`},
	{"env", "ops/run.sh", "PGPASSWORD=<human> psql -h db -U app"},
	{"env", "ops/run.ps1", `$env:API_TOKEN = "<b62:24>"`},
	{"env", "ops/run.bat", "set DB_PASS=<human>"},
	{"env", "Dockerfile", "ENV SECRET_KEY_BASE <hex:64>"},

	{"PHP", "wp-config.php", `define('DB_PASSWORD', '<human>');`},
	{"PHP", "wp-config.php", `define( "AUTH_KEY", "<pw:40>" );`},
	{"PHP", "app/db.php", `$dbpass = '<human>';`},
	{"PHP", "app/db.php", `$db = new mysqli("db", "app", "<human>", "app");`},
	{"PHP", "app/db.php", `'password' => '<human>',`},
	{"Python", "app/a.py", `EMAIL_HOST_PASSWORD = "<human>"`},
	{"Python", "app/a.py", `client = Client(user="svc", password="<human>")`},
	{"Python", "app/a.py", `smtp.login("mailer@acme.io", "<human>")`},
	{"Python", "app/a.py", `requests.get(url, auth=("svc", "<human>"))`},
	{"JavaScript", "app/a.js", `const apiSecret = '<b62:20>';`},
	{"JavaScript", "app/a.ts", "  private readonly clientSecret: string = \"<b62:24>\";"},
	{"JavaScript", "app/a.js", `module.exports = { password: '<human>' }`},
	{"JavaScript", "app/a.js", "const p = process.env.DB_PASSWORD || '<human>'"},
	{"Go", "app/a.go", `const dbPassword = "<human>"`},
	{"Go", "app/a.go", "cfg := Config{\n\tPassword: \"<human>\",\n}"},
	{"Go", "app/a.go", `smtp.PlainAuth("", "mailer", "<human>", "mail.acme.io")`},
	{"Go", "app/a.go", `req.SetBasicAuth("svc", "<human>")`},
	{"Java", "app/A.java", `private static final String DB_PASSWORD = "<human>";`},
	{"Java", "app/A.java", `dataSource.setPassword("<human>");`},
	{"Java", "app/A.java", `new PasswordAuthentication("svc", "<human>".toCharArray());`},
	{"C#", "app/a.cs", `new NetworkCredential("svc", "<human>")`},

	{"shell", "a.sh", "curl -u admin:<human> https://ci.acme.io/build"},
	{"shell", "a.sh", "curl -fsS \\\n  --user 'svc:<human>' \\\n  https://api.acme.io"},
	{"shell", "a.sh", "mysql -uroot -p<human> app < dump.sql"},
	{"shell", "a.sh", "mysqldump --user=root --password='<human>' app"},
	{"shell", "a.sh", "sshpass -p '<human>' ssh ops@db"},
	{"shell", "a.sh", "redis-cli -h cache -a <human> ping"},
	{"shell", "a.sh", "openssl rsa -in k.pem -passin pass:<human>"},
	{"shell", "a.sh", "keytool -genkey -storepass <human> -alias a"},
	{"shell", "a.sh", "echo 'ops:<human>' | chpasswd"},
	{"shell", "a.sh", "ldapsearch -x -D cn=admin,dc=acme -w <human> -b dc=acme"},
	{"shell", "a.sh", "sqlcmd -S db -U sa -P '<human>' -Q 'select 1'"},
	{"shell", "a.ps1", `ConvertTo-SecureString "<human>" -AsPlainText -Force`},
	{"SQL", "a.sql", "CREATE USER app IDENTIFIED BY '<human>';"},
	{"SQL", "a.sql", "ALTER ROLE app WITH LOGIN PASSWORD '<human>';"},

	{"split", "app/a.js", `const key = "AKIA" + "<b32:8>" + "<b32:8>"`},
	{"split", "app/a.py", "TOKEN = (\"ghp_\" \"<b62:18>\"\n         \"<b62:18>\")"},
	{"split", "app/A.java", "String password = \"<b62:6>\" +\n    \"<b62:8>\";"},
	{"split", "app/a.js", `const token = ["<b62:8>", "<b62:8>", "<b62:8>"].join("")`},
	{"split", "app/a.php", `$url = 'postgres://app:' . '<human>' . '@db/app';`},
	{"split", "a.sh", "export DB_PASSWORD=\\\n<human>"},
	{"encoded", "app/a.py", `exec(base64.b64decode("⟦base64:password = '<human>'⟧"))`},
	{"encoded", "app/a.py", `K = bytes.fromhex("⟦hex:postgres://app:<human>@db/app⟧")`},
	{"encoded", "app/a.js", `const dbPassword = "⟦x:<human>⟧"`},
	{"encoded", "app/a.java", `String password = "⟦u:<human>⟧";`},
	{"encoded", "app/a.js", `fetch("https://svc:⟦percent:<human>⟧@api.acme.io")`},
	{"encoded", "app/a.html", `<input type="password" name="password" value="⟦entities:<human>⟧">`},
	{"encoded", "app/a.js", `const password = String.fromCharCode(⟦codes:<human>⟧)`},
	{"encoded", "app/a.ps1", `powershell -EncodedCommand ⟦utf16:$pwd = "<human>"⟧`},
	{"encoded", "app/a.py", `X = "⟦base64:⟦base64:api_key = "<b62:32>"⟧⟧"`},
	{"encoded", "app/a.yml", "kubeconfig: ⟦base64:users:\n- name: a\n  user:\n    token: <b62:40>\n⟧"},
	{"encoded", "app/a.tf", `user_data = "⟦base64:#!/bin/sh\nmysql -uroot -p<human>\n⟧"`},
}

var (
	plantHole = regexp.MustCompile(`<(b62|b64|b36|b32|hex|dig|low|up|pw|bech):(\d+)>|<(human|uuid|key|pub|pub43|mac)>`)
	plantCode = regexp.MustCompile(`⟦([a-z0-9]+):([^⟦⟧]*)⟧`)
)

// plant replaces the holes of a text and returns the secrets in it, as they are written there.
func plant(r *rand.Rand, text string) (string, []string) {
	var secrets []string
	draw := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.Intn(len(alphabet))]
		}
		return string(b)
	}
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	alphabets := map[string]string{
		"b62": lower + upper + digits, "b64": lower + upper + digits + "+/", "b36": lower + digits, "b32": upper + "234567", "hex": digits + "abcdef",
		"bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", "dig": digits, "low": lower, "up": upper + digits, "pw": lower + upper + digits + "!#%^*-_=+",
	}
	text = plantHole.ReplaceAllStringFunc(text, func(h string) string {
		m := plantHole.FindStringSubmatch(h)
		var value string
		switch m[3] {
		case "key":
			return "KEY"
		case "mac":
			return draw(alphabets["hex"], 64)
		case "pub43":
			return draw(alphabets["b62"], 43)
		case "pub":
			return draw(alphabets["b64"], 64)
		case "uuid":
			value = draw(alphabets["hex"], 8) + "-" + draw(alphabets["hex"], 4) + "-4" + draw(alphabets["hex"], 3) + "-a" + draw(alphabets["hex"], 3) + "-" + draw(alphabets["hex"], 12)
		case "human":
			words := []string{"Sommer", "dragon", "Berlin", "coffee", "Winter", "monkey", "Purple", "tiger"}
			value = words[r.Intn(len(words))] + draw("!#*+", 1) + words[r.Intn(len(words))] + draw(digits, 2)
		default:
			n, _ := strconv.Atoi(m[2])
			value = draw(alphabets[m[1]], n)
		}
		secrets = append(secrets, value)
		return value
	})
	for plantCode.MatchString(text) {
		text = plantCode.ReplaceAllStringFunc(text, func(c string) string {
			m := plantCode.FindStringSubmatch(c)
			coded := encodeAs(m[1], m[2])
			secrets = append(secrets, coded)
			return coded
		})
	}
	var written []string
	for _, s := range secrets {
		if strings.Contains(text, s) {
			written = append(written, s)
		}
	}
	return text, written
}

func encodeAs(how, s string) string {
	var b strings.Builder
	each := func(format string) string {
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
	switch how {
	case "base64":
		return base64.StdEncoding.EncodeToString([]byte(s))
	case "hex":
		return hex.EncodeToString([]byte(s))
	case "base32":
		return base32.StdEncoding.EncodeToString([]byte(s))
	case "x":
		return each(`\x%02x`)
	case "u":
		return each(`\u%04x`)
	case "percent":
		return each("%%%02X")
	case "entities":
		return each("&#%d;")
	case "codes":
		return strings.TrimSuffix(each("%d, "), ", ")
	case "utf16":
		for _, c := range []byte(s) {
			b.Write([]byte{c, 0})
		}
		return base64.StdEncoding.EncodeToString([]byte(b.String()))
	case "jwt":
		part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"iss":"acme","sub":"17"}`) + "." + s
	}
	panic(how)
}

// remains returns a part of a secret that is in a text: eight bytes, or all of a shorter one.
func remains(text string, secrets []string) string {
	for _, s := range secrets {
		n := min(8, len(s))
		for i := 0; i+n <= len(s); i++ {
			if strings.Contains(text, s[i:i+n]) {
				return s[i : i+n]
			}
		}
	}
	return ""
}

// TestLeaving keeps the promise of the threat model "redact with gitleaks-class rules before egress" (T29): credentials
// on their way to a provider or a forge are redacted, in the file that they are in, and where it is not known.
func TestLeaving(t *testing.T) {
	const rounds = 5
	planted, missed := map[string]int{}, map[string]int{}
	lost := 0
	for i, sample := range leaving {
		bad := false
		for seed := range int64(rounds) {
			text, secrets := plant(rand.New(rand.NewSource(seed*1000+int64(i))), sample.text)
			for _, path := range []string{sample.path, ""} {
				if Private(path) {
					t.Fatalf("%s is not shown at all", path)
				}
				clean, _ := Redact(path, text)
				if rest := remains(clean, secrets); rest != "" && !bad {
					bad = true
					t.Logf("%s in %q: %q remains of\n%s\n%s", sample.form, path, rest, text, clean)
				}
			}
		}
		planted[sample.form]++
		if bad {
			missed[sample.form]++
			lost++
		}
	}
	for form, n := range planted {
		t.Logf("%-12s %d of %d", form, n-missed[form], n)
	}
	if t.Logf("%d of %d samples are redacted", len(leaving)-lost, len(leaving)); len(leaving) < 112 || lost*112 > 7*len(leaving) {
		t.Errorf("%d of %d samples are not redacted", lost, len(leaving))
	}
}
