package review

import (
	"cmp"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// identify sets the fingerprint and id of every finding. They are the same on every
// machine, and in later reviews while the flagged code is unchanged. A finding that people dismissed keeps its
// fingerprint when its file is renamed, also on a machine that has only the dismissal.
func identify(fs []precedent.Finding, src *sources, repo precedent.Repo, recall memory.Recall) {
	dismissed, at := map[string]bool{}, map[string][]precedent.Dismissal{}
	for _, j := range recall.Dismissals {
		dismissed[j.Fingerprint] = true
		at[j.Place] = append(at[j.Place], j)
	}
	for i := range fs {
		f := &fs[i]
		if f.Dropped == precedent.NoEvidence {
			// It stands nowhere; what it says keeps it apart from what stands somewhere.
			nowhere := precedent.Place(f.Path, "nowhere", f.Quote, f.Title)
			f.Fingerprint = precedent.Fingerprint(nowhere, f.Category, 0)
			f.ID = precedent.FindingID(repo, f.Fingerprint)
			continue
		}
		var line, before, behind string
		ordinal := 0
		if f.Start > 0 {
			line, before, behind, ordinal = src.file(f.Side, f.Path).identity(f.Start)
		}
		f.Place = precedent.Place(f.Path, line, before, behind)
		f.Fingerprint = precedent.Fingerprint(f.Place, f.Category, ordinal)
		places := []string{f.Place}
		if old := recall.Former[f.Path]; old != "" {
			places = append(places, precedent.Place(old, line, before, behind))
		}
		for _, place := range places {
			if dismissed[f.Fingerprint] {
				break
			}
			if was := precedent.Fingerprint(place, f.Category, ordinal); dismissed[was] {
				f.Fingerprint = was
			} else if k := slices.IndexFunc(at[place], func(j precedent.Dismissal) bool {
				return j.Category == f.Category && precedent.Moved(j.Place, j.Category, j.Fingerprint) &&
					match.NewClaim(j.Claim).Similarity(match.NewClaim(f.Title)) >= match.SamePlace
			}); k >= 0 {
				f.Fingerprint = at[place][k].Fingerprint
			}
		}
		f.ID = precedent.FindingID(repo, f.Fingerprint)
	}
}

// stands reports whether the line that an earlier finding flagged is still in its file, between the same lines, and is
// not the one that a new finding flags.
func (x *reader) stands(k, f *precedent.Finding) bool {
	path := k.Path
	for now, old := range x.in.Recall.Former {
		if old == k.Path {
			path = now
		}
	}
	file := x.src.file(k.Side, path)
	return slices.ContainsFunc(file.at[text.Collapse(match.Flagged(k.Quote))], func(i int) bool {
		return (file.numbers[i] != f.Start || f.Side != k.Side) &&
			precedent.Place(k.Path, file.lines[i], file.neighbour(i, -1), file.neighbour(i, 1)) == k.Place
	})
}

// identities gives findings of one category at one place different identities.
type identities struct {
	repo  precedent.Repo
	known map[string]store.Known // findings of earlier reviews, by fingerprint
}

// distinguish gives the findings that represent groups different fingerprints and ids.
// One place and category identify a finding, whatever its words, unless there are
// several: then each takes the identity of the earlier finding with the most similar
// words, and others a free one.
func (n identities) distinguish(groups []match.Group) {
	namesakes := map[string][]match.Group{} // by fingerprint
	var order []string
	for _, g := range groups {
		fp := g.First.Fingerprint
		if len(namesakes[fp]) == 0 {
			order = append(order, fp)
		}
		namesakes[fp] = append(namesakes[fp], g)
	}
	for _, fp := range order {
		same := namesakes[fp]
		prints := n.fingerprints(same)
		if fp == "" || len(prints) == 1 {
			continue
		}
		for i, to := range n.assign(same, prints) {
			for _, f := range slices.Concat([]*precedent.Finding{same[i].First}, same[i].Same, same[i].Likely) {
				if f.Fingerprint == fp {
					f.Fingerprint, f.ID = to, precedent.FindingID(n.repo, to)
				}
			}
		}
	}
}

// fingerprints returns the fingerprints for findings with one fingerprint: that one
// first, and one for each further finding of this review or of earlier ones.
func (n identities) fingerprints(same []match.Group) []string {
	f := same[0].First
	prints := []string{f.Fingerprint}
	for len(prints) < precedent.MaxNamesakes+len(same) {
		next := precedent.Fingerprint(f.Fingerprint, f.Category, len(prints))
		if _, ok := n.known[next]; !ok && len(prints) >= len(same) {
			break
		}
		prints = append(prints, next)
	}
	return prints
}

// assign returns the fingerprint of each finding.
func (n identities) assign(same []match.Group, prints []string) []string {
	type candidate struct {
		finding, print int
		similarity     float64
	}
	var candidates []candidate
	for i, g := range same {
		for k, fp := range prints {
			if known, ok := n.known[fp]; ok {
				if s := match.Similarity(g.First, &known.Finding); s >= match.SamePlace {
					candidates = append(candidates, candidate{i, k, s})
				}
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return -cmp.Compare(a.similarity, b.similarity) })
	for i := range same { // then the first that is free
		for k := range prints {
			candidates = append(candidates, candidate{i, k, 0})
		}
	}
	to := make([]string, len(same))
	taken := make([]bool, len(prints))
	for _, c := range candidates {
		if to[c.finding] == "" && !taken[c.print] {
			to[c.finding], taken[c.print] = prints[c.print], true
		}
	}
	return to
}
