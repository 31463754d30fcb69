package forge

import (
	"errors"
	"time"

	"github.com/precedent-dev/precedent"
)

// HookHeader is what a verified request of a webhook says about its payload.
type HookHeader struct {
	// ID is the delivery's id, the same for each attempt; empty if the forge sends none. At most
	// 100 bytes of visible ASCII.
	ID string
	// Event is the forge's name of the event, for ReadEvent.
	Event string
}

// The errors of VerifyHook.
var (
	ErrUnsigned    = errors.New("the request has no HMAC-SHA256 signature")
	ErrSignature   = errors.New("the signature of the request is wrong")
	ErrNoHookEvent = errors.New("the request is signed, but names no event or has no body")
)

// HookDelivery is a failed delivery of a webhook.
type HookDelivery struct {
	ID    precedent.ForgeID // of this attempt
	Hook  precedent.ForgeID // the webhook of the repository; empty for that of the GitHub App
	GUID  string            // the same for each attempt
	Event string
	At    time.Time
	// Status is what the server answered, as the forge shows it: "502", "timed out".
	Status string
}
