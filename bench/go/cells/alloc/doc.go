// Package alloc has the cells of allocation alone: published tests of Go arenas as they stand, and the
// shapes of requests.
//
// Each loop is written out once per rival. A loop shared through an interface or a type parameter
// would measure the call and not the allocation.
package alloc

import "github.com/harena-project/harena/bench/go/cells"

// shape is what all rivals do in one group.
type shape struct {
	group    string
	units    int
	ops      int // see cells.Cell
	parallel bool
}

var (
	// The test of umem: a million objects, round after round, freed at the end.
	grow1M = shape{group: "alloc/grow_1m", units: grow1MObjects, ops: 10}
	// The test of mi: two million objects on each processor, freed after each round.
	parallel2M = shape{group: "alloc/parallel_2m", units: parallel2MObjects, ops: 4, parallel: true}
	// A request of a thousand linked nodes of 16 bytes.
	node1K = shape{group: "alloc/node_1k", units: requestObjects}
	// A request of a thousand filled structs of 56 bytes.
	person1K = shape{group: "alloc/person_1k", units: requestObjects}
	// The same on each processor, with arenas from a pool.
	pooled1K = shape{group: "alloc/person_1k_parallel", units: requestObjects, parallel: true}
	// A request of eight types in turn, of 32 bytes each.
	types8 = shape{group: "alloc/types_8", units: requestObjects}
)

const (
	grow1MObjects     = 1_000_000
	parallel2MObjects = 2_000_000
	requestObjects    = 1000
)

func (s shape) cell(row string, body func() cells.Body) cells.Cell {
	return cells.Cell{
		Group: s.group, Row: row, Unit: "allocation", Units: s.units, Ops: s.ops, Parallel: s.parallel,
		Make: func() (cells.Body, error) { return body(), nil },
	}
}

func (s shape) missing(row, why string) cells.Cell {
	return cells.Cell{Group: s.group, Row: row, Unit: "allocation", Units: s.units, Missing: why}
}

const (
	umemMissing = "the Go module proxy does not serve github.com/unsafe-risk/umem, and it does not link " +
		"with Go 1.26"
	miMissing  = "the Go module proxy does not serve github.com/unsafe-risk/mi"
	stdMissing = "needs a program that is built with GOEXPERIMENT=arenas"
)

// Cells returns all cells, the baseline of each group first.
func Cells() []cells.Cell {
	all := append(newCells(), harenaCells()...)
	all = append(all, standardCells()...)
	for _, s := range []shape{grow1M, parallel2M, node1K, person1K, pooled1K} {
		all = append(all, s.missing("umem", umemMissing), s.missing("mi", miMissing))
	}
	return all
}
