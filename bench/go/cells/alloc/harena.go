package alloc

import (
	"github.com/harena-project/harena/bench/go/cells"
	"github.com/harena-project/harena/go/arena"
)

var (
	growKind     = arena.KindOf[growPerson]()
	parallelKind = arena.KindOf[parallelPerson]()
	nodeKind     = arena.KindOf[node]()
	personKind   = arena.KindOf[person]()

	kindA, kindB = arena.KindOf[typeA](), arena.KindOf[typeB]()
	kindC, kindD = arena.KindOf[typeC](), arena.KindOf[typeD]()
	kindE, kindF = arena.KindOf[typeE](), arena.KindOf[typeF]()
	kindG, kindH = arena.KindOf[typeG](), arena.KindOf[typeH]()
)

// The rows: `kind` allocates by a handle of the type, `newof` by the type alone; `dropped` is kind with
// memory that is never used again, which is always safe.
func harenaCells() []cells.Cell {
	return append(harenaGrowing(),
		node1K.cell("kind", func() cells.Body { return harenaNodes(false) }),
		node1K.cell("newof", harenaNodesNewOf),
		node1K.cell("dropped", func() cells.Body { return harenaNodes(true) }),
		person1K.cell("kind", func() cells.Body { return harenaPersons(false) }),
		person1K.cell("newof", harenaPersonsNewOf),
		person1K.cell("dropped", func() cells.Body { return harenaPersons(true) }),
		pooled1K.cell("kind", func() cells.Body {
			return cells.Body{Op: func() {
				a := arena.New()
				makePersons(a)
				a.Free()
			}}
		}),
		types8.cell("kind", harenaTypes),
		types8.cell("newof", harenaTypesNewOf),
	)
}

func harenaGrowing() []cells.Cell {
	return []cells.Cell{
		grow1M.cell("kind", func() cells.Body {
			a, round := arena.New(), 0
			return cells.Body{End: func() { a.Free() }, Op: func() {
				for range grow1MObjects {
					p := growKind.New(a)
					p.Name = "John"
					p.Age = 42
					p.Address = "London"
					p.number = round
					p.uuid = "12345"
				}
				round++
			}}
		}),
		grow1M.cell("newof", func() cells.Body {
			a, round := arena.New(), 0
			return cells.Body{End: func() { a.Free() }, Op: func() {
				for range grow1MObjects {
					p := arena.NewOf[growPerson](a)
					p.Name = "John"
					p.Age = 42
					p.Address = "London"
					p.number = round
					p.uuid = "12345"
				}
				round++
			}}
		}),
		parallel2M.cell("kind", func() cells.Body {
			return cells.Body{Op: func() {
				a := arena.New()
				for range parallel2MObjects {
					p := parallelKind.New(a)
					p.Name = "John"
					p.Age = 32
					p.Addr = "Istanbul"
					p.Zip = 397
				}
				a.Free()
			}}
		}),
		parallel2M.cell("newof", func() cells.Body {
			return cells.Body{Op: func() {
				a := arena.New()
				for range parallel2MObjects {
					p := arena.NewOf[parallelPerson](a)
					p.Name = "John"
					p.Age = 32
					p.Addr = "Istanbul"
					p.Zip = 397
				}
				a.Free()
			}}
		}),
	}
}

func harenaNodes(drop bool) cells.Body {
	a := arena.New()
	return cells.Body{Op: func() {
		var head *node
		for i := range requestObjects {
			n := nodeKind.New(a)
			n.next, n.value = head, i
			head = n
		}
		if drop {
			a.Retain()
		}
		a.Reset()
	}}
}

func harenaNodesNewOf() cells.Body {
	a := arena.New()
	return cells.Body{Op: func() {
		var head *node
		for i := range requestObjects {
			n := arena.NewOf[node](a)
			n.next, n.value = head, i
			head = n
		}
		a.Reset()
	}}
}

func makePersons(a *arena.Arena) {
	var head *person
	for i := range requestObjects {
		p := personKind.New(a)
		p.fill(head, i)
		head = p
	}
}

func harenaPersons(drop bool) cells.Body {
	a := arena.New()
	return cells.Body{Op: func() {
		makePersons(a)
		if drop {
			a.Retain()
		}
		a.Reset()
	}}
}

func harenaPersonsNewOf() cells.Body {
	a := arena.New()
	return cells.Body{Op: func() {
		var head *person
		for i := range requestObjects {
			p := arena.NewOf[person](a)
			p.fill(head, i)
			head = p
		}
		a.Reset()
	}}
}

func harenaTypes() cells.Body {
	all := arena.New()
	return cells.Body{Op: func() {
		for i := range requestObjects / 8 {
			a, b, c, d := kindA.New(all), kindB.New(all), kindC.New(all), kindD.New(all)
			e, f, g, h := kindE.New(all), kindF.New(all), kindG.New(all), kindH.New(all)
			a.words[0], b.words[0], c.words[0], d.words[0] = i, i, i, i
			e.words[0], f.words[0], g.words[0], h.words[0] = i, i, i, i
			d.next, e.next, f.next = d, e, f
			g.name, h.name = "John", "Istanbul"
		}
		all.Reset()
	}}
}

func harenaTypesNewOf() cells.Body {
	all := arena.New()
	return cells.Body{Op: func() {
		for i := range requestObjects / 8 {
			a, b := arena.NewOf[typeA](all), arena.NewOf[typeB](all)
			c, d := arena.NewOf[typeC](all), arena.NewOf[typeD](all)
			e, f := arena.NewOf[typeE](all), arena.NewOf[typeF](all)
			g, h := arena.NewOf[typeG](all), arena.NewOf[typeH](all)
			a.words[0], b.words[0], c.words[0], d.words[0] = i, i, i, i
			e.words[0], f.words[0], g.words[0], h.words[0] = i, i, i, i
			d.next, e.next, f.next = d, e, f
			g.name, h.name = "John", "Istanbul"
		}
		all.Reset()
	}}
}
