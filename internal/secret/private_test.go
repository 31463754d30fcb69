package secret

import (
	"strings"
	"testing"
)

func TestPrivate(t *testing.T) {
	for name, want := range map[string]bool{
		".env": true, "app/.env.production": true, "prod.env": true, ".env.example": false, "deploy/.env.sample": false, "env.go": false,
		"tls/server.key": true, "tls/server.pem": true, "keys.go": false, "home/.ssh/id_ed25519": true, "id_ed25519.pub": false,
		".netrc": true, "monkey.txt": false, "STORE.JKS": true, "env/main.tf": false,
		"ops/kubeconfig": true, "home/.kube/config": true, "kube/config": false, ".docker/config.json": true, "docker/config.json": false, "a/.aws/credentials": true,
		"prod.tfstate": true, "prod.tfstate.backup": true,
	} {
		if Private(name) != want {
			t.Errorf("Private(%q) = %t", name, !want)
		}
	}
}

// TestShown: secrets go, line numbers stay, and what is not text is left alone.
func TestShown(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE " + "KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA7yBhzIMgnvhpWhS2Wdq7kQpBzT1kxVQ\n", 8) + "-----END RSA PRIVATE " + "KEY-----\n"
	for name, test := range map[string]struct{ data, want, never string }{
		"a.go":    {"x := \"" + aws(1) + "\"\ny\n", "[REDACTED:", aws(1)},
		"k.txt":   {"a\n" + pem + "b\n", "[REDACTED:", "MIIEpAIBAAKCAQEA7yBh"},
		".env":    {"A=b\nPASSWORD=hunter2", hiddenFile + "\n" + hiddenFile, "hunter2"},
		"main.go": {"package main\n", "package main\n", "REDACTED"},
		"odd.go":  {"\x00\n\xff" + aws(2) + "\n", "[REDACTED:", aws(2)},
	} {
		got := string(RedactFile(name, []byte(test.data)))
		if !strings.Contains(got, test.want) || strings.Contains(got, test.never) || strings.Count(got, "\n") != strings.Count(test.data, "\n") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
