package pb

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
)

// ErrLimit is what errors.Is finds in the error of a message that would take more memory than
// [Limits] or the arena's own bound allow, or that nests deeper than [Limits] allows.
var ErrLimit = errors.New("harena/pb: over a limit")

// LimitError says which limit a message crossed. Nothing beyond the limit was allocated.
type LimitError struct {
	Limit  string // "BytesMax", "DepthMax", "arena" or the name of the arena's budget
	Max    int64  // its value, in bytes or levels
	Taken  int64  // of a budget, what everybody has taken, in bytes
	Wanted int64  // what the message would have needed by the point where decoding stopped; it may need more
}

func (e *LimitError) Error() string {
	if e.Limit == limitArena {
		return fmt.Sprintf("harena/pb: the arena's bound does not allow the message: %d bytes wanted so far", e.Wanted)
	}
	if e.Taken != 0 {
		return fmt.Sprintf("harena/pb: %s is %d bytes: %d are in use, and the message needs at least %d",
			e.Limit, e.Max, e.Taken, e.Wanted)
	}
	unit := "bytes"
	if e.Limit == limitDepth {
		unit = "levels"
	}
	return fmt.Sprintf("harena/pb: the message needs more than %s = %d %s: at least %d", e.Limit, e.Max, unit, e.Wanted)
}

// Is makes errors.Is(err, ErrLimit) true.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

const (
	limitBytes = "BytesMax"
	limitDepth = "DepthMax"
	limitArena = "arena"
)

// wireError is an input that protobuf does not accept. errors.Is(err, proto.Error) is true for it.
type wireError struct{ text string }

func (e *wireError) Error() string        { return "harena/pb: " + e.text }
func (e *wireError) Is(target error) bool { return target == proto.Error }

// depthText is also what protobuf says.
const depthText = "exceeded maximum recursion depth"

var (
	errDecode = &wireError{"cannot parse invalid wire-format data"}
	errDepth  = &wireError{depthText}
	errUTF8   = &wireError{"string field contains invalid UTF-8"}
)
