package search

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The environment of the benchmark: files of review comments, JSON lines with a body or msg, whose
// texts are used instead of generated ones (a pattern, such as comments/*.jsonl.gz), and how many
// records to make of them.
const (
	commentsVariable = "PRECEDENT_TEST_COMMENTS"
	recordsVariable  = "PRECEDENT_TEST_RECORDS"
)

// comment is what a text and a line of code are read from.
type comment struct {
	Body string `json:"body"`
	Msg  string `json:"msg"`
	Hunk string `json:"diff_hunk"`
	Path string `json:"path"`
}

func readComments(b *testing.B, r *rand.Rand) []comment {
	var all []comment
	files, _ := filepath.Glob(os.Getenv(commentsVariable))
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		var in io.Reader = f
		if strings.HasSuffix(name, ".gz") {
			if in, err = gzip.NewReader(f); err != nil {
				b.Fatal(err)
			}
		}
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var c comment
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				b.Fatal(err)
			}
			c.Body += c.Msg
			c.Hunk = c.Hunk[strings.LastIndexByte(c.Hunk, '\n')+1:]
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		words := vocabulary(r, 20000)
		for range 5000 {
			all = append(all, comment{Body: sentence(r, words, 1+r.IntN(70)), Hunk: sentence(r, words, 8), Path: sentence(r, words, 3)})
		}
	}
	return all
}

// noisy replaces words at random by others of the same texts.
func noisy(r *rand.Rand, all []string, s string, share float64) string {
	words := strings.Split(s, " ")
	for i := range words {
		if r.Float64() < share {
			words[i] = all[r.IntN(len(all))]
		}
	}
	return strings.Join(words, " ")
}

// makeRecords makes records of comments with 30 % other words, and queries of 60 words.
func makeRecords(b *testing.B, n int) ([]Doc, []string) {
	r := rand.New(rand.NewPCG(5, 6))
	comments := readComments(b, r)
	var words []string
	for _, c := range comments {
		words = append(words, strings.Fields(c.Body)...)
	}
	var docs []Doc
	for i := range n {
		c := comments[r.IntN(len(comments))]
		docs = append(docs, Doc{ID: fmt.Sprint(i), Text: noisy(r, words, c.Body, .3), Lines: noisy(r, words, c.Hunk, .1), Path: c.Path, Group: r.IntN(n/10 + 1)})
	}
	var queries []string
	for range 200 {
		var q []string
		for len(q) < 60 {
			q = append(q, strings.Fields(comments[r.IntN(len(comments))].Body)...)
		}
		queries = append(queries, noisy(r, words, strings.Join(q[:60], " "), .2))
	}
	return docs, queries
}

func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkIndex builds, updates and searches an index of 100,000 records, or as many as the
// environment says, and compares the results with exhaustive ones.
func BenchmarkIndex(b *testing.B) {
	n, _ := strconv.Atoi(os.Getenv(recordsVariable))
	docs, queries := makeRecords(b, cmp.Or(n, 100_000))
	before, start := heap(), time.Now()
	x := New(docs)
	b.ReportMetric(time.Since(start).Seconds(), "build-s")
	b.ReportMetric((heap()-before)/float64(len(docs)), "B/record")
	start = time.Now()
	x.Update(docs[:10], nil)
	b.ReportMetric(float64(time.Since(start).Milliseconds()), "update-ms")
	finding := func(s string) Query { return Query{Text: s, Fused: []List{TextWords, TextChars}} }
	line := func(s string) Query {
		return Query{Lines: strings.Join(strings.Fields(s)[:8], " "), Fused: []List{LineWords, LineChars}}
	}
	for name, query := range map[string]func(string) Query{"finding": finding, "line": line} {
		var times []time.Duration
		for _, s := range queries {
			start := time.Now()
			x.Search(query(s))
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		for _, p := range []int{50, 95, 99} {
			b.ReportMetric(float64(times[len(times)*p/100].Microseconds())/1000, fmt.Sprintf("%s-p%d-ms", name, p))
		}
	}
	same, all := 0, 0
	var fast, slow time.Duration
	for _, s := range queries[:50] {
		q := finding(s)
		q.Depth, q.Limit = 100, 10
		start := time.Now()
		got := x.Search(q)
		fast += time.Since(start)
		start = time.Now()
		f := newFilter(x.entries, &q)
		want := x.fuse(&q, q.Fused, [][]scored{x.text.search(s, &f, q.Depth), exhaustive(x, &q)})
		slow += time.Since(start)
		for i := range want {
			all++
			if i < len(got) && got[i].ID == want[i].ID && got[i].Score == want[i].Score {
				same++
			}
		}
	}
	b.ReportMetric(float64(same)/float64(all), "recall")
	b.ReportMetric(float64(slow)/float64(fast), "exhaustive/search")
	b.ReportMetric(0, "ns/op")
}
