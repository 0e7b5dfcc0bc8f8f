package arena

import (
	"reflect"
	"slices"
	"unsafe"
)

const (
	chunkBytesMin = 1 << 10
	chunkBytesMax = 64 << 10
	// An arena that holds this many times chunkBytesMax of one type grows by larger chunks: fewer
	// objects for the garbage collector.
	chunkGrowth       = 16
	chunkBytesMaxHuge = 1 << 20
	// Arrays longer than this get a chunk of their own.
	sharedBytesMax = chunkBytesMax / 4
	// How many idle large chunks are looked at before a new one is made.
	largeSearchMax = 64
	// No single allocation is larger: 128 TiB, or 1 GiB on 32-bit machines. It keeps sums of sizes
	// from overflowing.
	allocBytesMax = uintptr(1) << (30 + 17*(^uintptr(0)>>63))
)

// slab is the memory of one type: chunks allocated as []T, so that the garbage collector sees every
// pointer in them, bumped through in order.
//
// Invariant: bytes of a chunk that were not handed out since the last reset are zero.
type slab struct {
	// The current chunk. base is nil, and off == end == 0, until the first use after a reset.
	base     unsafe.Pointer
	off, end uintptr // both multiples of the type's size

	typ     *Type
	chunks  []chunk // the first `current` are used up
	current int
	// Arrays too large to share a chunk; the first largeUsed are in use.
	large     []chunk
	largeUsed int

	bytes uintptr // of all chunks
	// The most chunks and large chunks used between two resets, since trimUnused last looked.
	chunksPeak, largePeak int

	// view is a reflect.Value on header, through which a chunk is cleared with write barriers.
	view   reflect.Value
	header sliceHeader
}

type chunk struct {
	ptr   unsafe.Pointer
	bytes uintptr
	used  uintptr
}

type sliceHeader struct {
	ptr      unsafe.Pointer
	len, cap int
}

// unarmed fills the gaps of state.slabs: nothing fits into it.
var unarmed = &slab{}

func newSlab(t *Type) *slab {
	s := &slab{typ: t}
	s.view = reflect.NewAt(t.slice, unsafe.Pointer(&s.header)).Elem()
	return s
}

// take is the slow path of an allocation of n values: it makes room and returns it, or nil when the
// state's bound does not allow it.
func (s *slab) take(state *state, n int) unsafe.Pointer {
	if n < 0 || s.typ.size > 0 && uintptr(n) > allocBytesMax/s.typ.size {
		panic("harena/arena: length out of range: " + s.typ.slice.String())
	}
	bytes := uintptr(n) * s.typ.size
	if bytes == 0 {
		return unsafe.Pointer(&zeroSized)
	}
	if bytes > s.end-s.off {
		if bytes > sharedBytesMax && n > 1 {
			return s.takeLarge(state, bytes)
		}
		if !s.advance(state, bytes) {
			return nil
		}
	}
	off := s.off
	s.off = off + bytes
	return unsafe.Add(s.base, off)
}

// zeroSized is where values without bytes are.
var zeroSized struct{}

// advance makes a chunk current that holds bytes.
func (s *slab) advance(state *state, bytes uintptr) bool {
	next := s.current
	if s.base != nil {
		next++
	}
	if next >= len(s.chunks) || s.chunks[next].bytes < bytes || !state.charge(s.chunks[next].bytes) {
		added, ok := s.newChunk(state, max(s.growth(), bytes), bytes)
		if !ok {
			return false
		}
		s.chunks = append(s.chunks, chunk{})
		copy(s.chunks[next+1:], s.chunks[next:])
		s.chunks[next] = added
	}
	s.touch(state)
	if s.base != nil {
		s.chunks[s.current].used = s.off
	}
	s.current = next
	c := &s.chunks[next]
	s.base, s.off, s.end = c.ptr, 0, c.bytes
	return true
}

// takeLarge gives an array a chunk of its own and leaves the current chunk as it is.
func (s *slab) takeLarge(state *state, bytes uintptr) unsafe.Pointer {
	for i := s.largeUsed; i < min(len(s.large), s.largeUsed+largeSearchMax); i++ {
		// Not the much larger ones: a small array in them would pin them.
		if c := s.large[i]; c.bytes >= bytes && c.bytes/2 <= bytes {
			if !state.charge(c.bytes) {
				break // a chunk without room to spare may still be allowed
			}
			s.large[i] = s.large[s.largeUsed]
			c.used = bytes
			s.large[s.largeUsed] = c
			s.touch(state)
			s.largeUsed++
			return c.ptr
		}
	}
	// Room to spare, so that the next request's slightly longer array finds it useful.
	c, ok := s.newChunk(state, bytes+bytes/8, bytes)
	if !ok {
		return nil
	}
	c.used = bytes
	s.touch(state)
	s.large = append(s.large, c)
	last := len(s.large) - 1
	s.large[last], s.large[s.largeUsed] = s.large[s.largeUsed], s.large[last]
	s.largeUsed++
	return c.ptr
}

// growth returns the bytes of the next ordinary chunk.
func (s *slab) growth() uintptr {
	if s.bytes >= chunkGrowth*chunkBytesMax {
		return min(s.bytes/chunkGrowth, chunkBytesMaxHuge)
	}
	return min(max(s.bytes, chunkBytesMin), chunkBytesMax)
}

// newChunk allocates about `wanted` bytes as a typed array, less when the bound demands it but never
// below `least`, after charging for them.
func (s *slab) newChunk(state *state, wanted, least uintptr) (chunk, bool) {
	n := max(state.fit(wanted, least)/s.typ.size, 1)
	bytes := n * s.typ.size
	if !state.charge(bytes) {
		// A budget that others share may have room for less.
		if n = max(least/s.typ.size, 1); state.overBudget == nil || n*s.typ.size == bytes {
			return chunk{}, false
		}
		if bytes = n * s.typ.size; !state.charge(bytes) {
			return chunk{}, false
		}
	}
	ptr := reflect.MakeSlice(s.typ.slice, int(n), int(n)).UnsafePointer()
	s.bytes += bytes
	state.bytesHeld += bytes
	return chunk{ptr: ptr, bytes: bytes}, true
}

// touch puts the slab on the list of those that the next reset visits.
func (s *slab) touch(state *state) {
	if s.base == nil && s.largeUsed == 0 {
		state.touched = append(state.touched, s)
	}
}

// reset zeroes what was handed out, or drops it when keep is false, and starts over. It returns the
// bytes that were handed out.
func (s *slab) reset(state *state, keep bool) (used uintptr) {
	chunksUsed := 0
	if s.base != nil {
		s.chunks[s.current].used = s.off
		chunksUsed = s.current + 1
	}
	s.chunksPeak = max(s.chunksPeak, chunksUsed)
	s.largePeak = max(s.largePeak, s.largeUsed)
	used = s.recycle(state, s.chunks[:chunksUsed], keep) + s.recycle(state, s.large[:s.largeUsed], keep)
	if !keep || Debug {
		s.drop(state, &s.chunks, 0, chunksUsed)
		s.drop(state, &s.large, 0, s.largeUsed)
	}
	s.base, s.off, s.end = nil, 0, 0
	s.current, s.largeUsed = 0, 0
	return used
}

// recycle ends the use of chunks.
func (s *slab) recycle(state *state, chunks []chunk, keep bool) (used uintptr) {
	for i := range chunks {
		c := &chunks[i]
		used += c.used
		if keep && c.used > 0 {
			raceWriteRange(c.ptr, c.used)
			switch {
			case Debug:
				state.debug.quarantine(s.typ, c.ptr, c.used)
			case state.sample != nil:
				state.sample.add(s.typ, c.ptr, c.used)
			default:
				s.zero(c.ptr, c.used)
			}
		}
		c.used = 0
	}
	return used
}

// zero clears memory of the slab's type.
func (s *slab) zero(ptr unsafe.Pointer, bytes uintptr) {
	if s.typ.noscan {
		clear(unsafe.Slice((*byte)(ptr), bytes))
		return
	}
	n := int(bytes / s.typ.size)
	s.header = sliceHeader{ptr: ptr, len: n, cap: n}
	s.view.Clear()
	s.header = sliceHeader{}
}

// drop leaves the chunks from `from` to `to` to the garbage collector.
func (s *slab) drop(state *state, list *[]chunk, from, to int) {
	for _, c := range (*list)[from:to] {
		s.bytes -= c.bytes
		state.bytesHeld -= c.bytes
	}
	*list = slices.Delete(*list, from, to)
}

// bytesUsed returns what was handed out since the last reset.
func (s *slab) bytesUsed() uintptr {
	used := s.off
	for _, c := range s.chunks[:s.current] {
		used += c.used
	}
	for _, c := range s.large[:s.largeUsed] {
		used += c.used
	}
	return used
}
