package store

import (
	"context"
	"slices"
	"strconv"

	"github.com/precedent-dev/precedent"
)

// Appearance is a finding with the changes whose reviews showed it.
type Appearance struct {
	// Finding has id, fingerprint, path, category, severity and title, as last shown.
	precedent.Finding
	Pulls []int // pull requests, sorted
	// Changes are the pull requests, and the lines of work of local reviews.
	Changes []string
	// Outcomes are the known ones, on all pull requests.
	Outcomes []precedent.Outcome
}

const maxAppearances = 50_000

// Appearances returns the findings that reviews showed, the last shown first: the last limit of
// them, and those of insights.
func (r *Repo) Appearances(ctx context.Context, limit int) ([]Appearance, error) {
	var found []Appearance
	at := map[string]int{}
	err := rows(ctx, r.db.read, `
		SELECT s.fingerprint, f.id, s.path, s.category, s.severity, s.title, v.pull, v.work, v.head
		FROM sightings s
		JOIN reviews v ON v.repo_id = $1 AND v.id = s.review_id
		JOIN findings f ON f.repo_id = $1 AND f.fingerprint = s.fingerprint
		WHERE s.repo_id = $1 AND s.shown = 1 AND s.fingerprint IN (
			SELECT l.fingerprint FROM (SELECT n.fingerprint FROM findings n WHERE n.repo_id = $1 AND n.seen > 0
				ORDER BY n.last_seen DESC, n.fingerprint LIMIT $2) AS l
			UNION SELECT i.fingerprint FROM insight_findings i WHERE i.repo_id = $1)
		ORDER BY v.at DESC, v.id DESC, s.fingerprint LIMIT $3`, []any{r.id, limit, maxAppearances}, func(s scanner) error {
		var f precedent.Finding
		var pull int
		var work, head string
		if err := s.Scan(&f.Fingerprint, &f.ID, &f.Path, &f.Category, &f.Severity, &f.Title, &pull, &work, &head); err != nil {
			return err
		}
		i, seen := at[f.Fingerprint]
		if !seen {
			i = len(found)
			at[f.Fingerprint] = i
			found = append(found, Appearance{Finding: f})
		}
		found[i].add(pull, work, head)
		return nil
	})
	if err == nil {
		err = r.addOutcomes(ctx, found, at)
	}
	return found, r.db.fail("read shown findings", err)
}

// add counts the change of a sighting once.
func (a *Appearance) add(pull int, work, head string) {
	change := "work " + work
	switch {
	case pull > 0:
		change = "pull " + strconv.Itoa(pull)
		if i, has := slices.BinarySearch(a.Pulls, pull); !has {
			a.Pulls = slices.Insert(a.Pulls, i, pull)
		}
	case work == "":
		change = "head " + head
	}
	if !slices.Contains(a.Changes, change) {
		a.Changes = append(a.Changes, change)
	}
}

func (r *Repo) addOutcomes(ctx context.Context, found []Appearance, at map[string]int) error {
	var fingerprints []string
	for _, a := range found {
		fingerprints = append(fingerprints, a.Fingerprint)
	}
	outcomes, err := collectIn(ctx, r.db.read, `SELECT document FROM outcomes
		WHERE repo_id = $1 AND outcome <> 'unknown' AND fingerprint IN (%s) ORDER BY at, pull, fingerprint`,
		[]any{r.id}, fingerprints, scanDocument[precedent.Outcome])
	for _, o := range outcomes {
		a := &found[at[o.Fingerprint]]
		a.Outcomes = append(a.Outcomes, o)
	}
	return err
}
