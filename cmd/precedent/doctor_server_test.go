package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/doctor"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// serverRows is what precedent doctor --server says, by the names of its rows; of several with one
// name, the first. No row shows a secret.
func (s *prStage) serverRows(flags map[string]string) (rows map[string]doctor.Check, works bool) {
	s.t.Helper()
	d, err := s.app.diagnoseServer(s.t.Context(), flags, false)
	if err != nil {
		s.t.Fatal(err)
	}
	rows = map[string]doctor.Check{}
	for _, c := range d.Checks {
		if _, twice := rows[c.Name]; !twice {
			rows[c.Name] = c
		}
	}
	for _, name := range []string{webhookSecret, webhookSecretOld, markerKeyVariable, "GH_TOKEN"} {
		if secret := s.app.env[name]; secret != "" && strings.Contains(fmt.Sprint(d.Checks), secret) {
			s.t.Errorf("%s is shown: %+v", name, d.Checks)
		}
	}
	return rows, d.Works
}

// TestDoctorServer: what a server lacks is named, and a server that has everything works.
func TestDoctorServer(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	long := strings.Repeat("s3", 16)
	served := map[string]string{"listen": "off"}
	with := func(more ...string) map[string]string {
		flags := map[string]string{"listen": "off"}
		for i := 0; i < len(more); i += 2 {
			flags[more[i]] = more[i+1]
		}
		return flags
	}
	for _, test := range []struct {
		name, row  string
		env        map[string]string
		flags      map[string]string
		state      doctor.State
		says, hint string
	}{
		{"a token", "forge", nil, served, doctor.OK, "as " + forgetest.Bot.Login, ""},
		{"its repositories", "repositories", nil, served, doctor.OK, "1 that the token may write to", ""},
		{
			"its labels", "labels", nil, served, doctor.OK,
			"the first round in a repository creates bot-review-needed, bot-changes-needed, ", "",
		},
		{
			"no token", "forge",
			map[string]string{"GH_TOKEN": ""},
			served, doctor.Missing, "without a token",
			"set GITHUB_TOKEN or GH_TOKEN",
		},
		{
			"a wrong token", "forge",
			map[string]string{"GH_TOKEN": "ghp_wrong"},
			served, doctor.Missing,
			"look up the account of the token", "GITHUB_TOKEN",
		},
		{
			"a repository elsewhere", "repositories", nil, with("repositories", "example.org/octo/app"), doctor.Missing,
			"is not on", "",
		},
		{"no webhooks", "webhooks", nil, served, doctor.OK, "none; changes are found within 1m0s", webhookSecret},
		{
			"no secret", "webhooks", nil, with("webhook-url", "https://reviews.example.org/webhooks/github"), doctor.Warning,
			webhookSecret + " is not set", "--webhook-url",
		},
		{
			"a short secret", "webhooks",
			map[string]string{webhookSecret: "s3s3s3s3"},
			served, doctor.Warning,
			"fewer than 16 bytes", "openssl",
		},
		{
			"a short old secret", "webhooks",
			map[string]string{webhookSecret: long, webhookSecretOld: "s3s3s3s3"},
			served,
			doctor.Warning, "fewer than 16 bytes", "openssl",
		},
		{
			"the old secret only", "webhooks",
			map[string]string{webhookSecretOld: long},
			served, doctor.Warning,
			"only " + webhookSecretOld, webhookSecret,
		},
		{
			"a secret", "webhooks",
			map[string]string{webhookSecret: long},
			served, doctor.OK, webhookSecret + " is set",
			"--webhook-url",
		},
		{
			"no redelivery", "redelivery",
			map[string]string{webhookSecret: long},
			with("webhook-url", "https://reviews.example.org/webhooks/github"), doctor.Warning,
			"failed deliveries are not sent again: the token cannot see the webhooks", "--webhook-url",
		},
		{"no database", "database", nil, served, doctor.OK, "none yet; the first start creates ", ""},
		{
			"a bad database", "database",
			map[string]string{databaseVariable: "mysql://x"},
			served, doctor.Missing,
			"postgres://", "",
		},
		{
			"no data folder", "database",
			map[string]string{"HOME": ""},
			served, doctor.Missing, "no data folder",
			"XDG_DATA_HOME",
		},
		{"no marker key", "marker key", nil, served, doctor.OK, "none yet", ""},
		{
			"a marker key", "marker key",
			map[string]string{markerKeyVariable: strings.Repeat("k7", 16)},
			served, doctor.OK,
			"from " + markerKeyVariable, "",
		},
		{"no sandbox", "sandbox", map[string]string{"PATH": "/nowhere"}, served, doctor.Warning, "", ""},
		{
			"a missing file", "secrets",
			map[string]string{webhookSecret + "_FILE": "/nowhere/secret"},
			served, doctor.Missing,
			webhookSecret + "_FILE", "",
		},
		{"no address", "address", nil, served, doctor.OK, "off", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := maps.Clone(s.app.env)
			maps.Copy(s.app.env, test.env)
			rows, works := s.serverRows(test.flags)
			s.app.env = before
			got, said := rows[test.row]
			if test.row == "sandbox" && got.State == doctor.OK { // Precedent makes its own here
				t.Skip("a sandbox needs no program here")
			}
			if !said || got.State != test.state || !strings.Contains(got.Text, test.says) ||
				!strings.Contains(got.Hint, test.hint) {
				t.Errorf("%+v, want %s %q, hint %q\nall: %+v", got, test.state, test.says, test.hint, rows)
			}
			if test.state == doctor.Missing && works {
				t.Error("it works")
			}
			if files, _ := filepath.Glob(filepath.Join(s.home, ".local", "share", "precedent", "*")); len(files) > 0 {
				t.Errorf("it made %q", files)
			}
		})
	}
}

// TestDoctorServerChangesNothing: the database of a server is looked at without making or upgrading
// its tables, on both engines.
func TestDoctorServerChangesNothing(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgresql"} {
		t.Run(engine, func(t *testing.T) {
			s := newPRStage(t)
			if engine == "postgresql" {
				s.app.env[databaseVariable] = needs.PostgreSQL(t)
			} else if err := os.MkdirAll(s.app.workflow().DataDir, 0o700); err != nil {
				t.Fatal(err)
			} else if err := os.WriteFile(filepath.Join(s.app.workflow().DataDir, "server.db"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second look finds what the first one left
				if rows, _ := s.serverRows(map[string]string{"listen": "off"}); !strings.Contains(rows["database"].Text,
					"empty; the first start makes its tables") {
					t.Errorf("%+v", rows["database"])
				}
			}
			db, err := s.app.workflow().OpenInstallation(t.Context(), s.app.env[databaseVariable], s.app.workflow().DataDir)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			rows, _ := s.serverRows(map[string]string{"listen": "off"})
			if !strings.Contains(rows["database"].Text, "undamaged") || !strings.Contains(rows["marker key"].Text, "none yet") {
				t.Errorf("%+v", rows)
			}
			if _, err := db.KeepValue(t.Context(), markerKeyName, newKey()); err != nil {
				t.Fatal(err)
			}
			if rows, _ := s.serverRows(map[string]string{"listen": "off"}); !strings.Contains(rows["marker key"].Text,
				"in the database") {
				t.Errorf("%+v", rows["marker key"])
			}
		})
	}
}
