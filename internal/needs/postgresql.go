package needs

import "testing"

// PostgreSQL returns the URL of a new, empty database on a server that all tests of this binary
// share. It is dropped at the end of the test. Without PostgreSQL installed the test is skipped.
// The server loses data when the machine fails: it does not wait for the disk.
func PostgreSQL(t testing.TB) (url string) {
	t.Helper()
	t.Skip("needs PostgreSQL")
	return ""
}

// Server is a PostgreSQL server that one test has for itself.
type Server struct{}

// PostgreSQLServer starts a server for a test that stops or measures it, and ends it with the
// test. If durable, a commit is on disk before it returns.
func PostgreSQLServer(t testing.TB, durable bool) *Server {
	t.Helper()
	t.Skip("needs PostgreSQL")
	return nil
}

// Database returns the URL of a new, empty database.
func (s *Server) Database(t testing.TB) (url string) { return "" }

// Restart stops the server, and starts it again. Immediate is as after a crash: no transaction
// is ended, and the server recovers from its log.
func (s *Server) Restart(t testing.TB, immediate bool) {}

// Disconnect ends all connections to the database of the URL.
func (s *Server) Disconnect(t testing.TB, url string) {}
