package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
}

// suite is what every engine has to pass. What is true of SQLite alone has tests
// of its own: files, locks, damage and kills.
var suite = []struct {
	name string
	test func(*testing.T, opener)
}{
	{"PostsAreSavedWithTheirReview", testPostsAreSavedWithTheirReview},
	{"BadPostLeavesNothing", testBadPostLeavesNothing},
	{"PostsComeFurther", testPostsComeFurther},
	{"LastReviewOfAPullRequest", testLastReviewOfAPullRequest},
	{"PostsOfAJoinedRepository", testPostsOfAJoinedRepository},
	{"PruneKeepsWhatASummaryNeeds", testPruneKeepsWhatASummaryNeeds},
	{"Prune", testPrune},
	{"Clear", testClear},
	{"Period", testPeriod},
	{"Reject", testReject},
	{"Hits", testHits},
	{"RejectTogether", testRejectTogether},
	{"MergedRejectionIsNew", testMergedRejectionIsNew},
	{"RepoForKeepsRepositoriesApart", testRepoForKeepsRepositoriesApart},
	{"RepoForRefusesNobody", testRepoForRefusesNobody},
	{"Follow", testFollow},
	{"RemoteAppears", testRemoteAppears},
	{"RemoteKnownAlready", testRemoteKnownAlready},
	{"ForksStayApart", testForksStayApart},
	{"ReviewComesBackWhole", testReviewComesBackWhole},
	{"SameReviewAgain", testSameReviewAgain},
	{"Sightings", testSightings},
	{"RulesAreKeptOnce", testRulesAreKeptOnce},
	{"Threads", testThreads},
	{"ThreadsThatCannotBeSaved", testThreadsThatCannotBeSaved},
	{"Outcomes", testOutcomes},
	{"RemoteAppearsForThreads", testRemoteAppearsForThreads},
	{"PruneOfThreads", testPruneOfThreads},
	{"NaughtyThreads", testNaughtyThreads},
	{"Labels", testLabels},
	{"LabelsOfAJoinedRepository", testLabelsOfAJoinedRepository},
	{"Thresholds", testThresholds},
	{"Shown", testShown},
	{"ManyFiles", testManyFiles},
	{"FindingsByID", testFindingsByID},
	{"Book", testBook},
	{"BookOfPullRequests", testBookOfPullRequests},
	{"Answers", testAnswers},
	{"Learnings", testLearnings},
	{"LearningsChangeInTurn", testLearningsChangeInTurn},
	{"LearningsOfTheOwner", testLearningsOfTheOwner},
	{"RemoteAppearsForLearnings", testRemoteAppearsForLearnings},
	{"HandledComments", testHandledComments},
	{"Insights", testInsights},
	{"ConsolidationsTakeTurns", testConsolidationsTakeTurns},
	{"Appearances", testAppearances},
	{"RemoteAppearsForInsights", testRemoteAppearsForInsights},
	{"PruneSparesWhatIsReferredTo", testPruneSparesWhatIsReferredTo},
	{"ClearForgetsSpending", testClearForgetsSpending},
	{"CorpusThreads", testCorpusThreads},
	{"CorpusAnyOrder", testCorpusAnyOrder},
	{"CorpusReverted", testCorpusReverted},
	{"CorpusCheckpoint", testCorpusCheckpoint},
	{"CorpusVectors", testCorpusVectors},
	{"CorpusOfAJoinedRepository", testCorpusOfAJoinedRepository},
	{"ClearCorpus", testClearCorpus},
	{"AnyText", testAnyText},
}

func TestStore(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			for _, s := range suite {
				t.Run(s.name, func(t *testing.T) { s.test(t, engine.open) })
			}
		})
	}
}

func open(t testing.TB, o ...Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), options(o))
	return opened(t, db, err)
}

func openMemory(t testing.TB, o ...Options) *DB {
	t.Helper()
	db, err := OpenMemory(t.Context(), options(o))
	return opened(t, db, err)
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestOneFileKnowsSQLite keeps its dialect where another engine's can stand
// beside it.
func TestOneFileKnowsSQLite(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "sqlite.go" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"PRAGMA", "VACUUM", "sqlite_", "modernc", "-wal", "DialectSQLite", "time.After("} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s has %s", file, word)
			}
		}
	}
}
