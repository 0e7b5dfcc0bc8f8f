package workloads

import "github.com/harena-project/harena/go/arena"

// The handlers are written once for both homes of a message. What follows is all that differs: a nil
// arena stands for the heap, as everywhere in Harena.

func newOf[T any](a *arena.Arena) *T {
	if a == nil {
		return new(T)
	}
	return arena.NewOf[T](a)
}

func makeSlice[T any](a *arena.Arena, length, capacity int) []T {
	if a == nil {
		return make([]T, length, capacity)
	}
	return arena.MakeSlice[T](a, length, capacity)
}

func appendTo[T any](a *arena.Arena, slice []T, value T) []T {
	if a == nil || len(slice) < cap(slice) {
		return append(slice, value)
	}
	return arena.Append(a, slice, value)
}

func makeMap[K comparable, V any](a *arena.Arena, entries int) map[K]V {
	if a == nil {
		return make(map[K]V, entries)
	}
	return arena.MakeMap[K, V](a)
}

// some returns a pointer to v, as optional fields want it.
func some[T any](a *arena.Arena, v T) *T {
	p := newOf[T](a)
	*p = v
	return p
}

// joined returns the texts with a space between them.
func joined(a *arena.Arena, first, second string) string {
	if a == nil {
		return first + " " + second
	}
	var buffer [64]byte
	text := append(append(append(buffer[:0], first...), ' '), second...)
	return a.String(string(text))
}
