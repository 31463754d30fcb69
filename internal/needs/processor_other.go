//go:build !unix

package needs

import "time"

var began = time.Now()

// processor is the time that has passed: there is no better clock here.
func processor() time.Duration { return time.Since(began) }
