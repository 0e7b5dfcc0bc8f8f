package connectgo

import "github.com/harena-project/harena/go/pb/inbound"

// TableSizes returns how many entries wait for a hook.
func TableSizes() int {
	return inbound.Waiting() + outgoings.Len() + int(waiting.count.Load())
}
