package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// hostile are outputs that a search for JSON could be lost in, as a unit that
// is repeated and what stands before and after it.
var hostile = []struct{ before, unit, after string }{
	{"", "{", ""},
	{"", `{"`, ""},
	{"", "[", "{"},
	{"x ", "[ ", ""},
	{"", "```\n", ""},
	{"", "```\n[\n", "{"},
	{"", "{}", ""},
	{`{"a`, "x", ""},
	{`{"a`, `\"`, ""},
	{`{"a":"`, `{"a":`, ""},
	{`{'a`, `"`, `':1}`},
	{`{"a":[`, "1,", "]}"},
	{"", `{"a":`, ""},
	{"{", `"a":1,`, "}"},
	{`{"a":1`, "0", "}"},
	{`{"a":"`, "\x00", `"}`},
	{`{"a":"`, `\u0000`, `"}`},
	{"x ", `{"a":1}`, ""},
	{`x {"a":1}`, "[", `{"a":1}`},
	{`x {"a":1}`, `{"\`, ""},
}

func TestRepairTakesLinearTime(t *testing.T) {
	size := needs.Rounds(1<<20, 1<<17)
	const most = 10 * time.Second // the square of the larger size takes minutes
	for _, h := range hostile {
		t.Run(fmt.Sprintf("%q %q %q", h.before, h.unit, h.after), func(t *testing.T) {
			raw := []byte(h.before + strings.Repeat(h.unit, (size-64)/len(h.unit)) + h.after)
			var out []byte
			var err error
			if took := needs.Busy(func() { out, err = Repair(raw) }); took > most {
				t.Errorf("took %v", took)
			} else {
				t.Logf("%v, %d bytes, error %v", took, len(out), err)
			}
			if err != nil && len(err.Error()) > 200 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}
