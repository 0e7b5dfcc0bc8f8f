package arena

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"
)

func TestZeroPoolIsReadyToUse(t *testing.T) {
	var pool Pool
	defer pool.Close()
	a := pool.Get()
	NewOf[node](a)
	if stats := pool.Stats(); stats.ArenasOut != 1 || stats.Gets != 1 || stats.Made != 1 || stats.ArenasKept != 0 {
		t.Errorf("out: %+v", stats)
	}
	a.Free()
	if stats := pool.Stats(); stats.ArenasOut != 0 || stats.ArenasKept != 1 || stats.BytesKept < chunkBytesMin && !Debug {
		t.Errorf("back: %+v", stats)
	}
}

func TestNewPoolRefusesNonsense(t *testing.T) {
	nan := 0.0
	nan /= nan
	for _, options := range []PoolOptions{{BytesMax: -1}, {DecayInterval: -1}, {RetainPercentile: 1.5}, {RetainPercentile: -1}, {RetainPercentile: nan}} {
		wantPanic(t, "NewPool", func() { NewPool(options) })
	}
}

// Every arena comes back exactly once and is never shared: each user writes its number everywhere and
// finds nothing else before its end.
func TestPoolStress(t *testing.T) {
	pool := NewPool(PoolOptions{BytesMax: 1 << 20, DecayInterval: time.Millisecond})
	defer pool.Close()
	const users = 8
	rounds := 1500
	if testing.Short() || Debug {
		rounds = 200
	}
	var group sync.WaitGroup
	for user := range users {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(user), 1))
			var embedded Arena
			for range rounds {
				a := pool.Get()
				if random.IntN(2) == 0 {
					pool.Init(&embedded)
					a = &embedded
				}
				var nodes []*node
				for range random.IntN(300) {
					n := NewOf[node](a)
					if *n != (node{}) {
						t.Errorf("not zero: %+v", *n)
						return
					}
					n.value, n.next = user+1, n
					nodes = append(nodes, n)
				}
				m := MakeMap[int, int](a)
				m[user] = user
				if random.IntN(50) == 0 {
					MakeSlice[node](a, 20_000, 20_000)[random.IntN(20_000)].value = 1
				}
				if random.IntN(20) == 0 {
					runtime.Gosched()
				}
				for _, n := range nodes {
					if n.value != user+1 || n.next != n {
						t.Errorf("shared: %+v", *n)
						return
					}
				}
				if len(m) != 1 || m[user] != user {
					t.Errorf("shared map: %v", m)
					return
				}
				if kept := pool.bytesKept.Load(); kept > 1<<20+users<<20 {
					t.Errorf("%d bytes kept", kept)
				}
				a.Free()
			}
		})
	}
	group.Wait()
	stats := pool.Stats()
	if stats.ArenasOut != 0 || stats.BytesKept > 1<<20 || stats.BytesKept < 0 || stats.ArenasKept > users {
		t.Errorf("%+v", stats)
	}
	var kept, bytes int64
	seen := map[*state]bool{}
	for i := range pool.shards {
		pool.shards[i].mutex.Lock()
		for _, st := range pool.shards[i].kept {
			if seen[st] {
				t.Error("one arena twice in the pool")
			}
			seen[st] = true
			kept++
			bytes += st.bytesPooled
		}
		pool.shards[i].mutex.Unlock()
	}
	if stats = pool.Stats(); stats.Decayed == 0 && (kept != stats.ArenasKept || bytes != stats.BytesKept) {
		t.Errorf("%d arenas with %d bytes, books say %+v", kept, bytes, stats)
	}
	pool.Drain()
	if stats = pool.Stats(); stats.ArenasKept != 0 || stats.BytesKept != 0 {
		t.Errorf("drained: %+v", stats)
	}
}

func TestPoolKeepsAtMostBytesMax(t *testing.T) {
	if Debug {
		t.Skip("harena_debug keeps no chunks")
	}
	pool := NewPool(PoolOptions{BytesMax: 100_000})
	defer pool.Close()
	var arenas []*Arena
	for range 10 {
		a := pool.Get()
		MakeSlice[node](a, 1900, 1900) // about 34 KB
		arenas = append(arenas, a)
	}
	for _, a := range arenas {
		a.Free()
	}
	if stats := pool.Stats(); stats.BytesKept > 100_000 || stats.ArenasKept != 2 || stats.Refusals != 8 {
		t.Errorf("%+v", stats)
	}
}

// One huge arena pins nothing once the pool knows what is usual.
func TestHugeArenaIsTrimmedOnItsReturn(t *testing.T) {
	if Debug {
		t.Skip("harena_debug keeps no chunks")
	}
	pool := &Pool{}
	defer pool.Close()
	use := func(nodes int) {
		a := pool.Get()
		for range nodes {
			NewOf[node](a)
		}
		a.Free()
	}
	for range 100 * shardsMax {
		use(10_000)
	}
	usual := pool.Stats()
	use(1_000_000)
	if stats := pool.Stats(); stats.Trims != usual.Trims+1 || stats.BytesKept > 4*160_000 {
		t.Errorf("before %+v, after %+v", usual, stats)
	}
	if usual.Trims != 0 || usual.RetainBytes < 160_000 || usual.RetainBytes > 4*160_000 {
		t.Errorf("usual: %+v", usual)
	}
}

// A lower percentile keeps less: here every tenth arena is beyond it and is cut each time.
func TestRetainPercentileDecidesWhatIsTrimmed(t *testing.T) {
	if Debug {
		t.Skip("harena_debug keeps no chunks")
	}
	run := func(percentile float64) uint64 {
		pool := NewPool(PoolOptions{RetainPercentile: percentile})
		defer pool.Close()
		for i := range 100 * shardsMax {
			a := pool.Get()
			MakeSlice[node](a, 5000, 5000)
			if i%10 == 0 {
				MakeSlice[int](a, 200_000, 200_000)
			}
			a.Free()
		}
		return pool.Stats().Trims
	}
	if low, high := run(0.5), run(0.99); low < 100 || high > low/3 {
		t.Errorf("%d trims at the median, %d at the 99th percentile; want most of 160, and only the first few", low, high)
	}
}

// What arenas use can grow: the limit follows.
func TestRetainedBytesFollowTheTraffic(t *testing.T) {
	var h histogram
	for range 5000 {
		h.add(1000)
	}
	if got := h.percentile(0.99); got < 1000 || got > 1250 {
		t.Errorf("small: %d", got)
	}
	for range 5000 {
		h.add(1_000_000)
	}
	for range 20 {
		h.add(1 << 40)
	}
	if got := h.percentile(0.95); got < 1_000_000 || got > 1_250_000 {
		t.Errorf("large: %d", got)
	}
}

func TestHistogramBuckets(t *testing.T) {
	last := -1
	for _, bytes := range []int64{-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 1000, 4095, 4096, 1 << 30, 1<<47 + 1} {
		bucket := bucketOf(bytes)
		if bucket < last {
			t.Errorf("%d: bucket %d after %d", bytes, bucket, last)
		}
		last = bucket
		if edge := upperEdge(bucket); edge < bytes || bytes > 4 && edge > bytes+bytes/4 {
			t.Errorf("%d: upper edge %d", bytes, edge)
		}
		if bucketOf(upperEdge(bucket)) != bucket || bucketOf(upperEdge(bucket)+1) != bucket+1 {
			t.Errorf("%d: %d is not the edge of bucket %d", bytes, upperEdge(bucket), bucket)
		}
	}
	if bucketOf(1<<62) != histogramBuckets-1 {
		t.Error("no last bucket")
	}
	var empty histogram
	if empty.percentile(0.99) != 0 {
		t.Error("an empty histogram knows something")
	}
}

// Idle arenas go, a half per interval, and the timer with the last of them.
func TestIdleArenasDecay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewPool(PoolOptions{DecayInterval: time.Second})
		var arenas []*Arena
		for range 64 {
			a := pool.Get()
			NewOf[node](a)
			arenas = append(arenas, a)
		}
		for _, a := range arenas {
			a.Free()
		}
		if !pool.armed.Load() {
			t.Fatal("no timer although arenas are kept")
		}
		last := pool.Stats().ArenasKept
		for range 12 {
			time.Sleep(time.Second + time.Millisecond)
			synctest.Wait()
			if kept := pool.Stats().ArenasKept; kept > last {
				t.Errorf("%d kept after %d", kept, last)
			} else {
				last = kept
			}
		}
		if stats := pool.Stats(); stats.ArenasKept != 0 || stats.BytesKept != 0 || stats.Decayed != 64 {
			t.Errorf("%+v", stats)
		}
		if pool.armed.Load() {
			t.Error("a timer although nothing is kept")
		}
	})
}

// An arena that is used in every interval does not decay.
func TestUsedArenasDoNotDecay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewPool(PoolOptions{DecayInterval: time.Second})
		defer pool.Close()
		for range 20 {
			a := pool.Get()
			NewOf[node](a)
			time.Sleep(300 * time.Millisecond)
			a.Free()
		}
		if stats := pool.Stats(); stats.Made != 1 || stats.Decayed != 0 {
			t.Errorf("%+v", stats)
		}
	})
}

func TestClosedPoolKeepsNothing(t *testing.T) {
	pool := &Pool{}
	out, kept := pool.Get(), pool.Get()
	n := NewOf[node](out)
	n.value = 42
	NewOf[node](kept)
	kept.Free()
	pool.Close()
	if stats := pool.Stats(); stats.ArenasKept != 0 || pool.armed.Load() {
		t.Errorf("%+v, timer %v", stats, pool.armed.Load())
	}
	if n.value != 42 {
		t.Error("taken from under its user")
	}
	out.Free()
	late := pool.Get()
	NewOf[node](late)
	late.Free()
	if stats := pool.Stats(); stats.ArenasKept != 0 || stats.BytesKept != 0 || stats.Refusals != 2 || pool.armed.Load() {
		t.Errorf("%+v", stats)
	}
	pool.Close()
}

// A pool that nobody refers to goes once what it kept has decayed, without Close.
func TestForgottenPoolIsCollected(t *testing.T) {
	pool := func() weak.Pointer[Pool] {
		p := NewPool(PoolOptions{DecayInterval: time.Millisecond})
		a := p.Get()
		NewOf[node](a)
		a.Free()
		return weak.Make(p)
	}()
	if !collected(t, func() bool { return pool.Value() == nil }) {
		t.Error("still alive")
	}
}

func TestDrainDropsWhatIsKept(t *testing.T) {
	pool := &Pool{}
	defer pool.Close()
	a := pool.Get()
	NewOf[node](a)
	a.Free()
	pool.Drain()
	if stats := pool.Stats(); stats.ArenasKept != 0 || stats.BytesKept != 0 {
		t.Errorf("%+v", stats)
	}
	b := pool.Get()
	NewOf[node](b)
	b.Free()
	if kept := pool.Stats().ArenasKept; kept != 1 {
		t.Errorf("%d kept after Drain, want 1", kept)
	}
}
