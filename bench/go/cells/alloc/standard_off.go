//go:build !goexperiment.arenas

package alloc

import "github.com/harena-project/harena/bench/go/cells"

func standardCells() []cells.Cell {
	var all []cells.Cell
	for _, s := range []shape{grow1M, parallel2M, node1K, person1K, pooled1K} {
		all = append(all, s.missing("goexperiment", stdMissing))
	}
	return all
}
