package text

import (
	"strings"
	"sync"
)

// stopWords carry no meaning of their own.
var stopWords = wordSet(`
a an and are as at be been but by can could did do does dont doesnt for from
had has have he her here his how i if im in into is isnt it its ive just may
me might must my no nor not of on only or our she should so some such than
that thats the their them then there these they this those to too us very was
we were what when where which who why will with would you your also about any
am
`)

// commonWords are so frequent in reviews that sharing one does not suggest a shared point: common English
// words in prose about code, and names of parts of code. The list was not derived from a corpus.
var commonWords = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for w := range wordSet(`
use make need think want see like look get set add remove change check call
function method code line file name value test case type return variable
comment nit maybe perhaps seem appear instead better good nice great already
still same other one two first second last next new old current way thing work
fix bug error issue problem possible possibly require consider suggest
suggestion recommend please sure now actually probably currently always never
ever both each all every more less most much many few even again since because
however otherwise without before after while until between below above using
used usage parameter argument param arg string object class field data list
result let know mean understand read write put take give keep leave move go
come try happen handle run start end create build update delete rename replace
example eg etc ie point reason question answer note todo review reviewer author
pr commit patch diff branch ok okay yes right wrong correct incorrect true
false null none nil default option different similar simple simply easy easier
clear clearer explicit explicitly really quite rather bit lot little ensure
expect expected part place number kind sort group whole single multiple
available necessary unnecessary useful well though although anyway yet once
whether either neither against through during via per potential potentially
cause lead behavior behaviour logic condition implementation version module
package section block statement
`) {
		set[stem(w)] = true
	}
	return set
})

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// ContentWords counts the words of a text that carry a meaning of their own: all but articles,
// pronouns and the like. It stops at limit.
func ContentWords(s string, limit int) int {
	n := 0
	eachWord(s, func(w word) bool {
		n++
		if w.whole == "" {
			n += len(w.parts) / 2 // where nothing is between words, they have about two characters
		}
		return n < limit
	})
	return min(n, limit)
}
