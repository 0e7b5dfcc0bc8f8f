package arena

import (
	"errors"
	"fmt"
)

// ErrLimit is what a *[LimitError] is, for errors.Is.
var ErrLimit = errors.New("harena/arena: over the limit")

// LimitError is what an allocation beyond [Arena.SetBytesMax], or beyond the budget of
// [Arena.SetBudget], panics with. The arena is as it was before that allocation: it may be used on,
// reset or freed. All numbers are in bytes.
type LimitError struct {
	Budget      string // the name of the budget or shared bound that refused; empty for the arena's own bound
	BytesMax    int64  // the bound
	BytesTaken  int64  // counted against it since the last Reset; of a budget, by everybody
	BytesWanted int64  // asked for by the allocation that was refused
}

func (e *LimitError) Error() string {
	if e.Budget != "" {
		return fmt.Sprintf("harena/arena: %s is %d bytes: %d are in use and %d more were wanted",
			e.Budget, e.BytesMax, e.BytesTaken, e.BytesWanted)
	}
	return fmt.Sprintf("harena/arena: the limit of %d bytes does not allow %d more: %d are taken",
		e.BytesMax, e.BytesWanted, e.BytesTaken)
}

// Is reports whether target is [ErrLimit].
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// charge counts bytes that are about to be taken and says whether the bound and the budget allow
// them.
func (st *state) charge(bytes uintptr) bool {
	st.overBudget = nil
	if st.bytesMax > 0 && int64(bytes) > st.bytesMax-st.charged {
		return false
	}
	if st.overBudget = st.account.take(int64(bytes)); st.overBudget != nil {
		return false
	}
	st.charged += int64(bytes)
	return true
}

// fit returns how many bytes to take where wanted would be good and least would do. Close to the
// bound that is less than wanted, so that the bound is reached by what is used and not by rounding:
// an arena with large chunks must not refuse what a new one would allow.
func (st *state) fit(wanted, least uintptr) uintptr {
	if st.bytesMax <= 0 {
		return wanted
	}
	left := max(st.bytesMax-st.charged, 0)
	if int64(wanted) <= left {
		return wanted
	}
	return max(least, uintptr(max(left/2, min(left, chunkBytesMin))))
}
