package arena

import (
	"reflect"
	"strconv"
	"testing"
)

// Each round is a request: 1000 linked nodes of 16 bytes, then Reset.
func BenchmarkThousandNodes(b *testing.B) {
	kind := KindOf[node]()
	typ := TypeOf(reflect.TypeFor[node]())
	b.Run("Type", func(b *testing.B) {
		a := &Arena{}
		for b.Loop() {
			var list *node
			for i := range 1000 {
				n := (*node)(typ.New(a))
				n.next, n.value = list, i
				list = n
			}
			a.Reset()
		}
	})
	b.Run("Kind", func(b *testing.B) {
		a := &Arena{}
		for b.Loop() {
			var list *node
			for i := range 1000 {
				n := kind.New(a)
				n.next, n.value = list, i
				list = n
			}
			a.Reset()
		}
	})
	b.Run("NewOf", func(b *testing.B) {
		a := &Arena{}
		for b.Loop() {
			var list *node
			for i := range 1000 {
				n := NewOf[node](a)
				n.next, n.value = list, i
				list = n
			}
			a.Reset()
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			var list *node
			for i := range 1000 {
				n := new(node)
				n.next, n.value = list, i
				list = n
			}
			benchList = list
		}
	})
}

var benchList *node

func BenchmarkMakeSlice(b *testing.B) {
	for _, length := range []int{4, 64, 1024, 65536} {
		b.Run(strconv.Itoa(length), func(b *testing.B) {
			a := &Arena{}
			b.SetBytes(int64(length) * 8)
			for b.Loop() {
				MakeSlice[int](a, length, length)
				a.Reset()
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	a := &Arena{}
	for b.Loop() {
		var s []int
		for i := range 1000 {
			s = Append(a, s, i)
		}
		a.Reset()
	}
}

func BenchmarkString(b *testing.B) {
	a := &Arena{}
	text := "a string of thirty characters."
	for b.Loop() {
		a.String(text)
	}
}

func BenchmarkMakeMap(b *testing.B) {
	a := &Arena{}
	for b.Loop() {
		for i := range 10 {
			m := MakeMap[int, int](a)
			for j := range 5 {
				m[j] = i
			}
		}
		a.Reset()
	}
}

func BenchmarkPoolGetFree(b *testing.B) {
	pool := &Pool{}
	defer pool.Close()
	b.RunParallel(func(pb *testing.PB) {
		var a Arena
		for pb.Next() {
			pool.Init(&a)
			NewOf[node](&a)
			a.Free()
		}
	})
}
