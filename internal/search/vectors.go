package search

import (
	"errors"
	"fmt"
	"math"
)

// vectors is the list of all documents by the vectors of an embedding model.
type vectors struct {
	dimensions int // of all; 0 before the first
	docs       [][]float32
}

// check returns an error for a vector that cannot be compared.
func (v *vectors) check(vector []float32) error {
	if len(vector) == 0 {
		return errors.New("an embedding has no dimensions")
	}
	if v.dimensions != 0 && len(vector) != v.dimensions {
		return fmt.Errorf("an embedding has %d dimensions, and those of the index have %d", len(vector), v.dimensions)
	}
	sum := 0.0
	for _, f := range vector {
		sum += float64(f) * float64(f)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return errors.New("an embedding contains a value that is not a number")
	}
	if sum == 0 {
		return errors.New("an embedding has the length 0")
	}
	return nil
}

// update adds documents and removes others, which keep their numbers.
func (v *vectors) update(add []Doc, removed []uint32) {
	for _, n := range removed {
		v.docs[n] = nil
	}
	for i := range add {
		var vector []float32
		if v.check(add[i].Vector) == nil {
			v.dimensions = len(add[i].Vector)
			vector = unit(add[i].Vector)
		}
		v.docs = append(v.docs, vector)
	}
}

// compacted returns a list of some of the documents, with new numbers.
func (v *vectors) compacted(keep []uint32) *vectors {
	next := &vectors{docs: make([][]float32, len(keep))}
	for i, n := range keep {
		if next.docs[i] = v.docs[n]; next.docs[i] != nil {
			next.dimensions = v.dimensions
		}
	}
	return next
}

// unit returns a copy of a vector with length 1.
func unit(vector []float32) []float32 {
	sum := 0.0
	for _, f := range vector {
		sum += float64(f) * float64(f)
	}
	out := make([]float32, len(vector))
	for i, f := range vector {
		out[i] = float32(float64(f) / math.Sqrt(sum))
	}
	return out
}

// search returns the best documents.
func (v *vectors) search(vector []float32, f *filter, depth int) []scored {
	if v.dimensions == 0 || v.check(vector) != nil {
		return nil
	}
	vector = unit(vector)
	const size = 4096
	tops := make([]top, (len(v.docs)+size-1)/size)
	parallel(len(tops), func(i int) {
		t := &tops[i]
		*t = top{filter: f, depth: depth}
		for n := i * size; n < min((i+1)*size, len(v.docs)); n++ {
			if v.docs[n] != nil && f.has(uint32(n)) {
				t.add(uint32(n), float64(dot(vector, v.docs[n])))
			}
		}
	})
	best := top{filter: f, depth: depth}
	for i := range tops {
		for _, d := range tops[i].list {
			best.add(d.number, d.score)
		}
	}
	return best.sorted()
}

// dot is the product of vectors with the same dimensions. Four sums at a time are what a processor
// computes in parallel.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}
