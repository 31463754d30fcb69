package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// placeholder is printed in place of a token.
const placeholder = "[token]"

// Token is a credential: a personal token, or the token of a workflow run or an installed app. It always
// prints as a placeholder. The secret is kept in a function because formatting a struct that contains a Token
// reads unexported fields without calling methods, but cannot look into a function.
type Token struct{ reveal func() string }

// NewToken returns a Token, without surrounding white space. An empty token means no authentication.
func NewToken(s string) (Token, error) {
	s = strings.TrimSpace(s)
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return Token{}, errors.New("the token contains invalid characters")
		}
	}
	return Token{reveal: func() string { return s }}, nil
}

// Reveal returns the secret, for a header and for git.
func (t Token) Reveal() string {
	if t.reveal == nil {
		return ""
	}
	return t.reveal()
}

// Format prints the placeholder for every verb.
func (Token) Format(f fmt.State, _ rune) { fmt.Fprint(f, placeholder) }

// MarshalText returns the placeholder, for JSON and slog.
func (Token) MarshalText() ([]byte, error) { return []byte(placeholder), nil }

// maxTokens is how many recent tokens are remembered: an app has two at a time and replaces them.
const maxTokens = 8

// rememberToken records a token that is sent.
func (t *Transport) rememberToken(token Token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.sent, func(k Token) bool { return k.Reveal() == token.Reveal() }) {
		return
	}
	t.sent = append(t.sent[max(0, len(t.sent)+1-maxTokens):], token)
}

// rememberedTokens returns the tokens that were sent recently.
func (t *Transport) rememberedTokens() []Token {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.sent)
}
