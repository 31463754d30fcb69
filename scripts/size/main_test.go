package main

import (
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	moduleOf := map[string]string{"a.org/m/x.y": "a.org/m", "fmt": "standard library", "main": "the program itself"}
	for size, over := range map[int64]bool{mostBytes: false, mostBytes + 1: true} {
		costs := map[string]cost{}
		graph := `[{"Mode":"build","Package":"a.org/m/x.y","CmdUser":1500000000,"CmdSys":500000000},
			{"Mode":"link","Package":"main","CmdUser":1000000000},{"Mode":"build","Package":"fmt"}]`
		if err := addSeconds(costs, moduleOf, []byte(graph)); err != nil {
			t.Fatal(err)
		}
		addBytes(costs, moduleOf,
			[]byte("  1000  2000000 T a.org/m/x%2ey.(*T).Do\n  1000  7 B fmt.zero\n 1000  500000 t fmt.F[go.shape.struct { "+
				"a.org/m/x }]\n U runtime.x\n"))
		var out strings.Builder
		if err := report(&out, costs, size); (err != nil) != over {
			t.Errorf("%d bytes: %v", size, err)
		}
		for _, want := range []string{
			"2.0 s  2.00 MB  a.org/m\n", "0.0 s  0.50 MB  standard library\n",
			"1.0 s  0.00 MB  linking\n", "3 s of processor time",
		} {
			if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(want), " ")) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
		costs["other"] = cost{spent: mostSeconds * time.Second}
		if report(&out, costs, 0) == nil {
			t.Error("a slow build is within the bounds")
		}
	}
}
