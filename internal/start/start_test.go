package start

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

func TestUsualAfterTheFirstCollection(t *testing.T) {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	for range 1000 {
		runtime.GC()
		if metrics.Read(sample); sample[0].Value.Uint64() == 100 {
			return
		}
	}
	t.Errorf("the heap still grows by %d %%", sample[0].Value.Uint64())
}
