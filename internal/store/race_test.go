//go:build race

package store

// slowness is how much longer than usual things may take under the race detector.
const slowness = 4
