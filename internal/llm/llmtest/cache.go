package llmtest

import (
	"crypto/sha256"
	"strings"

	"github.com/precedent-dev/precedent"
)

// What both providers document of their prompt caches. A prefix of fewer tokens
// is not cached. Anthropic looks for a hit at a breakpoint and the blocks before
// it, twenty in all; OpenAI counts in steps of 128 tokens.
const (
	minimum   = 1024
	lookBack  = 20
	cacheStep = 128
)

// prompt is a request's input in the order in which a provider caches it:
// Anthropic's as blocks, OpenAI's as one text.
type prompt struct {
	model  string
	blocks []block
	text   string // instead of blocks
}

// block is cached as a whole or not at all.
type block struct {
	bytes      string // what a hit has to be equal in
	tokens     int
	breakpoint bool
}

// cache holds the prompts that the server has started to answer.
type cache struct {
	prefixes map[[sha256.Size]byte]bool // up to breakpoints
	texts    map[string][]string        // by model
}

// keep adds a prompt to the cache.
func (c *cache) keep(p prompt) {
	if p.blocks == nil {
		c.texts[p.model] = append(c.texts[p.model], p.text)
		return
	}
	sums, tokens := p.prefixes()
	for i, b := range p.blocks {
		if b.breakpoint && tokens[i] >= minimum {
			c.prefixes[sums[i]] = true
		}
	}
}

// look determines how much of a prompt is read from the cache and written to it.
func (c *cache) look(p prompt) precedent.Usage {
	if p.blocks == nil {
		return c.lookText(p)
	}
	sums, tokens := p.prefixes()
	var u precedent.Usage
	if len(tokens) > 0 {
		u.InputTokens = tokens[len(tokens)-1]
	}
	hit, last := -1, -1
	for i, b := range p.blocks {
		if !b.breakpoint || tokens[i] < minimum {
			continue
		}
		last = i
		for j := i; j >= 0 && j > i-lookBack; j-- {
			if c.prefixes[sums[j]] {
				hit = max(hit, j)
				break
			}
		}
	}
	if hit >= 0 {
		u.CachedTokens = tokens[hit]
	}
	if last >= 0 {
		u.CacheWriteTokens = max(0, tokens[last]-u.CachedTokens)
	}
	return u
}

// prefixes returns the sum and the tokens of what ends with each block.
func (p prompt) prefixes() (sums [][sha256.Size]byte, tokens []int) {
	sum, n := sha256.Sum256([]byte(p.model)), 0
	for _, b := range p.blocks {
		sum = sha256.Sum256(append(sum[:], b.bytes...))
		n += b.tokens
		sums, tokens = append(sums, sum), append(tokens, n)
	}
	return sums, tokens
}

func (c *cache) lookText(p prompt) precedent.Usage {
	common := 0
	for _, old := range c.texts[p.model] {
		common = max(common, commonPrefix(old, p.text))
	}
	u := precedent.Usage{InputTokens: tokensOf(p.text)}
	if n := tokensOf(p.text[:common]); n >= minimum {
		u.CachedTokens = minimum + (n-minimum)/cacheStep*cacheStep
	}
	return u
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	if strings.HasPrefix(a, b[:n]) {
		return n
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
