package arena_test

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/harena-project/harena/go/arena"
)

type Node struct {
	Name string
	Next *Node
}

func Example() {
	a := arena.New()
	defer a.Free()

	var list *Node
	for _, name := range []string{"c", "b", "a"} {
		n := arena.NewOf[Node](a)
		n.Name, n.Next = name, list
		list = n
	}
	for n := list; n != nil; n = n.Next {
		fmt.Print(n.Name, " ")
	}
	// Output: a b c
}

var nodes = arena.KindOf[Node]()

func ExampleKind() {
	a := arena.New()
	defer a.Free()
	n := nodes.New(a)
	n.Name = "fast"
	fmt.Println(n.Name, len(nodes.MakeSlice(a, 10)))
	// Output: fast 10
}

// One arena for many requests: Reset takes the memory back and keeps it at hand.
func ExampleArena_Reset() {
	a := arena.New()
	defer a.Free()
	for request := range 3 {
		numbers := arena.MakeSlice[int](a, 0, 8)
		numbers = arena.Append(a, numbers, request, request+1)
		fmt.Print(numbers, " ")
		a.Reset()
	}
	// Output: [0 1] [1 2] [2 3]
}

// A value that has to outlive its request.
func ExampleArena_Retain() {
	a := arena.New()
	n := arena.NewOf[Node](a)
	n.Name = "kept"
	a.Retain()
	a.Free()
	fmt.Println(n.Name)
	// Output: kept
}

func ExampleArena_SetBytesMax() {
	parse := func(a *arena.Arena, count int) (err error) {
		defer func() {
			if limit, ok := recover().(*arena.LimitError); ok {
				err = limit
			}
		}()
		for range count {
			nodes.New(a)
		}
		return nil
	}
	a := arena.New()
	defer a.Free()
	a.SetBytesMax(64 << 10)
	fmt.Println(parse(a, 100), errors.Is(parse(a, 1_000_000), arena.ErrLimit))
	// Output: <nil> true
}

func ExampleArena_String() {
	a := arena.New()
	input := []byte("name=value")
	name := a.String(string(input[:4]))
	a.Free()
	fmt.Println(name) // strings are valid for ever
	// Output: name
}

// Nobody has to free it: what lives in it is collected when nobody refers to it any more.
func ExampleNewFinalizer() {
	first := func() *Node {
		a := arena.NewFinalizer()
		n := arena.NewOf[Node](a)
		n.Name = "kept"
		return n
	}()
	runtime.GC()
	fmt.Println(first.Name)
	// Output: kept
}

func ExampleMakeSlice() {
	a := arena.New()
	defer a.Free()
	primes := arena.MakeSlice[int](a, 0, 3)
	primes = append(primes, 2, 3, 5)
	primes = append(primes, 7) // no room: moves to the heap, never into a neighbour
	fmt.Println(primes)
	// Output: [2 3 5 7]
}

func ExampleAppend() {
	a := arena.New()
	defer a.Free()
	var squares []int
	for i := range 5 {
		squares = arena.Append(a, squares, i*i)
	}
	fmt.Println(squares)
	// Output: [0 1 4 9 16]
}

func ExampleClone() {
	a := arena.New()
	n := arena.NewOf[Node](a)
	n.Name = "original"
	cloned := arena.Clone(n)
	a.Free()
	fmt.Println(cloned.Name)
	// Output: original
}

func ExampleMakeMap() {
	a := arena.New()
	defer a.Free()
	m := arena.MakeMap[string, int](a)
	m["one"] = 1
	fmt.Println(m)
	// Output: map[one:1]
}

// A struct that holds its arena by value, on a pool of its own.
func ExamplePool() {
	type request struct {
		arena arena.Arena
	}
	pool := arena.NewPool(arena.PoolOptions{BytesMax: 16 << 20, DecayInterval: time.Second})
	defer pool.Close()

	var r request
	for range 3 {
		pool.Init(&r.arena)
		nodes.New(&r.arena)
		r.arena.Free()
	}
	stats := pool.Stats()
	fmt.Println(stats.Gets, "arenas on the memory of", stats.Made)
	// Output: 3 arenas on the memory of 1
}
