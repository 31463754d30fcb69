package git

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// maxEarlier limits the earlier commits that are fetched for a pull request.
const maxEarlier = 50

// FetchEarlier fetches commits that a pull request had before a force push, and returns those that can be
// read. The server may have deleted the others. p is the argument of FetchPull.
func (r *Repo) FetchEarlier(ctx context.Context, p Pull, ids []string) []string {
	return r.fetchEarlier(ctx, p, ids, shadowed, r.shadowObjects())
}

// FetchEarlier is like Repo.FetchEarlier, but keeps what it fetches in the mirror.
func (m *Mirror) FetchEarlier(ctx context.Context, p Pull, ids []string) []string {
	turn, err := takeLock(ctx, m.dir+".fetch", true)
	if err != nil {
		return nil
	}
	defer turn.release()
	return m.fetchEarlier(ctx, p, ids, real, filepath.Join(m.dir, "objects"))
}

func (r *Repo) fetchEarlier(ctx context.Context, p Pull, ids []string, v view, objects string) []string {
	p, err := p.completed(r.hash)
	if err != nil {
		return nil
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	ids = slices.DeleteFunc(ids, func(id string) bool { return !r.hash.valid(id) })
	have := map[string]bool{}
	head, _ := p.refNames()
	asked := 0
	for _, id := range ids {
		o, err := r.batch(v).find(ctx, opFetch, id)
		if have[id] = err == nil && o.kind == "commit"; have[id] || asked >= maxEarlier || ctx.Err() != nil {
			continue
		}
		asked++
		// One at a time: git fetches nothing if one of several is missing.
		if r.fetchRefs(ctx, p, v, objects, "+"+id+":"+strings.TrimSuffix(head, "/head")+"/at/"+id) == nil {
			have[id] = true
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return !have[id] })
}
