package arena

import "sync"

const shardsMax = 16

// shard is one part of a pool: a stack, so that what was used last, and is still in the caches, is
// used first.
type shard struct {
	mutex sync.Mutex
	kept  []*state
	// The lowest height of the stack since the last decay: what is below it was not needed.
	idle int

	used        histogram // bytes used per arena
	sinceLook   int
	retainBytes int64
	gets, puts  uint64
	trims       uint64

	_ [64]byte // no two locks in one cache line
}

// retainLookEvery is how many returns pass between two looks at the percentile.
const retainLookEvery = 16

// get takes the state that came back last, or returns nil. first says that this is the first shard
// that an arena asks.
func (s *shard) get(first bool) *state {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if first {
		s.gets++
	}
	last := len(s.kept) - 1
	if last < 0 {
		return nil
	}
	st := s.kept[last]
	s.kept[last] = nil
	s.kept = s.kept[:last]
	s.idle = min(s.idle, last)
	return st
}

// returned learns from an arena that came back and returns how many bytes it may hold; 0 means any.
func (s *shard) returned(used int64, percentile float64, held int64) int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.puts++
	s.used.add(used)
	if s.sinceLook++; s.sinceLook >= retainLookEvery {
		s.sinceLook = 0
		s.retainBytes = max(retainSlack*s.used.percentile(percentile), retainBytesLeast)
	}
	if s.retainBytes > 0 && held > s.retainBytes {
		s.trims++
	}
	return s.retainBytes
}

func (s *shard) keep(st *state) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.kept = append(s.kept, st)
}

// take removes the states that came back first, as many as count says of those that stayed idle and
// of all.
func (s *shard) take(count func(idle, kept int) int) []*state {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	n := count(s.idle, len(s.kept))
	taken := append([]*state(nil), s.kept[:n]...)
	rest := copy(s.kept, s.kept[n:])
	clear(s.kept[rest:])
	s.kept = s.kept[:rest]
	s.idle = rest
	return taken
}
