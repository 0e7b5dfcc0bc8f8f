package scope

import (
	"errors"
	"fmt"
	"math"
)

// Options are the settings of one method. The zero value is mode codec without limits.
type Options struct {
	Mode Mode

	// RequestBytesMax bounds what one scope may take, in bytes: all its arenas together, and the wire
	// bytes of the request. Zero means no bound. In mode heap no limit is held.
	RequestBytesMax int64

	// DecodedRatioMax bounds what decoding a request may take, strings included, in bytes per byte of
	// the request: a guard against small requests that decode into much, which a limit for the largest
	// honest one lets pass. Zero means no bound.
	DecodedRatioMax float64

	// DecodedFloorBytes is what decoding may take in any case: below it nothing is refused for its
	// ratio. Zero means 1 MiB.
	DecodedFloorBytes int64

	// DepthMax bounds how deeply the messages of a request may nest: 1 to [DepthLevelsMax] levels, the
	// request itself included. Zero means protobuf's own limit.
	DepthMax int

	// QuarantineOneIn samples scopes: of one in so many, at random, no memory is reused. It is
	// poisoned at the end, so that who reads it later sees that, and looked at for later writes. Zero
	// samples none; 1000 is a good number. See arena.PoolOptions. It cannot be changed later.
	QuarantineOneIn int
}

// errHeapLimit is for who asks for a limit in mode heap. Limits that were there before stay, unheld.
var errHeapLimit = errors.New("harena/scope: mode heap cannot hold a limit; " +
	"set RequestBytesMax, DecodedRatioMax and DepthMax to 0, or use mode codec")

// Validate says what is wrong with the options.
func (o Options) Validate() error {
	switch {
	case o.Mode > Heap:
		return fmt.Errorf("harena/scope: %v is not a mode", o.Mode)
	case o.RequestBytesMax < 0:
		return fmt.Errorf("harena/scope: RequestBytesMax is %d; want 0 (no bound) or more", o.RequestBytesMax)
	case !(o.DecodedRatioMax == 0 || o.DecodedRatioMax >= 1):
		return fmt.Errorf("harena/scope: DecodedRatioMax is %v; want 0 (no bound) or 1 or more", o.DecodedRatioMax)
	case o.DecodedFloorBytes < 0:
		return fmt.Errorf("harena/scope: DecodedFloorBytes is %d; want 0 (1 MiB) or more", o.DecodedFloorBytes)
	case o.DepthMax < 0 || o.DepthMax > DepthLevelsMax:
		return fmt.Errorf("harena/scope: DepthMax is %d; want 1 to %d, or 0 (protobuf's own limit)", o.DepthMax, DepthLevelsMax)
	case o.QuarantineOneIn < 0:
		return fmt.Errorf("harena/scope: QuarantineOneIn is %d; want 0 (no quarantine) or more", o.QuarantineOneIn)
	}
	return nil
}

// DepthLevelsMax is the largest DepthMax, in levels: what C++'s protobuf parses without a bound of ours.
const DepthLevelsMax = 100

// asksForLimit reports whether the options have a limit that others have not.
func (o Options) asksForLimit(others Options) bool {
	return o.RequestBytesMax != 0 && o.RequestBytesMax != others.RequestBytesMax ||
		o.DecodedRatioMax != 0 && o.DecodedRatioMax != others.DecodedRatioMax ||
		o.DepthMax != 0 && o.DepthMax != others.DepthMax
}

// DecodedFloorBytesDefault stands for a DecodedFloorBytes of zero.
const DecodedFloorBytesDefault = 1 << 20

// DecodedBytesMax returns what a request of wireBytes may be decoded into by DecodedRatioMax, or zero
// when that does not bound it.
func (o Options) DecodedBytesMax(wireBytes int64) int64 {
	if o.DecodedRatioMax == 0 {
		return 0
	}
	floor := o.DecodedFloorBytes
	if floor == 0 {
		floor = DecodedFloorBytesDefault
	}
	byRatio := o.DecodedRatioMax * float64(wireBytes)
	if byRatio >= math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return max(floor, int64(byRatio))
}
