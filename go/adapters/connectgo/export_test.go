package connectgo

import (
	"time"

	"github.com/harena-project/harena/go/pb/inbound"
)

// TableSizes returns how many entries wait for a hook.
func TableSizes() int {
	return inbound.Waiting() + outgoings.Len() + int(waiting.count.Load())
}

// HoldCollections allows the next collection after so long.
func HoldCollections(d time.Duration) {
	collection.mutex.Lock()
	defer collection.mutex.Unlock()
	collection.next = time.Now().Add(d)
}

// LastCollection returns how long the last collection took, and for how long none followed.
func LastCollection() (took, pause time.Duration) {
	collection.mutex.Lock()
	defer collection.mutex.Unlock()
	return collection.took, collection.next.Sub(collection.ended)
}
