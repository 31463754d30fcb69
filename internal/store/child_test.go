package store

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// childVar, set, turns the test binary into a process that writes a database.
// Its value is the child's work and its words.
const childVar = "PRECEDENT_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	words := strings.Split(os.Getenv(childVar), " ")
	if words[0] == "" {
		os.Exit(m.Run())
	}
	if err := childWork[words[0]](context.Background(), words[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// childWork is what a child can do.
var childWork = map[string]func(ctx context.Context, words []string) error{"save": childSave}

func child(t *testing.T, words ...any) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(needs.Self(t))
	cmd.Env = append(os.Environ(), childVar+"="+strings.TrimSuffix(fmt.Sprintln(words...), "\n"))
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	return cmd, &out, &stderr
}

// childSave says that it begins, saves n reviews, forever if n is 0, and says each id once it is
// saved. Its words are the place, the seed, the run, and n.
func childSave(ctx context.Context, words []string) error {
	count, err := strconv.Atoi(words[3])
	if err != nil {
		return err
	}
	fmt.Println(begins)
	db, err := openAt(ctx, words[0], Options{})
	if err != nil {
		return err
	}
	r, err := db.RepoFor(ctx, remote)
	if err != nil {
		return err
	}
	for i := 0; count == 0 || i < count; i++ {
		v := seededReview(words[1], words[2], i)
		if err := r.SaveReview(ctx, v); err != nil {
			return err
		}
		fmt.Println(v.ID)
	}
	return nil
}

const begins = "begins"

// seededReview is the i-th review of a run: the same in the child that saves it
// and in the parent that checks it.
func seededReview(seed, run string, i int) *precedent.Review {
	s, _ := strconv.ParseUint(seed, 10, 64)
	n, _ := strconv.ParseUint(run, 10, 64)
	return randomReview(rand.New(rand.NewPCG(s, n<<32|uint64(i))), remote, fmt.Sprintf("review-%s-%d", run, i))
}

// reviewEqual compares what a review is saved with and read back as.
var reviewEqual = cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(precedent.Review{}, "Sightings")}

// checkFile opens the database and checks its health, and that every review in it
// is whole. It returns the ids of all reviews.
func checkFile(t *testing.T, place, seed string) map[string]bool {
	t.Helper()
	db := needs.Value(openAt(t.Context(), place, Options{}))(t)
	defer db.Close()
	return checkReviews(t, db, seed)
}

func checkReviews(t *testing.T, db *DB, seed string) map[string]bool {
	t.Helper()
	ctx := t.Context()
	checkHealth(t, db)
	r := repoFor(t, db, remote)
	saved := func() map[string]bool {
		ids := map[string]bool{}
		needs.NoError(t, rows(ctx, db.read, "SELECT id FROM reviews WHERE repo_id = $1", []any{r.id}, func(row scanner) error {
			var id string
			err := row.Scan(&id)
			ids[id] = true
			return err
		}))
		return ids
	}
	ids := saved()
	sightings := 0
	for id := range ids {
		got := needs.Value(r.Review(ctx, id))(t)
		words := strings.Split(id, "-")
		i, _ := strconv.Atoi(words[2])
		want := seededReview(seed, words[1], i)
		if diff := cmp.Diff(want, got, reviewEqual); diff != "" {
			t.Fatalf("review %s came back changed (-want +got):\n%s", id, diff)
		}
		sightings += len(Fold(want.Findings))
	}
	c := needs.Value(r.Count(ctx))(t)
	if len(saved()) != len(ids) { // PostgreSQL commits what a process had sent some time after it was killed
		return checkReviews(t, db, seed)
	}
	if c.Sightings != sightings {
		t.Errorf("%d sightings for reviews with %d", c.Sightings, sightings)
	}
	return ids
}

// checkHealth checks that the database has the newest schema, no damage, and no row that refers to none, which
// PostgreSQL does not let in.
func checkHealth(t *testing.T, db *DB) {
	t.Helper()
	needs.Equal(t, needs.Value(NewestSchema())(t), needs.Value(db.Check(t.Context()))(t))
	if db.Engine() != SQLite {
		return
	}
	broken := needs.Value(db.sql.Query("PRAGMA foreign_key_check"))(t)
	defer broken.Close()
	if broken.Next() || broken.Err() != nil {
		t.Fatal("a row points at none", broken.Err())
	}
}

// afterLines keeps what it is told, and does something once after so many lines.
type afterLines struct {
	to    *bytes.Buffer
	lines int
	then  func()
}

func (a *afterLines) Write(p []byte) (int, error) {
	before := a.lines
	if a.lines -= bytes.Count(p, []byte("\n")); before > 0 && a.lines <= 0 {
		a.then()
	}
	return a.to.Write(p)
}

// TestKilled kills a process that saves reviews at random points, some of them within its migrations, which the next
// one completes (fault row 60).
func TestKilled(t *testing.T) {
	onBothEngines(t, func(t *testing.T, place func() string) {
		n := needs.Seed(t)
		seed, rnd := strconv.FormatUint(n, 10), rand.New(rand.NewPCG(n, 1))
		path := place()
		saved, before := 0, 0
		runs := needs.Rounds(60, 6)
		for run := range runs {
			lines := 2 + rnd.IntN(12)
			if run%4 < 2 {
				path, lines = place(), 1
				before = 0
			}
			cmd, out, stderr := child(t, "save", path, seed, run, 0)
			// While the schema is made, or a while after some reviews were saved.
			cmd.Stdout = &afterLines{to: out, lines: lines, then: func() {
				time.AfterFunc(time.Duration(rnd.Int64N(int64(40*time.Millisecond))), func() { _ = cmd.Process.Kill() })
			}}
			needs.NoError(t, cmd.Start())
			if err := cmd.Wait(); err == nil || stderr.Len() > 0 {
				t.Fatalf("run %d ended by itself: %v %s", run, err, stderr)
			}
			ids := checkFile(t, path, seed)
			for _, id := range strings.Fields(out.String()) {
				if id != begins && !ids[id] {
					t.Errorf("run %d: review %s was saved and is gone", run, id)
				}
			}
			saved += len(ids) - before
			before = len(ids)
		}
		t.Logf("%d reviews were saved by %d killed processes", saved, runs)
		if saved == 0 {
			t.Error("every process was killed before it saved anything")
		}
	})
}

// TestManyProcesses lets several processes open one empty database and write it at once.
func TestManyProcesses(t *testing.T) {
	onBothEngines(t, func(t *testing.T, place func() string) {
		const processes, reviews = 5, 8
		path := place()
		var wait sync.WaitGroup
		for run := range processes {
			wait.Go(func() {
				cmd, _, stderr := child(t, "save", path, "7", run, reviews)
				if err := cmd.Run(); err != nil {
					t.Errorf("process %d: %v %s", run, err, stderr)
				}
			})
		}
		wait.Wait()
		if ids := checkFile(t, path, "7"); len(ids) != processes*reviews {
			t.Errorf("%d reviews, want %d", len(ids), processes*reviews)
		}
	})
}
