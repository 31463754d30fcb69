package precedent

import (
	"encoding/json"
	"errors"
	"regexp"
	"testing"
)

func TestParseRepo(t *testing.T) {
	for remote, want := range map[string]string{
		"https://github.com/acme/app.git":          "github.com/acme/app",
		"https://dana:secret@GitHub.com/acme/app/": "github.com/acme/app",
		"https://github.com:443/acme/app":          "github.com/acme/app",
		"git@github.com:acme/app.git":              "github.com/acme/app",
		"ssh://git@github.com:22/acme/app.git":     "github.com/acme/app",
		"github.com/acme/app":                      "github.com/acme/app",
		"https://forge.example:8443/acme/app":      "forge.example:8443/acme/app",
		"forge.example:8443/acme/app":              "forge.example:8443/acme/app",
		"ssh://git@forge.example:2222/acme/app":    "forge.example:2222/acme/app",
		"ssh://git@gitlab.com:2222/group/sub/app":  "gitlab.com:2222/group/sub/app",
		"http://[::1]:3000/acme/app":               "[::1]:3000/acme/app",
		"file:///srv/git/app.git":                  "file/srv/git/app",
		"/srv/git/app.git":                         "file/srv/git/app",

		"git@forge.example:2222/acme/app.git":                "forge.example/2222/acme/app", // a path to git: the user says so
		"[git@forge.example:2222]:acme/app.git":              "forge.example:2222/acme/app",
		"git@[forge.example:2222]:acme/app":                  "forge.example:2222/acme/app",
		"[git@forge.example]:acme/app":                       "forge.example/acme/app",
		"[git@forge.example:22]:/acme/app":                   "forge.example/acme/app",
		"[git@2001:db8::1]:acme/app.git":                     "[2001:db8::1]/acme/app",
		"ssh://git@[2001:DB8::1]:2222/acme/app":              "[2001:db8::1]:2222/acme/app",
		"ssh://git@ssh.github.com:443/acme/app.git":          "github.com/acme/app",
		"[git@ssh.github.com:443]:acme/app.git":              "github.com/acme/app",
		"ssh://git@altssh.gitlab.com:443/group/sub/app.git/": "gitlab.com/group/sub/app",
		"https://ssh.github.com/acme/app":                    "ssh.github.com/acme/app",
		"git+ssh://git@GitHub.com/acme/app.git/":             "github.com/acme/app",
		"dana@forge.example:~/code/app.git":                  "forge.example/~/code/app",
		"https://forge.example/acme/caf%C3%A9%20bar.git":     "forge.example/acme/café bar",
		"git@forge.example:acme/a%20b":                       "forge.example/acme/a%20b", // git decodes URLs only
		"https://forge.example./acme/app":                    "forge.example/acme/app",
		"git@gist.github.com:dana/0123abc.git":               "gist.github.com/dana/0123abc",
		`C:\src\app`:                                         "file/C:/src/app",
	} {
		got, err := ParseRepo(remote)
		if err != nil || got.String() != want {
			t.Errorf("ParseRepo(%q) = %q, %v; want %q", remote, got, err, want)
			continue
		}
		b, err := json.Marshal(got)
		var back Repo
		if err != nil || json.Unmarshal(b, &back) != nil || back != got {
			t.Errorf("%s came back from JSON as %q", b, back)
		}
	}
	for _, bad := range []string{
		"", " ", "app", "acme/app", "https://github.com/app", "github.com//", "a\nb/c/d", "http://%zz/a/b",
		"ext::sh -c a/b/c", "ssh://git@forge.example:acme/app", "git@gist.github.com:0123abc.git", "https://forge.example/acme/a%00b", "https://forge.example/acme/a%0ab",
		"git@forge.example:#/7", "forge.example/#/7", "https://a%2fb/c/d", "[git@forge.example:22:33]:a/b", "https:///a/b", "ssh://", "[]:a/b", "@:a/b", "https://forge.example/a/ .git",
	} {
		if got, err := ParseRepo(bad); !errors.Is(err, ErrRepo) {
			t.Errorf("ParseRepo(%q) = %v, %v", bad, got, err)
		}
	}
}

func FuzzParseRepo(f *testing.F) {
	for _, s := range []string{
		"https://a.b/c/d", "git@h:o/n.git", "h:1/o/n", "[::1]/a/b", "a/b/c.git.git", "git@h:group/sub/project/app.git", "h/g/../s//p/n",
		"[git@h:2222]:o/n", "ssh://git@[::1]:2222/o/n/", "u@[::1]:o/n", "h:~/o/n", "https://h/%6f/n%2fm", `C:\o\n`, "ssh://u@ssh.github.com:443/o/n",
	} {
		f.Add(s)
	}
	plain := regexp.MustCompile(`^[a-z][a-z0-9]*(/[A-Za-z0-9_-]+){2,}$`)
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRepo(s)
		if err == nil && (r.Host == "" || r.Owner == "" || r.Name == "") {
			t.Errorf("ParseRepo(%q) = %#v", s, r)
		}
		if again, wrong := ParseRepo(r.String()); err == nil && (wrong != nil || again != r) {
			t.Errorf("ParseRepo(%q) = %#v, read back as %#v, %v", s, r, again, wrong)
		}
		// However deep its owner lies, a clone by SSH and one by HTTPS are of one repository.
		if err != nil || !plain.MatchString(r.String()) {
			return
		}
		for _, remote := range []string{r.String(), "https://" + r.String() + ".git", "git@" + r.Host + ":" + r.Owner + "/" + r.Name + ".git", "ssh://git@" + r.String()} {
			if again, err := ParseRepo(remote); err != nil || again != r {
				t.Errorf("%s is %#v, %v; want %#v", remote, again, err, r)
			}
		}
	})
}
