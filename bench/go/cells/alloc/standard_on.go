//go:build goexperiment.arenas

package alloc

import (
	standard "arena"

	"github.com/harena-project/harena/bench/go/cells"
)

// standardCells are those of Go's own experimental package.
func standardCells() []cells.Cell {
	const row = "goexperiment"
	return []cells.Cell{
		grow1M.cell(row, func() cells.Body {
			a, round := standard.NewArena(), 0
			return cells.Body{End: func() { a.Free() }, Op: func() {
				for range grow1MObjects {
					p := standard.New[growPerson](a)
					p.Name = "John"
					p.Age = 42
					p.Address = "London"
					p.number = round
					p.uuid = "12345"
				}
				round++
			}}
		}),
		parallel2M.cell(row, func() cells.Body {
			return cells.Body{Op: func() {
				a := standard.NewArena()
				for range parallel2MObjects {
					p := standard.New[parallelPerson](a)
					p.Name = "John"
					p.Age = 32
					p.Addr = "Istanbul"
					p.Zip = 397
				}
				a.Free()
			}}
		}),
		node1K.cell(row, func() cells.Body {
			return cells.Body{Op: func() {
				a := standard.NewArena()
				var head *node
				for i := range requestObjects {
					n := standard.New[node](a)
					n.next, n.value = head, i
					head = n
				}
				a.Free()
			}}
		}),
		person1K.cell(row, standardPersons),
		pooled1K.cell(row, standardPersons),
	}
}

func standardPersons() cells.Body {
	return cells.Body{Op: func() {
		a := standard.NewArena()
		var head *person
		for i := range requestObjects {
			p := standard.New[person](a)
			p.fill(head, i)
			head = p
		}
		a.Free()
	}}
}
