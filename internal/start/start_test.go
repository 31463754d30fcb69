package start

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

func percent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestSetForGood comes first: nothing has been collected yet.
func TestSetForGood(t *testing.T) {
	SetGCPercent(60)
	done := make(chan struct{})
	runtime.AddCleanup(&struct{ _ *byte }{}, func(done chan struct{}) { close(done) }, done)
	for ended := false; !ended; {
		runtime.GC()
		select {
		case <-done:
			ended = true
		default:
		}
	}
	for range 100 { // the other cleanup may come a little later
		runtime.GC()
	}
	if percent() != 60 {
		t.Errorf("the heap grows by %d %%", percent())
	}
	SetGCPercent(100)
}

func TestUsualAfterTheFirstCollection(t *testing.T) {
	for range 1000 {
		runtime.GC()
		if percent() == 100 {
			return
		}
	}
	t.Errorf("the heap still grows by %d %%", percent())
}
