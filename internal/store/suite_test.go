package store

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// opener opens a fresh database for a test, and closes it at its end.
type opener func(t testing.TB, o ...Options) *DB

// engines are the databases that the suite runs on.
var engines = []struct {
	name string
	open opener
}{
	{"sqlite", open},
	{"memory", openMemory},
	{"postgresql", openPostgreSQL},
}

// places returns where a new database is made in a file and on PostgreSQL, by engine; openAt
// opens it, also in another process.
var places = map[Engine]func(t testing.TB) string{
	SQLite:     func(t testing.TB) string { return filepath.Join(t.TempDir(), "memory.db") },
	PostgreSQL: needs.PostgreSQL,
}

// onBothEngines runs a test with a way to make a new place.
func onBothEngines(t *testing.T, test func(t *testing.T, place func() string)) {
	t.Parallel()
	for _, engine := range []Engine{SQLite, PostgreSQL} {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			test(t, func() string { return places[engine](t) })
		})
	}
}

func openAt(ctx context.Context, place string, o Options) (*DB, error) {
	if strings.Contains(place, "://") {
		return OpenURL(ctx, place, o)
	}
	return Open(ctx, place, o)
}

func openPlace(t testing.TB, place string, o ...Options) *DB {
	t.Helper()
	db, err := openAt(t.Context(), place, options(o))
	return opened(t, db, err)
}

// again opens the same database once more.
func again(t testing.TB, db *DB) *DB {
	t.Helper()
	return openPlace(t, db.address)
}

// suite is what every engine has to pass, with the rows of an empty repository or with a way to open databases;
// testPosts is TestStore/sqlite/Posts. What is true of SQLite alone has tests of its own: files, locks, damage and kills.
var (
	suite = []func(*testing.T, *Repo){
		testPostsAreSavedWithTheirReview, testBadPostLeavesNothing, testPostsComeFurther, testClockSetBack,
		testPruneKeepsWhatASummaryNeeds, testPrune, testReject, testHits,
		testMergedDismissalIsNew, testReviewComesBackWhole, testSightings, testThreads,
		testOutcomes, testLabels, testShown, testManyFiles,
		testLearnings, testInsights, testAppearances, testCorpusThreads,
		testCorpusReverted, testCorpusVectors, testNaughtyText,
	}
	suiteOfDatabases = []func(*testing.T, opener){
		testTurns, testClear, testRepoForRefusesNobody, testFollow, testRemoteAppears, testJoinedFindings,
		testJoined, testForksStayApart, testPruneOfThreads, testBook, testAnswers,
		testSessions, testAudit, testListsOfPages, testLearningsOfTheOwner, testHandledComments,
		testConsolidationsTakeTurns, testReaders, testLimits, testRestoreRefuses,
	}
)

func TestStore(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			for _, test := range suite {
				t.Run(nameOf(test), func(t *testing.T) { test(t, repoFor(t, engine.open(t), remote)) })
			}
			for _, test := range suiteOfDatabases {
				t.Run(nameOf(test), func(t *testing.T) { test(t, engine.open) })
			}
		})
	}
}

func nameOf(test any) string {
	name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	return name[strings.LastIndex(name, ".test")+len(".test"):]
}

func open(t testing.TB, o ...Options) *DB {
	t.Helper()
	return openPlace(t, places[SQLite](t), o...)
}

func openMemory(t testing.TB, o ...Options) *DB {
	t.Helper()
	db, err := OpenMemory(t.Context(), options(o))
	return opened(t, db, err)
}

func openPostgreSQL(t testing.TB, o ...Options) *DB {
	t.Helper()
	return openPlace(t, postgresURL(t), o...)
}

// postgresURL is the URL of a database that has the newest schema and no rows.
func postgresURL(t testing.TB) string {
	t.Helper()
	open := func(url string, use func(*DB) error) error {
		db, err := OpenURL(context.Background(), url, Options{})
		if err != nil {
			return err
		}
		return errors.Join(use(db), db.Close())
	}
	return needs.PostgreSQLAgain(t, "store",
		func(url string) error { return open(url, func(*DB) error { return nil }) },
		func(url string) error {
			return open(url, func(db *DB) error {
				_, err := db.sql.Exec("DELETE FROM repos") // and what belongs to them
				for _, table := range []string{"server_values", "audit", "sessions"} {
					if err == nil {
						_, err = db.sql.Exec("DELETE FROM " + table)
					}
				}
				return err
			})
		})
}

// options are those of a test, by default a clock that stands still.
func options(o []Options) Options {
	if len(o) > 0 {
		return o[0]
	}
	return Options{Now: func() time.Time { return start }}
}

func opened(t testing.TB, db *DB, err error) *DB {
	t.Helper()
	needs.NoError(t, err)
	t.Cleanup(func() {
		needs.NoError(t, db.Close())
	})
	return db
}
