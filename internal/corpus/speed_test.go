package corpus

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// BenchmarkImport reads comments with and without the database. PRECEDENT_CORPUS_FILES names files
// of JSON lines to read; without it they are made up.
func BenchmarkImport(b *testing.B) {
	data := benchmarkData(b)
	lines := bytes.Count(data, []byte("\n"))
	repos := []precedent.Repo{testRepo}
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			p := part{repos: repos}
			for line := range bytes.Lines(data) {
				p.read(1, line)
			}
		}
		b.ReportMetric(float64(lines*b.N)/b.Elapsed().Seconds(), "comments/s")
	})
	b.Run("store", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			db := needs.Value(store.OpenMemory(b.Context(), store.Options{}))(b)
			rows := needs.Value(db.RepoFor(b.Context(), testRepo))(b)
			b.StartTimer()
			needs.Value((&Corpus{Rows: rows}).Import(b.Context(), "file", bytes.NewReader(data),
				ImportOptions{Repos: repos}))(b)
			b.StopTimer()
			needs.NoError(b, db.Close())
			b.StartTimer()
		}
		b.ReportMetric(float64(lines*b.N)/b.Elapsed().Seconds(), "comments/s")
	})
}

func benchmarkData(b *testing.B) []byte {
	b.Helper()
	list := os.Getenv("PRECEDENT_CORPUS_FILES")
	if list == "" {
		return generated(8_000, 6)
	}
	var data []byte
	for _, name := range filepath.SplitList(list) {
		f := needs.Value(os.Open(name))(b)
		r := needs.Value(decompressed(f))(b)
		all := needs.Value(io.ReadAll(r))(b)
		data = append(data, all...)
	}
	return data
}
