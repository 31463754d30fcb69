package run

import (
	"log/slog"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newEnv(home string, clock *forgetest.Clock) *workspace.Env {
	return &workspace.Env{
		Now: clock.Now, Sleep: clock.Sleep, Log: slog.New(slog.DiscardHandler), Version: "test",
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
		Git:   git.Options{TempDir: home, Home: home}, DataDir: filepath.Join(home, "data"),
		CacheDir: filepath.Join(home, "cache"), Proxy: func(string) (string, error) { return "", nil },
	}
}

func newJob(e engine.Engine) Job {
	return Job{
		Settings: &settings.Settings{FailOn: settings.Value[precedent.Severity]{Value: precedent.High}},
		Engine: workspace.EngineSetup{New: func(o workspace.EngineOptions) (engine.Engine, func() error) {
			return o.Budget.Within(e), func() error { return nil }
		}},
	}
}
