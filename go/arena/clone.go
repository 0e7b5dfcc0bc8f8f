package arena

import (
	"reflect"
	"strings"
)

// Clone returns a shallow copy of v on the heap, which no Reset touches. T must be a pointer, a
// slice or a string; a string is copied too, so that a few bytes do not keep a whole request alive.
// Anything else panics. It is the Clone of GOEXPERIMENT=arenas.
func Clone[T any](v T) T {
	from := reflect.ValueOf(&v).Elem()
	to := reflect.New(from.Type()).Elem()
	switch from.Kind() {
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			to.Elem().Set(from.Elem())
		}
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			reflect.Copy(to, from)
		}
	case reflect.String:
		to.SetString(strings.Clone(from.String()))
	default:
		panic("harena/arena: Clone: want a pointer, a slice or a string, not " + from.Type().String())
	}
	return to.Interface().(T)
}
