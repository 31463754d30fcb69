package needs

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// postgresVariable is "off" to skip tests with PostgreSQL.
const postgresVariable = "PRECEDENT_TEST_POSTGRESQL"

// Server is a PostgreSQL server with a private cluster in a temporary folder. It listens on a
// socket in that folder, and on 127.0.0.1 for users with a password. Text is sorted as in
// English, not by bytes, as on many servers of users.
type Server struct {
	bin, dir string
	port     int
	password string
	// keeper is the pipe to the shell that ends the server and deletes its folder once the pipe
	// is closed, because this process ended in any way.
	keeper interface{ Close() error }
}

// postgresUser owns the cluster.
const postgresUser = "precedent"

var shared struct {
	sync.Mutex
	server *Server
	free   map[string][]string // URLs of databases that were used
}

// PostgreSQL returns the URL of a new, empty database on a server that all tests of this binary
// share. It is dropped at the end of the test. Without PostgreSQL installed the test is skipped.
// The server loses data when the machine fails: it does not wait for the disk.
func PostgreSQL(t testing.TB) string {
	t.Helper()
	return SharedPostgreSQL(t).Database(t)
}

// PostgreSQLAgain is PostgreSQL, but makes few databases for many tests: fill is called for a
// new one, and empty before it is used again under the same name. Both leave no connection open.
func PostgreSQLAgain(t testing.TB, name string, fill, empty func(url string) error) string {
	t.Helper()
	s := SharedPostgreSQL(t)
	shared.Lock()
	var url string
	if free := shared.free[name]; len(free) > 0 {
		url, shared.free[name] = free[len(free)-1], free[:len(free)-1]
	}
	shared.Unlock()
	prepare := empty
	if url == "" {
		url, prepare = s.url(s.database(t)), fill
	}
	if err := prepare(url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		shared.Lock()
		defer shared.Unlock()
		shared.free[name] = append(shared.free[name], url)
	})
	return url
}

// SharedPostgreSQL is the server of PostgreSQL. A test that stops it must not run beside others that use it.
func SharedPostgreSQL(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		s := &Server{bin: postgresPrograms(t)}
		if err := s.create(); err != nil {
			t.Fatal(err)
		}
		shared.server, shared.free = s, map[string][]string{}
	}
	return shared.server
}

// Database returns the URL of a new, empty database, which is dropped at the end of the test.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := s.database(t)
	t.Cleanup(func() { s.run(t, "postgres", `DROP DATABASE IF EXISTS "`+name+`" WITH (FORCE)`) })
	return s.url(name)
}

func (s *Server) database(t testing.TB) (name string) {
	t.Helper()
	name = "test_" + strings.ToLower(rand.Text()[:12])
	s.run(t, "postgres", `CREATE DATABASE "`+name+`"`)
	return name
}

// url is the URL of a database over the socket, for which no password is asked.
func (s *Server) url(database string) string {
	q := url.Values{"host": {s.dir}, "port": {strconv.Itoa(s.port)}}
	return "postgres://" + postgresUser + "@/" + database + "?" + q.Encode()
}

// WithPassword returns the URL of the same database over 127.0.0.1, with the password.
func (s *Server) WithPassword(t testing.TB, of string) string {
	t.Helper()
	u, err := url.Parse(of)
	if err != nil {
		t.Fatal(err)
	}
	u.User, u.Host, u.RawQuery = url.UserPassword(postgresUser, s.password), net.JoinHostPort("127.0.0.1",
		strconv.Itoa(s.port)), ""
	return u.String()
}

// Disconnect ends all connections to the database of the URL.
func (s *Server) Disconnect(t testing.TB, of string) {
	t.Helper()
	u, err := url.Parse(of)
	if err != nil {
		t.Fatal(err)
	}
	s.run(t, "postgres",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+strings.TrimPrefix(u.Path, "/")+"'")
}

// Restart stops the server and starts it again. Immediate is as after a crash: no transaction
// is ended, and the server recovers from its log.
func (s *Server) Restart(t testing.TB, immediate bool) {
	t.Helper()
	s.Stop(t, immediate)
	s.Start(t)
}

// Stop stops the server; Start starts it again.
func (s *Server) Stop(t testing.TB, immediate bool) {
	t.Helper()
	mode := "fast"
	if immediate {
		mode = "immediate"
	}
	s.control(t, "stop", "-m", mode)
}

// Start starts the server that Stop stopped, on the same port.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.control(t, "start", "-l", filepath.Join(s.dir, "log"))
}

func (s *Server) control(t testing.TB, words ...string) {
	t.Helper()
	if out, err := s.command("pg_ctl", append(words, "-w", "-D", s.data())...).CombinedOutput(); err != nil {
		t.Fatalf("pg_ctl %s: %v %s", words[0], err, out)
	}
}

// run runs SQL in a database.
func (s *Server) run(t testing.TB, database, sql string) {
	t.Helper()
	if out, err := s.command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", s.url(database), "-c",
		sql).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", sql, err, out)
	}
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// command is a program of PostgreSQL, as the user that the cluster belongs to.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...) //nolint:noctx // it ends by itself
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + s.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "LC_ALL=C", "PGCONNECT_TIMEOUT=20"} //nolint:forbidigo // only tests call this
	runAs(cmd)
	return cmd
}

// create makes the cluster and starts the server.
func (s *Server) create() error {
	var err error
	if s.dir, err = os.MkdirTemp(socketRoot(), "precedent-pg-"); err != nil {
		return err
	}
	s.password = "secret-of-postgres-" + rand.Text() // which tests look for
	file := filepath.Join(s.dir, "password")
	if err := os.WriteFile(file, []byte(s.password), 0o600); err != nil {
		return err
	}
	if err := giveAway(s.dir, file); err != nil {
		return err
	}
	init := []string{
		"-D", s.data(), "-U", postgresUser, "--pwfile", file, "--auth-local=trust", "--auth-host=scram-sha-256",
		"-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions",
	}
	err = s.command("initdb", append(init, "--locale-provider=icu", "--icu-locale=en-US")...).Run()
	if err != nil { // a server without ICU
		_ = os.RemoveAll(s.data())
		if out, err := s.command("initdb", init...).CombinedOutput(); err != nil {
			_ = os.RemoveAll(s.dir)
			return fmt.Errorf("initdb: %w: %s", err, out)
		}
	}
	for range 3 { // another program may take the port first
		if err = s.listen(); err == nil {
			return nil
		}
	}
	_ = os.RemoveAll(s.dir)
	return err
}

// listen starts the server on a free port, and its keeper.
func (s *Server) listen() error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return err
	}
	settings := fmt.Sprintf("port = %d\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '%s'\n"+
		"max_connections = 200\nshared_buffers = 64MB\nfsync = off\nfull_page_writes = off\n", s.port, s.dir)
	file := filepath.Join(s.data(), "postgresql.auto.conf")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		return err
	}
	if out, err := s.command("pg_ctl", "start", "-w", "-D", s.data(), "-l",
		filepath.Join(s.dir, "log")).CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return fmt.Errorf("start PostgreSQL: %w: %s %s", err, out, bytes.TrimSpace(log))
	}
	return s.keep()
}

// keep starts a shell that ends the server when this process ends, also if that is killed.
func (s *Server) keep() error {
	cmd := s.command("pg_ctl")
	cmd.Path, cmd.Args = "/bin/sh", []string{
		"sh", "-c",
		`read line; "$1/pg_ctl" stop -s -m immediate -D "$2/data" >/dev/null 2>&1; rm -rf "$2"/* 2>/dev/null; rmdir "$2" 2>/dev/null`, "sh", s.bin, s.dir,
	}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.Dir = "/"
	if err := cmd.Start(); err != nil {
		return err
	}
	s.keeper = pipe
	return nil
}

// postgresPrograms is the folder with the programs of PostgreSQL: the newest version where
// Debian has them, else the one of PATH.
func postgresPrograms(t testing.TB) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return majorOf(a) - majorOf(b) })
	if path, err := exec.LookPath("initdb"); err == nil {
		found = slices.Insert(found, 0, path)
	}
	if len(found) == 0 || Off(postgresVariable) {
		Missing(t, postgresVariable, "PostgreSQL")
	}
	return filepath.Dir(found[len(found)-1])
}

// majorOf is the version in a path such as /usr/lib/postgresql/15/bin/initdb.
func majorOf(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// socketRoot is where the folder of a server is made: another user must reach it, and the path
// of a socket has at most 107 bytes.
func socketRoot() string {
	if _, err := os.Stat("/tmp"); err == nil {
		return "/tmp"
	}
	return os.TempDir()
}
