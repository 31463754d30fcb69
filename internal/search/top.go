package search

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// scored is a document and its score in a list.
type scored struct {
	number uint32
	score  float64
}

// top keeps the documents with the highest scores above 0. Of those with the same score, the one
// with the smaller id is better.
type top struct {
	filter *filter
	depth  int
	list   []scored // a heap, the worst first
}

// compare orders documents, the better first.
func (t *top) compare(a, b scored) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return strings.Compare(t.filter.entries[a.number].id, t.filter.entries[b.number].id)
}

// least is the score that a document needs.
func (t *top) least() float64 {
	if len(t.list) < t.depth {
		return 0
	}
	return t.list[0].score
}

// add adds a document that the filter has.
func (t *top) add(n uint32, score float64) {
	d := scored{n, score}
	if !(score > 0) || score < t.least() {
		return
	}
	if len(t.list) < t.depth {
		t.list = append(t.list, d)
		for i := len(t.list) - 1; i > 0; {
			parent := (i - 1) / 2
			if t.compare(t.list[i], t.list[parent]) <= 0 {
				break
			}
			t.list[i], t.list[parent] = t.list[parent], t.list[i]
			i = parent
		}
		return
	}
	if t.compare(d, t.list[0]) >= 0 {
		return
	}
	t.list[0] = d
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(t.list) {
			return
		}
		if child+1 < len(t.list) && t.compare(t.list[child+1], t.list[child]) > 0 {
			child++
		}
		if t.compare(t.list[child], t.list[i]) <= 0 {
			return
		}
		t.list[i], t.list[child] = t.list[child], t.list[i]
		i = child
	}
}

// sorted returns the documents, the best first.
func (t *top) sorted() []scored {
	slices.SortFunc(t.list, t.compare)
	return t.list
}

// parallel calls f with 0 to n-1 on all processors and returns when all calls have returned.
func parallel(n int, f func(int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wait.Wait()
}

var (
	floats32 sync.Pool
	floats64 sync.Pool
)

// scratch32 returns n zeros, and what gives them back.
func scratch32(n int) ([]float32, func()) {
	p, _ := floats32.Get().(*[]float32)
	if p == nil || cap(*p) < n {
		p = new(make([]float32, n))
	}
	*p = (*p)[:n]
	clear(*p)
	return *p, func() { floats32.Put(p) }
}

// scratch64 returns n zeros, and what gives them back.
func scratch64(n int) ([]float64, func()) {
	p, _ := floats64.Get().(*[]float64)
	if p == nil || cap(*p) < n {
		p = new(make([]float64, n))
	}
	*p = (*p)[:n]
	clear(*p)
	return *p, func() { floats64.Put(p) }
}
