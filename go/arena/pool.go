package arena

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultPool is where arenas without a pool of their own take their memory from.
var DefaultPool = &Pool{}

// PoolOptions are the bounds of what a [Pool] keeps. Zero fields stand for the defaults.
type PoolOptions struct {
	// BytesMax bounds the memory kept for later arenas, in bytes. Arenas that come back beyond it are
	// left to the garbage collector; with 1, all of them. Default: 64 MiB.
	BytesMax int64

	// DecayInterval is how long an arena stays idle before the pool begins to let go: at the end of
	// each interval half of those that nobody needed during it are dropped. Default: 5 s.
	DecayInterval time.Duration

	// RetainPercentile says how much one arena may keep: about three times what this part of the
	// arenas use, lately. One that holds more is cut down when it comes back, so that a rare giant
	// pins nothing. Between 0 and 1. Default: 0.99.
	RetainPercentile float64

	// QuarantineOneIn samples the arenas that are freed: one in so many, at random, is not reused. Its
	// memory is poisoned, so that who still reads it sees that (numbers of 0xDB bytes, strings that
	// say so, nil), and held for a while to find who still writes it; see [OnStaleWrite]. 0 samples
	// none, 1 all of them. 1000 costs less than half a percent of a request. Builds with the tag
	// harena_debug do so with every arena and ignore this.
	QuarantineOneIn int

	// QuarantineBytesMax bounds the memory held so, in bytes. Arenas that hold more than all of it
	// are not sampled. Default: 16 MiB.
	QuarantineBytesMax int64

	// QuarantineFor is how long memory is held before it is looked at and left to the garbage
	// collector. Default: 10 s.
	QuarantineFor time.Duration

	// Name is what reports call the pool.
	Name string
}

const (
	bytesMaxDefault         = 64 << 20
	decayIntervalDefault    = 5 * time.Second
	retainPercentileDefault = 0.99

	// Chunks are rounded up, and requests of different kinds share an arena.
	retainSlack = 3
	// Below this there is nothing worth cutting.
	retainBytesLeast = 64 << 10
)

// Pool keeps the memory of freed arenas for the next ones. The zero value is ready to use and has
// the default [PoolOptions]. A Pool must not be copied after its first use.
//
// Thread rule: any goroutine. No lock is shared by all of them.
//
// Lifetime rule: a pool runs one timer while it keeps anything, and none when it is idle. A pool that
// nobody refers to is collected once its memory has decayed; Close does that at once.
type Pool struct {
	options PoolOptions
	shards  [shardsMax]shard

	bytesKept                          atomic.Int64
	arenasKept                         atomic.Int64
	made, refusals, decayed, abandoned atomic.Uint64
	closed                             atomic.Bool

	quarantine quarantine

	armed atomic.Bool // a timer runs
	mutex sync.Mutex
	timer *time.Timer
}

// NewPool returns a pool with the options. It panics on options that make no sense.
func NewPool(options PoolOptions) *Pool {
	if options.BytesMax < 0 || options.DecayInterval < 0 ||
		!(options.RetainPercentile >= 0 && options.RetainPercentile <= 1) {
		panic("harena/arena: NewPool: want BytesMax and DecayInterval >= 0, and RetainPercentile between 0 and 1")
	}
	if options.QuarantineOneIn < 0 || options.QuarantineBytesMax < 0 || options.QuarantineFor < 0 {
		panic("harena/arena: NewPool: want QuarantineOneIn, QuarantineBytesMax and QuarantineFor >= 0")
	}
	return &Pool{options: options}
}

// Configure gives the options to a pool that is part of a larger struct, as NewPool would. REQUIRES:
// the pool is a zero Pool that nobody has used.
func (p *Pool) Configure(options PoolOptions) { p.options = NewPool(options).options }

// Get returns an arena that draws on the pool. Its Free gives the memory back.
func (p *Pool) Get() *Arena { return &Arena{pool: p} }

// Init makes a an arena that draws on the pool, for structs that hold an Arena by value. REQUIRES: a
// is a zero Arena or was freed; it panics on one that is in use.
func (p *Pool) Init(a *Arena) {
	if a.state != nil && a.state != freed {
		panic("harena/arena: Init of an arena that is in use; free it first")
	}
	a.slabs, a.cache, a.state, a.pool, a.self = nil, nil, nil, p, nil
	a.budget, a.untilLost = nil, false
}

// Stats returns the pool's numbers since it was made.
func (p *Pool) Stats() PoolStats {
	stats := PoolStats{
		ArenasKept: p.arenasKept.Load(),
		BytesKept:  p.bytesKept.Load(),
		Made:       p.made.Load(),
		Refusals:   p.refusals.Load(),
		Decayed:    p.decayed.Load(),
		Abandoned:  p.abandoned.Load(),
	}
	var puts uint64
	var used histogram
	for i := range p.shards {
		s := &p.shards[i]
		s.mutex.Lock()
		used.merge(&s.used)
		stats.Gets += s.gets
		stats.Trims += s.trims
		stats.RetainBytes = max(stats.RetainBytes, s.retainBytes)
		puts += s.puts
		s.mutex.Unlock()
	}
	stats.BytesUsedP50 = used.percentile(0.50)
	stats.BytesUsedP90 = used.percentile(0.90)
	stats.BytesUsedP99 = used.percentile(0.99)
	q := &p.quarantine
	q.mutex.Lock()
	stats.Sampled, stats.StaleWrites = q.counts.sampled, q.counts.staleWrites
	stats.ArenasQuarantined, stats.BytesQuarantined = int64(len(q.held)), int64(q.bytes)
	q.mutex.Unlock()
	stats.ArenasOut = int64(stats.Gets) - int64(puts) - int64(stats.Abandoned)
	return stats
}

// Drain drops everything that the pool keeps, after a look at what is in quarantine. Arenas that are out are not affected, and the pool goes
// on keeping what comes back.
func (p *Pool) Drain() {
	for i := range p.shards {
		p.drop(p.shards[i].take(func(_, kept int) int { return kept }))
	}
	p.drainQuarantine()
}

// Close drains the pool, stops its timer and keeps nothing from then on. Arenas that are out stay
// valid, and new ones can be had; their memory is left to the garbage collector when they are freed.
func (p *Pool) Close() {
	p.closed.Store(true)
	p.Drain()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.timer != nil && p.timer.Stop() {
		p.timer = nil
		p.armed.Store(false)
	}
}

// get takes the memory for an arena out of the pool.
func (p *Pool) get() *state {
	first := rand.Uint32() & shardMask
	st := p.shards[first].get(true)
	for i := uint32(1); st == nil && i <= shardMask && p.arenasKept.Load() > 0; i++ {
		st = p.shards[(first+i)&shardMask].get(false)
	}
	if st == nil {
		p.made.Add(1)
		return &state{pool: p}
	}
	p.arenasKept.Add(-1)
	p.bytesKept.Add(-st.bytesPooled)
	return st
}

// put takes an arena's memory back.
func (p *Pool) put(st *state) {
	random := rand.Uint64()
	s := &p.shards[uint32(random)&shardMask]
	if p.isSampled(st, uint32(random>>32)) {
		s.returned(p.enter(st), p.retainPercentile(), 0)
		return
	}
	if int64(st.bytesHeld) > p.bytesMax() {
		st.retain = true // it will not be kept: no use in zeroing it
	}
	st.reset()
	used := st.usedPeak
	st.usedPeak, st.bytesMax = 0, 0
	st.spills = false
	st.account.end()

	if most := s.returned(used, p.retainPercentile(), int64(st.bytesHeld)); most > 0 {
		st.trim(uintptr(most))
	}
	st.bytesPooled = st.bytesKept()
	if p.bytesKept.Add(st.bytesPooled) > p.bytesMax() || p.closed.Load() {
		p.bytesKept.Add(-st.bytesPooled)
		p.refusals.Add(1)
		st.debug.drop()
		return
	}
	p.arenasKept.Add(1)
	s.keep(st)
	p.arm()
	if p.closed.Load() {
		p.Drain() // Close may have looked before
	}
}

// Lost counts an arena that was used and then left to the garbage collector without Free, for owners
// that cannot touch it any more. [NewFinalizer]'s arenas count themselves.
func (p *Pool) Lost() { p.abandoned.Add(1) }

// drop leaves memory that was taken out of a shard to the garbage collector.
func (p *Pool) drop(states []*state) {
	for _, st := range states {
		p.arenasKept.Add(-1)
		p.bytesKept.Add(-st.bytesPooled)
		st.debug.drop()
	}
}

// arm sets the timer unless it is set.
func (p *Pool) arm() {
	if p.armed.Load() || !p.armed.CompareAndSwap(false, true) {
		return
	}
	interval := p.options.DecayInterval
	if interval == 0 {
		interval = decayIntervalDefault
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.timer = time.AfterFunc(interval, p.decay)
}

// decay drops half of what stayed idle for a whole interval.
func (p *Pool) decay() {
	for i := range p.shards {
		dropped := p.shards[i].take(func(idle, _ int) int { return (idle + 1) / 2 })
		p.decayed.Add(uint64(len(dropped)))
		p.drop(dropped)
	}
	// What is kept after this either is seen below or arms the timer itself.
	p.armed.Store(false)
	if p.arenasKept.Load() > 0 && !p.closed.Load() {
		p.arm()
	}
}

func (p *Pool) bytesMax() int64 {
	if p.options.BytesMax > 0 {
		return p.options.BytesMax
	}
	return bytesMaxDefault
}

func (p *Pool) retainPercentile() float64 {
	if p.options.RetainPercentile > 0 {
		return p.options.RetainPercentile
	}
	return retainPercentileDefault
}

// shardMask selects as many shards as there are processors, rounded up to a power of two. It is read
// once: asking the scheduler takes a lock that all processors share.
var shardMask = func() uint32 {
	procs := min(runtime.GOMAXPROCS(0), shardsMax)
	mask := uint32(0)
	for int(mask)+1 < procs {
		mask = mask<<1 | 1
	}
	return mask
}()
