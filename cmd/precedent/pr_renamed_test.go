package main

import (
	"errors"
	"os"
	"path/filepath"
)

// rename makes octo/app team/store.
func (s *prStage) rename() {
	s.t.Helper()
	world := s.door.stage.World
	world.Change(func() { world.Rename(world.Repo("octo", "app"), "team", "store") })
	origin := filepath.Join(s.home, "forge", "team", "store.git")
	if err := errors.Join(os.MkdirAll(filepath.Dir(origin), 0o750), os.Rename(s.origin, origin)); err != nil {
		s.t.Fatal(err)
	}
	s.origin = origin
}
