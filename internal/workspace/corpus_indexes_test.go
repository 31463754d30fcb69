package workspace

import (
	"fmt"
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestIndexesAreBounded: the index that was not used for the longest time is forgotten first, and
// the one in use is kept, however large.
func TestIndexesAreBounded(t *testing.T) {
	var k CorpusIndexes
	repo := func(i int) precedent.Repo { return precedent.Repo{Host: "h", Owner: "o", Name: fmt.Sprint(i)} }
	for i := range mostIndexes + 10 {
		k.trim(k.use(repo(i)), 1)
	}
	if len(k.kept) != mostIndexes || k.kept[0].repo != repo(mostIndexes+9) {
		t.Fatalf("%d are kept, the last used is %s", len(k.kept), k.kept[0].repo)
	}
	again := k.use(repo(20))
	k.trim(k.use(repo(1000)), mostIndexedChunks-1)
	if len(k.kept) != 2 || k.kept[1] != again {
		t.Fatalf("%d are kept, want the large one and the one that was used before it", len(k.kept))
	}
	k.trim(k.use(repo(1001)), mostIndexedChunks*2)
	if len(k.kept) != 1 {
		t.Fatalf("%d are kept, want the largest alone", len(k.kept))
	}
}
