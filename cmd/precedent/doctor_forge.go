package main

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/settings"
)

// forgePatience is how long a forge may take to say whose the token is.
const forgePatience = 20 * time.Second

// checkStation says which forge pull requests are read from, and as whom. A
// forge is asked only if there is a token for it. Where nothing points to one,
// there is nothing to say: most reviews need none.
func (a *app) checkStation(ctx context.Context, d *diagnosis, op *settings.Settings, repo *git.Repo) {
	const name = "forge"
	st, err := a.station(op)
	if err != nil {
		d.wrong(name, warned, err) // reviews of local changes need none
		return
	}
	var id precedent.Repo
	if repo != nil {
		if ids, err := identities(ctx, repo, op.Repo.Value); err == nil { // trouble is said with the repository
			id = ids[0]
		}
	}
	here := id.Host == st.Host()
	if !here && !st.known() && op.Forge.Source.By == settings.Default {
		return
	}
	if !st.known() {
		hint := "set " + st.named + " to read private ones, and to post"
		d.say(name, fine, hint, "%s (%s), without a token: public pull requests can be read, and nothing can be posted", st.Host(), op.Forge.Source)
		return
	}
	within, cancel := context.WithTimeout(ctx, forgePatience)
	defer cancel()
	if here { // an App acts for a repository
		_, err = st.token(within, id)
	}
	var me forge.Person
	if err == nil {
		me, err = st.Me(within)
	}
	if err != nil {
		d.wrong(name, warned, st.fault(err))
		return
	}
	says := st.Host() + " (" + op.Forge.Source.String() + "), as " + me.Login
	if q := st.Quota(); q.Limit > 0 {
		says += ", " + leftOf(q)
	}
	if !here && !id.IsZero() && !id.IsLocal() {
		d.say(name, warned, elsewhere, "%s; but the clone's remote is on %s", says, id.Host)
		return
	}
	d.say(name, fine, "", "%s", says)
}
