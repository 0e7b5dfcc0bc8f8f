package scope

import (
	"slices"
	"sync"
)

// listener is who called OnChange.
type listener struct{ listen func(who string) }

// listening is held by a change from before to after, so that what a listener sees in between is of
// one alone.
var listening struct {
	mutex sync.Mutex
	all   []*listener
}

// ChangeAs runs change, which changes settings of what the process serves, in the name of who
// ("config"): those of [OnChange] are called before it and after it. What changes outside of such a call
// is nobody's in particular.
//
// Thread rule: any goroutine, one at a time; not from within change or a listener.
func ChangeAs(who string, change func()) {
	listening.mutex.Lock()
	defer listening.mutex.Unlock()
	for _, l := range listening.all {
		l.listen("")
	}
	change()
	for _, l := range listening.all {
		l.listen(who)
	}
}

// OnChange has every [ChangeAs] call listen, with an empty name before the change and with whose it was
// after it, on the goroutine that makes it. listen may ask for settings, and not change any. It is called
// until stop, which waits for calls under way.
//
// Lifetime rule: listen, and what it refers to, stay reachable until stop.
func OnChange(listen func(who string)) (stop func()) {
	l := &listener{listen}
	listening.mutex.Lock()
	defer listening.mutex.Unlock()
	listening.all = append(listening.all, l)
	return func() {
		listening.mutex.Lock()
		defer listening.mutex.Unlock()
		listening.all = slices.DeleteFunc(listening.all, func(other *listener) bool { return other == l })
	}
}
