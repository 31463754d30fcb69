// Package start lets the program start without collecting garbage.
//
// Packages that the program is linked with fill some 4 MiB before main begins,
// tables of analyzers for the most part: as much as the runtime lets a heap grow
// before it collects for the first time. That collection frees nothing, and is a
// third of what a short command does. So the first one comes at 16 MiB, and then
// all is as usual. A package this small is initialised before those that fill
// the heap: their paths come later in the alphabet, and the rest import too much.
package start

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// later is the percentage after the first collection.
var later atomic.Int64

// SetGCPercent is debug.SetGCPercent for good: the first collection does not change it back.
func SetGCPercent(percent int) {
	later.Store(int64(percent))
	debug.SetGCPercent(percent)
}

func init() {
	const percent = 400 // of the 4 MiB that the runtime grants a small heap
	usual := debug.SetGCPercent(percent)
	if usual < 0 {
		debug.SetGCPercent(usual) // there is to be no collection at all
		return
	}
	later.Store(int64(usual))
	type garbage struct{ _ *byte }
	runtime.AddCleanup(&garbage{}, func(later *atomic.Int64) {
		for set := int64(percent); set != later.Load(); { // which SetGCPercent may change meanwhile
			set = later.Load()
			debug.SetGCPercent(int(set))
		}
	}, &later)
}
