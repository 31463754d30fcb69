package secret

import (
	"bytes"
	"path"
	"strings"
)

// private matches names of files that hold credentials. template matches samples of
// them, which people commit to be filled in.
var (
	private  = compile(`(?i)^(\.env(\..+)?|.+\.env|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.htpasswd|\.git-credentials|\.npmrc|\.pypirc|\.dockercfg|\.dockerconfigjson|\.vault-token|kubeconfig|.+\.tfstate(\.backup)?|id_(rsa|dsa|ecdsa|ed25519)|.+\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk))$`)
	template = compile(`(?i)\.(example|sample|template|dist|tpl)(\..+)?$`)
	// privatePath matches those that only their folder tells from others.
	privatePath = compile(`(?i)(^|/)(\.aws/credentials|\.docker/config\.json|\.kube/config)$`)
)

// Private reports whether a file holds credentials, by its name. No model may see its content.
func Private(name string) bool {
	base := path.Base(name)
	return private().MatchString(base) && !template().MatchString(base) || privatePath().MatchString(name)
}

// hiddenFile replaces the lines of a private file.
const hiddenFile = "[REDACTED:private-file]"

// RedactFile returns a file's text without its secrets, and a private file with a
// marker in place of each line. It also scans content that looks binary, otherwise
// one odd byte would bypass it. The result has as many lines as the file.
func RedactFile(name string, data []byte) []byte {
	lines := bytes.Count(data, []byte("\n"))
	repeated := func(marker string) []byte {
		out := strings.Repeat(marker+"\n", lines)
		if len(data) > 0 && data[len(data)-1] != '\n' {
			out += marker
		}
		return []byte(out)
	}
	if Private(name) {
		return repeated(hiddenFile)
	}
	clean, n := Redact(name, string(data))
	switch {
	case n == 0:
		return data
	case strings.Count(clean, "\n") != lines:
		return repeated(marker("unscanned")) // too expensive to scan
	}
	return []byte(clean)
}
