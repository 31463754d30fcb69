package eval

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestMeasureCluster on invented pairs: what is grouped depends on titles alone, across
// changes, never across projects, and one remark of several pairs is one remark.
func TestMeasureCluster(t *testing.T) {
	data := `[
		{"change": "app#1", "same": true, "a": {"path": "a.go", "start": 1, "title": "Session owner is not checked before delete"}, "b": {"path": "b.go", "start": 9, "title": "The session owner is not checked before delete"}},
		{"change": "app#2", "same": false, "a": {"path": "a.go", "start": 1, "title": "Session owner is not checked before delete"}, "b": {"path": "c.go", "start": 4, "title": "Rows stay open", "body": "Session owner is not checked before delete"}},
		{"change": "app#3", "same": false, "a": {"path": "d.go", "start": 1, "title": "Rows stay open here"}, "b": {"path": "c.go", "start": 4, "title": "Rows stay open", "body": "Session owner is not checked before delete"}},
		{"change": "lib#4", "same": true, "a": {"path": "d.go", "start": 1, "body": "Rows stay open here. More text."}, "b": {"path": "e.go", "start": 4, "body": "Nobody closes these rows"}}
	]`
	c, err := MeasureCluster(write(t, map[string]string{"pairs.json": data}), 1)
	needs.NoError(t, err)
	if c.Pairs != 4 || c.Same != 2 || c.Changes != 4 || c.Remarks != 6 {
		t.Errorf("%+v", c)
	}
	for _, s := range c.Thresholds {
		if s.From != c.Used {
			continue
		}
		if s.Clusters != 2 || s.Largest != 2 || s.Together != 2 || s.Right != 1 || *s.Precision.Value != 0.5 || *s.Recall.Value != 0.5 {
			t.Errorf("%+v", s)
		}
		return
	}
	t.Errorf("the value in use, %v, is not in the table", c.Used)
}
