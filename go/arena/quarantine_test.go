//go:build !harena_debug

package arena

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// sampledPool returns a pool that samples all of its arenas, and what it reports.
func sampledPool(t *testing.T, options PoolOptions) (*Pool, *staleReports) {
	options.QuarantineOneIn = max(options.QuarantineOneIn, 1)
	found := &staleReports{}
	OnStaleWrite(found.add)
	p := NewPool(options)
	t.Cleanup(func() {
		p.Close()
		OnStaleWrite(nil)
	})
	return p, found
}

type staleReports struct {
	mutex sync.Mutex
	all   []*StaleWrite
}

func (r *staleReports) add(w *StaleWrite) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.all = append(r.all, w)
}

func (r *staleReports) list() []*StaleWrite {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]*StaleWrite(nil), r.all...)
}

func TestSampledArenaIsPoisonedAndNeverReused(t *testing.T) {
	p, found := sampledPool(t, PoolOptions{})
	seen := map[*person]bool{}
	for range 100 {
		a := p.Get()
		one := NewOf[person](a)
		if seen[one] || one.Name != "" || one.Age != 0 {
			t.Fatalf("reused: %+v", one)
		}
		seen[one] = true
		*one = person{Name: "x", Age: 1, Tags: []string{"t"}, Friend: one, Any: 1, Balance: 1}
		numbers := MakeSlice[uint16](a, 3, 3)
		m := MakeMap[int, int](a)
		m[1] = 1
		a.Free()
		if one.Name != poisonText || uint64(one.Age) != 0xDBDBDBDBDBDBDBDB || one.Tags != nil ||
			one.Friend != nil || one.Any != nil || numbers[2] != 0xDBDB || len(m) != 0 {
			t.Fatalf("%+v %x %v", *one, numbers, m)
		}
	}
	stats := p.Stats()
	if stats.Sampled != 100 || stats.Made != 100 || stats.ArenasKept != 0 || stats.ArenasOut != 0 {
		t.Errorf("%+v", stats)
	}
	p.Drain()
	if got := found.list(); len(got) != 0 {
		t.Errorf("reported without a write: %v", got[0])
	}
	if stats := p.Stats(); stats.ArenasQuarantined != 0 || stats.BytesQuarantined != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestQuarantineHoldsNoMoreThanItsBytes(t *testing.T) {
	p, found := sampledPool(t, PoolOptions{QuarantineBytesMax: 1 << 20})
	var first *node
	for i := range 100 {
		a := p.Get()
		n := NewOf[node](a)
		MakeSlice[int](a, 10_000, 10_000)
		a.Free()
		if i == 0 {
			first = n
			first.value = 1
		}
		if stats := p.Stats(); stats.BytesQuarantined > 1<<20 {
			t.Fatalf("%+v", stats)
		}
	}
	// The first was looked at when it left.
	if got := found.list(); len(got) != 1 || got[0].Field != ".value" {
		t.Errorf("%v", got)
	}
	// One that is larger than all of it is zeroed and kept like any other.
	a := p.Get()
	large := MakeSlice[int](a, 1<<20, 1<<20)
	large[5] = 5
	a.Free()
	if large[5] != 0 {
		t.Errorf("%x", large[5])
	}
}

func TestRetainedMemoryIsNotSampled(t *testing.T) {
	p, found := sampledPool(t, PoolOptions{})
	a := p.Get()
	n := NewOf[node](a)
	n.value = 7
	a.Retain()
	a.Free()
	n.value++
	p.Drain()
	if n.value != 8 || len(found.list()) != 0 || p.Stats().Sampled != 0 {
		t.Errorf("%d, %v, %+v", n.value, found.list(), p.Stats())
	}
}

func TestOneInManyIsSampledAtRandom(t *testing.T) {
	p, _ := sampledPool(t, PoolOptions{QuarantineOneIn: 10})
	for range 10_000 {
		a := p.Get()
		NewOf[node](a)
		a.Free()
	}
	// 1000 expected, standard deviation 30.
	if got := p.Stats().Sampled; got < 800 || got > 1200 {
		t.Errorf("%d of 10000 sampled, want about 1000", got)
	}
	none := NewPool(PoolOptions{})
	for range 1000 {
		a := none.Get()
		NewOf[node](a)
		a.Free()
	}
	if got := none.Stats().Sampled; got != 0 {
		t.Errorf("%d sampled", got)
	}
}

func TestSampledStaleWriteGoesToStandardErrorWithoutHook(t *testing.T) {
	p, _ := sampledPool(t, PoolOptions{Name: "pool"})
	OnStaleWrite(nil)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = write
	a := p.Get()
	n := NewOf[node](a)
	a.Free()
	n.value = 1
	p.Drain()
	os.Stderr = stderr
	write.Close()
	text := make([]byte, 10_000)
	length, _ := read.Read(text)
	if got := string(text[:length]); !strings.HasPrefix(got, "harena/arena: arena.node.value of pool") {
		t.Errorf("%q", got)
	}
}

func TestSampledArenasFromManyGoroutines(t *testing.T) {
	p, found := sampledPool(t, PoolOptions{QuarantineOneIn: 3, QuarantineBytesMax: 64 << 10, QuarantineFor: time.Millisecond})
	var done sync.WaitGroup
	for range 8 {
		done.Add(1)
		go func() {
			defer done.Done()
			for range 500 {
				a := p.Get()
				n := NewOf[node](a)
				if n.value != 0 {
					t.Error("reused without zeroing")
				}
				n.value = 1
				a.Free()
			}
		}()
	}
	done.Wait()
	p.Drain()
	if got := found.list(); len(got) != 0 {
		t.Errorf("%v", got[0])
	}
}

func TestQuarantineOptionsThatMakeNoSensePanic(t *testing.T) {
	for _, options := range []PoolOptions{{QuarantineOneIn: -1}, {QuarantineBytesMax: -1}, {QuarantineFor: -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: no panic", options)
				}
			}()
			NewPool(options)
		}()
	}
}
