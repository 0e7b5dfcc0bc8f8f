package scope

import (
	"errors"
	"fmt"
)

// Options are the settings of one method. The zero value is mode codec without limits.
type Options struct {
	Mode Mode

	// RequestBytesMax bounds what one scope may take, in bytes: the arena and the wire bytes of the
	// request. Zero means no bound.
	RequestBytesMax int64

	// DepthMax bounds how deeply the messages of a request may nest. Zero means protobuf's own
	// limit.
	DepthMax int

	// QuarantineOneIn samples scopes: of one in so many, at random, no memory is reused. It is
	// poisoned at the end, so that who reads it later sees that, and looked at for later writes. Zero
	// samples none; 1000 is a good number. See arena.PoolOptions. It cannot be changed later.
	QuarantineOneIn int
}

var errHeapLimit = errors.New("harena/scope: mode heap cannot hold a limit; " +
	"set RequestBytesMax and DepthMax to 0, or use mode codec")

// Validate says what is wrong with the options.
func (o Options) Validate() error {
	switch {
	case o.Mode > Heap:
		return fmt.Errorf("harena/scope: %v is not a mode", o.Mode)
	case o.RequestBytesMax < 0:
		return fmt.Errorf("harena/scope: RequestBytesMax is %d; want 0 (no bound) or more", o.RequestBytesMax)
	case o.DepthMax < 0:
		return fmt.Errorf("harena/scope: DepthMax is %d; want 0 (no bound) or more", o.DepthMax)
	case o.QuarantineOneIn < 0:
		return fmt.Errorf("harena/scope: QuarantineOneIn is %d; want 0 (no quarantine) or more", o.QuarantineOneIn)
	case o.Mode == Heap && (o.RequestBytesMax != 0 || o.DepthMax != 0):
		return errHeapLimit
	}
	return nil
}
