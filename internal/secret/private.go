package secret

import (
	"bytes"
	"path"
	"strings"
)

// private are names of files that are made to hold credentials. Samples of them,
// which people commit to be filled in, are none.
var (
	private  = compile(`(?i)^(\.env(\..+)?|.+\.env|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.htpasswd|\.git-credentials|\.npmrc|\.pypirc|id_(rsa|dsa|ecdsa|ed25519)|.+\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk))$`)
	template = compile(`(?i)\.(example|sample|template|dist|tpl)(\..+)?$`)
)

// Private tells whether a file is made to hold credentials, by its name: nothing
// of it is to be shown to a model.
func Private(name string) bool {
	base := path.Base(name)
	return private().MatchString(base) && !template().MatchString(base)
}

// hiddenFile stands for the lines of a private file.
const hiddenFile = "[REDACTED:private-file]"

// RedactFile is what may be shown of a file: its text without its secrets, and of
// private files markers in the place of their lines. It looks into what seems
// binary as well, or one odd byte would open the door. The result has as many
// lines as the file.
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
	clean, n := Redact(string(data))
	switch {
	case n == 0:
		return data
	case strings.Count(clean, "\n") != lines:
		return repeated(marker("unscanned")) // too costly to look through
	}
	return []byte(clean)
}
