package main

import (
	"fmt"
	"maps"
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
	all := map[string]string{"listen": "off"}
	maps.Copy(all, flags)
	d, err := s.app.diagnoseServer(s.t.Context(), all, false)
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
	const hook, url = "webhooks", "https://reviews.example.org/webhooks/github"
	long := strings.Repeat("s3", 16)
	type pairs = map[string]string
	for _, test := range []struct {
		name, row  string
		env, flags pairs
		state      doctor.State
		says, hint string
	}{
		{"a token", "forge", nil, nil, doctor.OK, "as " + forgetest.Bot.Login, ""},
		{"its repositories", "repositories", nil, nil, doctor.OK, "1 that the token may write to", ""},
		{
			"its labels", "labels", nil, nil, doctor.OK,
			"the first round in a repository creates bot-review-needed, bot-changes-needed, ", "",
		},
		{"no token", "forge", pairs{"GH_TOKEN": ""}, nil, doctor.Missing, "without a token", "set GITHUB_TOKEN or GH_TOKEN"},
		{
			"a wrong token", "forge",
			pairs{"GH_TOKEN": "ghp_wrong"},
			nil, doctor.Missing, "look up the account of the token",
			"GITHUB_TOKEN",
		},
		{"elsewhere", "repositories", nil, pairs{"repositories": "example.org/octo/app"}, doctor.Missing, "is not on", ""},
		{"no webhooks", hook, nil, nil, doctor.OK, "none; changes are found within 1m0s", webhookSecret},
		{"no secret", hook, nil, pairs{"webhook-url": url}, doctor.Warning, webhookSecret + " is not set", "--webhook-url"},
		{"a short secret", hook, pairs{webhookSecret: "s3s3s3s3"}, nil, doctor.Warning, "fewer than 16 bytes", "openssl"},
		{
			"a short old secret", hook,
			pairs{webhookSecret: long, webhookSecretOld: "s3s3s3s3"},
			nil, doctor.Warning,
			"fewer than 16 bytes", "openssl",
		},
		{
			"the old secret only", hook,
			pairs{webhookSecretOld: long},
			nil, doctor.Warning, "only " + webhookSecretOld,
			webhookSecret,
		},
		{"a secret", hook, pairs{webhookSecret: long}, nil, doctor.OK, webhookSecret + " is set", "--webhook-url"},
		{
			"no redelivery", "redelivery",
			pairs{webhookSecret: long},
			pairs{"webhook-url": url},
			doctor.Warning,
			"failed deliveries are not sent again: the token cannot see the webhooks", "--webhook-url",
		},
		{"no database", "database", nil, nil, doctor.OK, "none yet; the first start creates ", ""},
		{"a bad database", "database", pairs{databaseVariable: "mysql://x"}, nil, doctor.Missing, "postgres://", ""},
		{"no data folder", "database", pairs{"HOME": ""}, nil, doctor.Missing, "no data folder", "XDG_DATA_HOME"},
		{"no marker key", "marker key", nil, nil, doctor.OK, "none yet", ""},
		{"a marker key", "marker key", pairs{markerKeyVariable: long}, nil, doctor.OK, "from " + markerKeyVariable, ""},
		{"no sandbox", "sandbox", pairs{"PATH": "/nowhere"}, nil, doctor.Warning, "", ""},
		{
			"a missing file", "secrets",
			pairs{webhookSecret + "_FILE": "/nowhere/secret"},
			nil, doctor.Missing,
			webhookSecret + "_FILE", "",
		},
		{"no address", "address", nil, nil, doctor.OK, "off", ""},
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
			said = said && strings.Contains(got.Text, test.says) && strings.Contains(got.Hint, test.hint)
			if !said || got.State != test.state || test.state == doctor.Missing && works {
				t.Errorf("%+v, want %s %q, hint %q, works %t\nall: %+v", got, test.state, test.says, test.hint, works, rows)
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
			} else {
				writeFile(t, filepath.Join(s.app.workflow().DataDir, "server.db"), "", 0o600)
			}
			says := func(row, words string) {
				t.Helper()
				if rows, _ := s.serverRows(nil); !strings.Contains(rows[row].Text, words) {
					t.Errorf("%+v", rows[row])
				}
			}
			for range 2 { // the second look finds what the first one left
				says("database", "empty; the first start makes its tables")
			}
			db, err := s.app.workflow().OpenInstallation(t.Context(), s.app.env[databaseVariable], s.app.workflow().DataDir)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			says("database", "undamaged")
			says("marker key", "none yet")
			if _, err := db.KeepValue(t.Context(), markerKeyName, newKey()); err != nil {
				t.Fatal(err)
			}
			says("marker key", "in the database")
		})
	}
}
