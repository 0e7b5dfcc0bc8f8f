package connectgo

import (
	"runtime"
	"sync"
	"time"
	"weak"
)

// collection is what bounds the time that collections of our own take.
var collection struct {
	mutex       sync.Mutex
	ended, next time.Time
	took        time.Duration
}

// collectionPause is the pause after a collection, in collections' time: they take a tenth of it at most.
const collectionPause = 9

// endUnreachable ends the calls whose requests are unreachable, which only a collection finds out. It is for
// when the process's budget is used up: what is refused then allocates nothing that would make Go collect.
func endUnreachable() {
	if waiting.count.Load() == 0 {
		return
	}
	collection.mutex.Lock()
	defer collection.mutex.Unlock()
	began := time.Now()
	if began.Before(collection.next) {
		return
	}
	runtime.GC()
	// The cleanups run some time later.
	waiting.calls.Range(func(key, _ any) bool {
		if request := key.(weak.Pointer[byte]); request.Value() == nil {
			abandon(request)
		}
		return true
	})
	collection.ended = time.Now()
	collection.took = collection.ended.Sub(began)
	collection.next = collection.ended.Add(collectionPause * collection.took)
}
