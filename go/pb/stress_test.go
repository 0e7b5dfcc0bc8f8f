package pb

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/runtime/protoimpl"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb/opaquepb"
)

// collecting makes the garbage collector run all the time until the function that it returns is
// called.
func collecting() (stop func()) {
	percent := debug.SetGCPercent(1)
	done := make(chan struct{})
	var collector sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	})
	return func() {
		close(done)
		collector.Wait()
		debug.SetGCPercent(percent)
	}
}

// wired is a message with its encoding.
type wired struct {
	mt      protoreflect.MessageType
	message proto.Message
	wire    []byte
}

func wiredMessages(t *testing.T, perType uint64) []wired {
	t.Helper()
	var all []wired
	for _, mt := range messageTypes() {
		for seed := range perType {
			wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, seed+50))
			if err != nil {
				t.Fatal(err)
			}
			m := mt.New().Interface()
			if err := (proto.UnmarshalOptions{AllowPartial: true, NoLazyDecoding: true}).Unmarshal(wire, m); err != nil {
				t.Fatal(err)
			}
			all = append(all, wired{mt, m, wire})
		}
	}
	return all
}

// churn decodes and encodes messages in an arena of its own and holds them against protobuf's.
func churn(t *testing.T, all []wired, seed uint64, rounds int) {
	r := rand.New(rand.NewPCG(seed, 1))
	a := arena.New()
	defer a.Free()
	o := UnmarshalOptions{AllowPartial: true}
	type decoded struct {
		message proto.Message
		want    wired
	}
	for range rounds {
		var round []decoded
		for range 10 {
			w := all[r.IntN(len(all))]
			m := w.mt.New().Interface()
			if err := o.Unmarshal(a, w.wire, m); err != nil {
				t.Errorf("%s: %v", w.mt.Descriptor().FullName(), err)
				return
			}
			round = append(round, decoded{m, w})
		}
		for _, d := range round {
			if !proto.Equal(d.message, d.want.message) {
				t.Errorf("%s changed: %v, want %v", d.want.mt.Descriptor().FullName(), d.message, d.want.message)
				return
			}
			wire, err := MarshalOptions{AllowPartial: true}.Marshal(d.message)
			if err != nil || len(wire) != proto.Size(d.want.message) {
				t.Errorf("%s: %d bytes, %v", d.want.mt.Descriptor().FullName(), len(wire), err)
				return
			}
		}
		a.Reset()
	}
}

// TestWhileCollecting: with the garbage collector at work all the time, in several goroutines with an
// arena each.
func TestWhileCollecting(t *testing.T) {
	all := wiredMessages(t, 3)
	defer collecting()()
	var workers sync.WaitGroup
	for seed := range uint64(3) {
		workers.Go(func() { churn(t, all, seed, 300) })
	}
	workers.Wait()
}

// TestHeapStringsSurvive: what messages in an arena refer to on the heap is kept alive by them, and
// only by them.
func TestHeapStringsSurvive(t *testing.T) {
	defer collecting()()
	for _, p := range payloads[:1] {
		wire := p.read(t)
		want := p.message.ProtoReflect().New().Interface()
		if err := proto.Unmarshal(wire, want); err != nil {
			t.Fatal(err)
		}
		a := arena.New()
		for range 5 {
			got := p.message.ProtoReflect().New().Interface()
			if err := Unmarshal(a, append([]byte(nil), wire...), got); err != nil {
				t.Fatal(err)
			}
			var garbage [][]byte
			for n := range 2000 {
				garbage = append(garbage, make([]byte, 16+n%200))
			}
			for _, g := range garbage {
				for i := range g {
					g[i] = 0xee
				}
			}
			if !proto.Equal(want, got) {
				t.Fatalf("%s changed", p.file)
			}
			a.Reset()
		}
	}
}

// TestReadersShareMessage: any number of goroutines may encode one message.
func TestReadersShareMessage(t *testing.T) {
	for _, w := range wiredMessages(t, 1) {
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				wire, err := MarshalOptions{AllowPartial: true}.Marshal(w.message)
				if err != nil || len(wire) != len(w.wire) {
					t.Errorf("%s: %d bytes, %v", w.mt.Descriptor().FullName(), len(wire), err)
				}
			})
		}
		readers.Wait()
	}
}

// TestReadersShareLazy: also one in which protobuf left fields undecoded, while others read those.
func TestReadersShareLazy(t *testing.T) {
	for seed := range uint64(20) {
		wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom((*opaquepb.Lazy)(nil).ProtoReflect().Type(), seed))
		if err != nil {
			t.Fatal(err)
		}
		m := new(opaquepb.Lazy)
		if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(wire, m); err != nil {
			t.Fatal(err)
		}
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() { _ = m.GetLeaf().GetName() + m.GetNext().GetLeaf().GetName() })
			readers.Go(func() {
				if got, err := (MarshalOptions{AllowPartial: true}).Marshal(m); err != nil || len(got) != len(wire) {
					t.Errorf("%d bytes, want %d: %v", len(got), len(wire), err)
				}
			})
		}
		readers.Wait()
	}
}

// TestFirstUseTogether: the tables of a type are made once, whoever comes first, and nobody sees one
// that is not finished.
func TestFirstUseTogether(t *testing.T) {
	all := wiredMessages(t, 1)
	for range 3 {
		tables.Range(func(mt, _ any) bool {
			tables.Delete(mt.(*protoimpl.MessageInfo))
			return true
		})
		start := make(chan struct{})
		var workers sync.WaitGroup
		for seed := range uint64(4) {
			workers.Go(func() {
				<-start
				churn(t, all, seed, 5)
			})
		}
		close(start)
		workers.Wait()
	}
}
