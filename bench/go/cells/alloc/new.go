package alloc

import (
	"runtime"

	"github.com/harena-project/harena/bench/go/cells"
)

// The published tests keep the compiler from putting their objects on the stack in this way.

//go:noinline
func newGrowPerson() *growPerson { return new(growPerson) }

//go:noinline
func newParallelPerson() *parallelPerson { return new(parallelPerson) }

func newCells() []cells.Cell {
	return []cells.Cell{
		grow1M.cell("new", func() cells.Body {
			round := 0
			return cells.Body{Op: func() {
				for range grow1MObjects {
					p := newGrowPerson()
					p.Name = "John"
					p.Age = 42
					p.Address = "London"
					p.number = round
					p.uuid = "12345"
				}
				round++
			}}
		}),
		parallel2M.cell("new", func() cells.Body {
			return cells.Body{Op: func() {
				for range parallel2MObjects {
					p := newParallelPerson()
					p.Name = "John"
					p.Age = 32
					p.Addr = "London"
					p.Zip = 1111
				}
				runtime.GC() // the test has it too
			}}
		}),
		node1K.cell("new", func() cells.Body {
			sink := new(*node) // what stands here is on the heap
			return cells.Body{Op: func() {
				var head *node
				for i := range requestObjects {
					n := new(node)
					n.next, n.value = head, i
					head = n
				}
				*sink = head
			}}
		}),
		person1K.cell("new", newPersons),
		pooled1K.cell("new", newPersons),
		types8.cell("new", func() cells.Body {
			sink := new([8]any)
			return cells.Body{Op: func() {
				for i := range requestObjects / 8 {
					a, b, c, d := new(typeA), new(typeB), new(typeC), new(typeD)
					e, f, g, h := new(typeE), new(typeF), new(typeG), new(typeH)
					a.words[0], b.words[0], c.words[0], d.words[0] = i, i, i, i
					e.words[0], f.words[0], g.words[0], h.words[0] = i, i, i, i
					d.next, e.next, f.next = d, e, f
					g.name, h.name = "John", "Istanbul"
					*sink = [8]any{a, b, c, d, e, f, g, h}
				}
			}}
		}),
	}
}

func newPersons() cells.Body {
	sink := new(*person)
	return cells.Body{Op: func() {
		var head *person
		for i := range requestObjects {
			p := new(person)
			p.fill(head, i)
			head = p
		}
		*sink = head
	}}
}
