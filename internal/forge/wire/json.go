package wire

import (
	"encoding/json"
	"fmt"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/strict"
)

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
