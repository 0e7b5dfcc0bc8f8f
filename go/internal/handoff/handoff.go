// Package handoff carries a value from one hook of an RPC framework to another that is given only
// the message: a codec, for example, is told neither the method nor the context.
package handoff

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Table finds values by the address of a message. The zero value is ready to use.
//
// The same message may be put several times, as a reply that several calls share is; then any of its
// entries is found.
//
// Thread rule: any goroutine.
//
// Lifetime rule: the table keeps message and value reachable until Remove or Take.
type Table[V any] struct {
	shards [shardCount]shard[V]
}

// Entry is one value in a table. It is part of the caller's own struct, so that putting it allocates
// nothing.
type Entry[V any] struct {
	Value V

	key  unsafe.Pointer // nil when it is in no table
	next *Entry[V]      // further entries of the same key
}

const shardCount = 64

type shard[V any] struct {
	count   atomic.Int32 // spares messages that nobody put the lock
	mutex   sync.Mutex
	entries map[unsafe.Pointer]*Entry[V]
	_       [64]byte // neighbours are on other cache lines
}

// Key returns the address of a message that is a pointer, and nil for everything else.
func Key(message any) unsafe.Pointer {
	v := reflect.ValueOf(message)
	if v.Kind() != reflect.Pointer {
		return nil
	}
	return v.UnsafePointer()
}

// shard returns where the key belongs. Objects are at least 16 bytes apart, most are more.
func (t *Table[V]) shard(key unsafe.Pointer) *shard[V] {
	bits := uintptr(key)
	return &t.shards[(bits>>4^bits>>10^bits>>16)%shardCount]
}

// Put makes the entry findable. REQUIRES: it is in no table, and the key is not nil.
func (t *Table[V]) Put(key unsafe.Pointer, e *Entry[V]) {
	s := t.shard(key)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.entries == nil {
		s.entries = make(map[unsafe.Pointer]*Entry[V])
	}
	e.key, e.next = key, s.entries[key]
	s.entries[key] = e
	s.count.Add(1)
}

// Find returns the value of an entry of the key, if there is one.
func (t *Table[V]) Find(key unsafe.Pointer) (value V, found bool) {
	s := t.shard(key)
	if s.count.Load() == 0 {
		return value, false
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if e := s.entries[key]; e != nil {
		return e.Value, true
	}
	return value, false
}

// Take is Find, and removes the entry.
func (t *Table[V]) Take(key unsafe.Pointer) (value V, found bool) {
	s := t.shard(key)
	if s.count.Load() == 0 {
		return value, false
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e := s.entries[key]
	if e == nil {
		return value, false
	}
	s.unlink(e)
	return e.Value, true
}

// Remove takes an entry out, and reports whether it was still in. It may be called at any time.
func (t *Table[V]) Remove(key unsafe.Pointer, e *Entry[V]) bool {
	s := t.shard(key)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if e.key != key {
		return false
	}
	s.unlink(e)
	return true
}

// Len returns how many entries there are.
func (t *Table[V]) Len() int {
	total := 0
	for i := range t.shards {
		total += int(t.shards[i].count.Load())
	}
	return total
}

func (s *shard[V]) unlink(e *Entry[V]) {
	if head := s.entries[e.key]; head != e {
		for head.next != e {
			head = head.next
		}
		head.next = e.next
	} else if e.next != nil {
		s.entries[e.key] = e.next
	} else {
		delete(s.entries, e.key)
	}
	e.key, e.next = nil, nil
	s.count.Add(-1)
}
