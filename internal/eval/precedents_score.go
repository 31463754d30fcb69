package eval

// retrieval scores ranks. The intervals draw whole pull requests, because the comments of one are
// about the same code.
func retrieval(file, way string, ranks []rank, pool int, seed uint64) Retrieval {
	r := Retrieval{File: file, Way: way, Queries: len(ranks), Pool: pool}
	var pulls grouped[tallies]
	for _, k := range ranks {
		s := pulls.of(k.pull)
		s[0]++
		if k.at == 0 {
			continue
		}
		s[1] += 1 / float64(k.at)
		for n, depth := range []int{1, 5, 10} {
			if k.at <= depth {
				s[2+n]++
			}
		}
	}
	r.Pulls = len(pulls.list)
	all := quotients(pulls.list, [][2]int{{1, 0}, {2, 0}, {3, 0}, {4, 0}}, seed)
	r.MRR, r.First, r.Five, r.Ten = all[0], all[1], all[2], all[3]
	return r
}

// steps are the similarities that are tried.
var steps = func() []float64 {
	var all []float64
	for s := 30; s <= 90; s += 5 {
		all = append(all, float64(s)/100)
	}
	return all
}()
