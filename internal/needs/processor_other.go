//go:build !unix

package needs

import "time"

var began = time.Now()

// processorTime is the elapsed time: this system has no better clock.
func processorTime() time.Duration { return time.Since(began) }
