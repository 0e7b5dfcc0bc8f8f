package scope

import (
	"slices"
	"sync"
	"weak"
)

// Served is the methods of one server, with the name of its framework: for those who report on a
// process or change its settings while it runs, whatever it serves with.
type Served struct {
	Framework string // "grpc-go"
	*Group
}

type published struct {
	framework string
	group     weak.Pointer[Group]
}

var directory struct {
	mutex     sync.Mutex
	published []published
}

// Publish makes the group one of those that [AllServed] returns, for as long as it is reachable.
// Adapters call it once.
func (g *Group) Publish(framework string) {
	directory.mutex.Lock()
	defer directory.mutex.Unlock()
	dropUnreachable()
	directory.published = append(directory.published, published{framework, weak.Make(g)})
}

// AllServed returns the groups of every server of the process, oldest first: those that the adapters
// made, and any other that was published.
//
// Thread rule: any goroutine.
//
// Lifetime rule: who keeps a group keeps what is left of its server; ask again instead.
func AllServed() []Served {
	directory.mutex.Lock()
	defer directory.mutex.Unlock()
	dropUnreachable()
	var all []Served
	for _, p := range directory.published {
		if group := p.group.Value(); group != nil {
			all = append(all, Served{p.framework, group})
		}
	}
	return all
}

func dropUnreachable() {
	directory.published = slices.DeleteFunc(directory.published, func(p published) bool {
		return p.group.Value() == nil
	})
}
