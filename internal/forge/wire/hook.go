package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/strict"
)

// HookHeaders are the names of a forge's headers, in the order in which they are looked for.
type HookHeaders struct {
	// Signatures have the HMAC-SHA256 of the body in hex, possibly after sha256=.
	Signatures []string
	Events     []string
	IDs        []string
}

// maxHeader bounds the id and the name of an event, in bytes.
const maxHeader = 100

// VerifyHook is forge.Forge.VerifyHook. It reads nothing of the body before a signature over it was right,
// and every signature is compared with those of all secrets. A signature by SHA-1 counts as none.
func VerifyHook(names HookHeaders, h http.Header, body []byte, secrets []string) (forge.HookHeader, error) {
	var said [][]byte
	for _, name := range names.Signatures {
		for _, value := range h.Values(name) {
			sum, err := hex.DecodeString(strings.TrimPrefix(value, "sha256="))
			if err == nil && len(sum) == sha256.Size {
				said = append(said, sum)
			} else if value != "" {
				return forge.HookHeader{}, forge.ErrSignature
			}
		}
	}
	if len(said) == 0 {
		return forge.HookHeader{}, forge.ErrUnsigned
	}
	// All signatures of a request must be right by the same secret: proxies and people may add others.
	right := false
	for _, secret := range secrets {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write(body)
		want, all := m.Sum(nil), true
		for _, sum := range said[:min(len(said), len(names.Signatures))] {
			all = hmac.Equal(sum, want) && all
		}
		right = right || all && secret != ""
	}
	if !right || len(said) > len(names.Signatures) {
		return forge.HookHeader{}, forge.ErrSignature
	}
	out := forge.HookHeader{ID: headerWord(h, names.IDs), Event: headerWord(h, names.Events)}
	if out.Event == "" || len(body) == 0 {
		return forge.HookHeader{}, forge.ErrNoHookEvent
	}
	return out, nil
}

// headerWord returns the first of the headers that is set, if it is a short word of visible ASCII.
func headerWord(h http.Header, names []string) string {
	for _, name := range names {
		value := h.Get(name)
		if value == "" {
			continue
		}
		if len(value) > maxHeader || strings.IndexFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
			return ""
		}
		return value
	}
	return ""
}

// ReadEvent decodes a webhook payload of a forge. Its errors are *forge.Error.
func ReadEvent(forgeName, event string, payload []byte, into any) error {
	doing := fmt.Sprintf("read event %q", event)
	if len(payload) > forge.MaxEvent {
		return &forge.Error{Kind: forge.KindTooLarge, Msg: fmt.Sprintf("%s: the payload is larger than %d MiB", doing,
			forge.MaxEvent>>20)}
	}
	if err := strict.Check(payload, strict.Default); err != nil {
		return UnexpectedAnswer(doing, err.Error())
	}
	if json.Unmarshal(payload, into) != nil {
		return UnexpectedAnswer(doing, "it does not match the API of "+forgeName)
	}
	return nil
}
