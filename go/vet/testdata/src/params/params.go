package params

import "github.com/harena-project/harena/go/arena"

type node struct{ next *node }

func fill(a *arena.Arena, dst *node) {
	dst.next = arena.NewOf[node](a) // want `is stored in parameter dst`
}
