package arena

// Stats describes one arena at one moment.
type Stats struct {
	BytesUsed  int64 // values and arrays handed out since the last Reset, in bytes
	TextBytes  int64 // strings handed out since the last Reset, in bytes
	BytesTaken int64 // what [Arena.SetBytesMax] bounds: whole chunks, strings and maps, in bytes
	BytesHeld  int64 // chunks and maps that the arena holds, in use or not, in bytes
	Chunks     int   // how many chunks that is
	Maps       int   // how many maps that is
	// Resets counts the rounds that this memory has served, those of earlier arenas included.
	Resets uint64
}

// Stats returns what the arena uses and holds. It takes time in proportion to the types in it.
func (a *Arena) Stats() Stats {
	if a.state == nil {
		return Stats{}
	}
	st := a.ready()
	stats := Stats{
		BytesUsed:  int64(st.bytesUsed()),
		TextBytes:  int64(st.text.bytes),
		BytesTaken: st.charged,
		BytesHeld:  int64(st.bytesHeld),
		Resets:     st.resets,
	}
	for _, s := range st.slabs {
		stats.Chunks += len(s.chunks) + len(s.large)
	}
	for _, l := range st.maps.of {
		if l != nil {
			stats.Maps += len(l.maps)
		}
	}
	return stats
}

// BytesUsed returns the bytes of values, arrays and strings handed out since the last Reset. It
// takes time in proportion to the types used since then.
func (a *Arena) BytesUsed() int64 {
	if a.state == nil {
		return 0
	}
	st := a.ready()
	return int64(st.bytesUsed() + st.text.bytes)
}

// BytesTaken returns what [Arena.SetBytesMax] bounds: whole chunks, strings and maps since the last
// Reset.
func (a *Arena) BytesTaken() int64 {
	if a.state == nil {
		return 0
	}
	return a.ready().charged
}

// PoolStats describes a pool. Its numbers are read one after the other while the pool is in use, so
// that they may disagree by what happened in between.
type PoolStats struct {
	ArenasOut  int64 // arenas that took memory from the pool and were neither freed nor counted as abandoned
	ArenasKept int64 // waiting for their next user
	BytesKept  int64 // held by those, in bytes
	// RetainBytes is the most that an arena keeps when it comes back, in bytes; 0 while the pool has
	// seen too little to say.
	RetainBytes int64

	// What the arenas used that came back lately, in bytes: so many of a hundred used no more. 0 while
	// there were too few.
	BytesUsedP50, BytesUsedP90, BytesUsedP99 int64

	Gets      uint64 // arenas given out
	Made      uint64 // of those, made anew because none was kept
	Trims     uint64 // arenas cut down to RetainBytes when they came back
	Refusals  uint64 // arenas not kept because of PoolOptions.BytesMax or Close
	Decayed   uint64 // arenas dropped because they stayed idle
	Abandoned uint64 // arenas of [NewFinalizer] that became unreachable without Free

	Sampled           uint64 // arenas put into quarantine, by PoolOptions.QuarantineOneIn
	StaleWrites       uint64 // values in quarantine that were found written
	ArenasQuarantined int64  // in quarantine now
	BytesQuarantined  int64  // held by those, in bytes
}
