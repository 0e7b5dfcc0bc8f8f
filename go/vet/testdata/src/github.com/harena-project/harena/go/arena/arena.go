// Package arena has the declarations of the real one, for the analyzer's tests.
package arena

import "unsafe"

type Arena struct{ state *int }

type Pool struct{}

func New() *Arena                                         { return nil }
func (p *Pool) Get() *Arena                               { return nil }
func (a *Arena) Free()                                    {}
func (a *Arena) Reset()                                   {}
func (a *Arena) Retain()                                  {}
func (a *Arena) String(s string) string                   { return s }
func (a *Arena) Bytes(b []byte) []byte                    { return b }
func NewOf[T any](a *Arena) *T                            { return new(T) }
func NewOfUninitialized[T any](a *Arena) *T               { return new(T) }
func MakeSlice[T any](a *Arena, length, capacity int) []T { return nil }
func Append[T any](a *Arena, slice []T, values ...T) []T  { return nil }
func MakeMap[K comparable, V any](a *Arena) map[K]V       { return nil }
func Clone[T any](v T) T                                  { return v }

type Kind[T any] struct{ _ [0]*T }

func KindOf[T any]() Kind[T]                    { return Kind[T]{} }
func (k Kind[T]) New(a *Arena) *T               { return new(T) }
func (k Kind[T]) MakeSlice(a *Arena, n int) []T { return nil }

type Type struct{}

func (t *Type) New(a *Arena) unsafe.Pointer             { return nil }
func (t *Type) NewArray(a *Arena, n int) unsafe.Pointer { return nil }
