package workflow

import (
	"context"
	"path/filepath"

	"github.com/precedent-dev/precedent/internal/store"
)

// Database is an open database, for commands.
type Database = store.DB

// InstallationFile is the database of a server in its data folder.
const InstallationFile = "server.db"

// OpenInstallation opens the database that all repositories of a server share: the one of the
// PostgreSQL URL or, if that is empty, a file in the data folder.
func (r *Reviewer) OpenInstallation(ctx context.Context, url, dataDir string) (*Database, error) {
	o := store.Options{Now: r.Now}
	if url != "" {
		return store.OpenURL(ctx, url, o)
	}
	return store.Open(ctx, filepath.Join(dataDir, InstallationFile), o)
}
