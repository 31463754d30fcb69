//go:build !race

package store

// slowness is how much longer than usual things may take.
const slowness = 1
