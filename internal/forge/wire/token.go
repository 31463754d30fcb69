package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// placeholder is what a token prints as, whatever prints it.
const placeholder = "[token]"

// Token is a credential: a personal token, the one of a workflow's run or of an
// installed app. It
// prints as a placeholder. A function holds the secret, because the formatting
// of a struct that holds a Token reads fields without asking their methods, but
// cannot look into a function.
type Token struct{ reveal func() string }

// NewToken holds a token. Blanks around it do not matter. The empty token makes
// a client that says nothing about who it is.
func NewToken(s string) (Token, error) {
	s = strings.TrimSpace(s)
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return Token{}, errors.New("the token contains invalid characters")
		}
	}
	return Token{reveal: func() string { return s }}, nil
}

// Reveal is the secret: for a header, and for git, which asks for it.
func (t Token) Reveal() string {
	if t.reveal == nil {
		return ""
	}
	return t.reveal()
}

// String is a placeholder.
func (Token) String() string { return placeholder }

// GoString is a placeholder.
func (Token) GoString() string { return placeholder }

// Format prints the placeholder for every verb.
func (Token) Format(f fmt.State, _ rune) { fmt.Fprint(f, placeholder) }

// MarshalText gives the placeholder, so that JSON and slog do as well.
func (Token) MarshalText() ([]byte, error) { return []byte(placeholder), nil }

// maxTokens is how many tokens are remembered: an app has two at a time, and gets
// others in their place.
const maxTokens = 8

// rememberToken remembers a token that is sent.
func (t *Transport) rememberToken(token Token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.sent, func(k Token) bool { return k.Reveal() == token.Reveal() }) {
		return
	}
	t.sent = append(t.sent[max(0, len(t.sent)+1-maxTokens):], token)
}

// rememberedTokens are the tokens that were sent of late.
func (t *Transport) rememberedTokens() []Token {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.sent)
}
