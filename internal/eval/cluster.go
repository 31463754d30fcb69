package eval

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/report"
)

// clusterTarget is the precision that insights need: of five pairs of findings that one counts
// as evidence, four have to be about the same thing.
const clusterTarget = 0.80

// Cluster measures how well titles alone group remarks of different changes into patterns.
type Cluster struct {
	Form      string  `json:"form"`
	Remarks   int     `json:"remarks"`
	Pairs     int     `json:"pairs"`
	Same      int     `json:"same"`    // labelled so
	Unknown   int     `json:"unknown"` // pairs with a missing comment
	Changes   int     `json:"changes"`
	Resamples int     `json:"resamples"`
	Seed      uint64  `json:"seed"`
	Target    float64 `json:"target_precision"`
	// Used is the value that consolidation uses.
	Used       float64          `json:"used"`
	Thresholds []ClusteringFrom `json:"thresholds"`
}

// ClusteringFrom scores the clusters from one similarity on.
type ClusteringFrom struct {
	From float64 `json:"from"`
	// Clusters counts those of at least two remarks, and Largest is the size of the largest.
	Clusters int `json:"clusters"`
	Largest  int `json:"largest"`
	// Together counts the labelled pairs in one cluster. Precision is the share of them that is
	// labelled the same, and Recall the share of pairs labelled the same that is together.
	Together  int   `json:"together"`
	Right     int   `json:"right"`
	Precision Ratio `json:"precision"`
	Recall    Ratio `json:"recall"`
	F1        Ratio `json:"f1"`
}

// MeasureCluster scores the clusters of the remarks of labelled pairs, which are read as in
// ReadPairs. A remark is its title or, without one, its first sentence; those of one project are
// grouped together, whatever their change.
func MeasureCluster(dir string, seed uint64) (Cluster, error) {
	pairs, err := ReadPairs(dir)
	if err != nil {
		return Cluster{}, fault(err, pairsHint)
	}
	c := Cluster{Form: pairs.Form, Pairs: len(pairs.List), Unknown: pairs.Unknown, Resamples: Resamples, Seed: seed, Target: clusterTarget, Used: match.SamePattern}
	g := titlesOf(pairs.List)
	c.Remarks = len(g.at)
	changes := map[string]bool{}
	for _, p := range pairs.List {
		changes[p.Change] = true
		if p.Same {
			c.Same++
		}
	}
	c.Changes = len(changes)
	for _, from := range thresholds {
		c.Thresholds = append(c.Thresholds, g.score(pairs.List, from, seed))
	}
	return c, nil
}

// titled is the titles of each project, and where each remark is in them.
type titled struct {
	projects []string
	titles   map[string][]string
	at       map[string]position // by key
}

type position struct {
	project string
	index   int
}

func titlesOf(pairs []Pair) *titled {
	g := &titled{titles: map[string][]string{}, at: map[string]position{}}
	for i := range pairs {
		project, _, _ := strings.Cut(pairs[i].Change, "#")
		for _, f := range []*precedent.Finding{&pairs[i].A, &pairs[i].B} {
			key := remarkKey(project, f)
			if _, known := g.at[key]; known {
				continue
			}
			if _, known := g.titles[project]; !known {
				g.projects = append(g.projects, project)
			}
			g.at[key] = position{project, len(g.titles[project])}
			g.titles[project] = append(g.titles[project], cmp.Or(f.Title, claim(unquoted(f.Body))))
		}
	}
	return g
}

// remarkKey identifies a remark: by its id, or by place and text.
func remarkKey(project string, f *precedent.Finding) string {
	return strings.Join([]string{project, f.ID, f.String(), f.Title, f.Body}, "\x00")
}

// score clusters from a similarity on.
func (g *titled) score(pairs []Pair, from float64, seed uint64) ClusteringFrom {
	s := ClusteringFrom{From: from}
	cluster := map[position]int{}
	n := 0
	for _, project := range g.projects {
		for _, members := range match.Clusters(g.titles[project], from) {
			n++
			if len(members) > 1 {
				s.Clusters++
			}
			s.Largest = max(s.Largest, len(members))
			for _, i := range members {
				cluster[position{project, i}] = n
			}
		}
	}
	m := merging(pairs, seed, func(i int) bool {
		project, _, _ := strings.Cut(pairs[i].Change, "#")
		return cluster[g.at[remarkKey(project, &pairs[i].A)]] == cluster[g.at[remarkKey(project, &pairs[i].B)]]
	})
	s.Together, s.Right, s.Precision, s.Recall, s.F1 = m.Merged, m.Right, m.Precision, m.Recall, m.F1
	return s
}

// Show prints the scores.
func (c *Cluster) Show(p *report.Page) error {
	plain := func(format string, args ...any) string { return p.Inkf(report.Plain, format, args...) }
	p.Line(plain("pairs      %d of %s and %s, %d are the same", c.Pairs, plural(c.Remarks, "remark"), plural(c.Changes, "change"), c.Same))
	if c.Unknown > 0 {
		p.Para("           ", plain("%d more refer to a missing comment", c.Unknown))
	}
	p.Line(plain("intervals  95 %%, from %d resamples of the changes, seed %d", c.Resamples, c.Seed))
	p.Line(plain("target     precision %.0f %% from %.2f on, the value in use", 100*c.Target, c.Used))
	p.Line()
	p.Line(p.Ink(report.Bold, "Clusters by the similarity of titles"))
	rows := [][]string{{"from", "clusters", "largest", "together", "precision %", "recall %", "F1 %"}}
	for _, t := range c.Thresholds {
		rows = append(rows, []string{
			fmt.Sprintf("%.2f", t.From), fmt.Sprint(t.Clusters), fmt.Sprint(t.Largest),
			fmt.Sprintf("%d, %d rightly", t.Together, t.Right), percent(t.Precision), percent(t.Recall), percent(t.F1),
		})
	}
	p.Table(rows)
	return p.Err()
}
