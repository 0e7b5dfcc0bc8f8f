package grpcgo

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/scope"
)

// gRPC may lose the buffer of a reply when the client goes away at the wrong moment. Its scope then
// ends when the garbage collector finds it.
func TestReplyThatGRPCLoses(t *testing.T) {
	pool, err := scope.NewPool(scope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		c := new(call)
		pool.Start(&c.scope)
		c.scope.Arena().String("in use")
		c.out = outgoing{size: new(atomic.Int64), scope: &c.scope, watched: true}
		if _, err := c.out.marshal(&testpb.Note{Text: "lost"}); err != nil {
			t.Fatal(err)
		}
	}()
	for deadline := time.Now().Add(5 * time.Second); pool.Stats().ScopesAlive() != 0; {
		if time.Now().After(deadline) {
			t.Fatalf("the lost scope stays alive: %+v", pool.Stats())
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if stats := pool.Stats(); stats.ScopesRetained != 1 {
		t.Errorf("a lost scope counts as %+v", stats)
	}
}

// Whatever the guess, the bytes are the message's, and an owned scope ends once.
func TestMarshalWithAnyGuess(t *testing.T) {
	pool, err := scope.NewPool(scope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, watched := range []bool{false, true} {
		for _, size := range []int{0, 1, 100, 1000, 5000, 100_000, 1_200_000} {
			for _, guess := range []int64{0, 100, 2000, 5000, 150_000, 3_000_000} {
				m := &testpb.Note{Text: strings.Repeat("x", size)}
				c := new(call)
				pool.Start(&c.scope)
				c.out = outgoing{size: new(atomic.Int64), scope: &c.scope, watched: watched}
				c.out.size.Store(guess)
				data, err := c.out.marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				want, _ := proto.Marshal(m)
				if string(data.Materialize()) != string(want) {
					t.Fatalf("size %d, guess %d: wrong bytes", size, guess)
				}
				if c.scope.Ended() == watched {
					t.Errorf("size %d, guess %d, watched %v: ended %v before Free", size, guess, watched, c.scope.Ended())
				}
				data.Free()
				if !c.scope.Ended() {
					t.Errorf("size %d, guess %d: the scope did not end", size, guess)
				}
			}
		}
	}
}

func TestMarshalOfAnInvalidMessageEndsTheScope(t *testing.T) {
	pool, err := scope.NewPool(scope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, guess := range []int64{0, 5000} {
		for _, watched := range []bool{false, true} {
			c := new(call)
			pool.Start(&c.scope)
			c.out = outgoing{size: new(atomic.Int64), scope: &c.scope, watched: watched}
			c.out.size.Store(guess)
			if _, err := c.out.marshal(&testpb.Note{Text: "\xff"}); err == nil || !c.scope.Ended() {
				t.Errorf("text that is not UTF-8: %v, ended %v", err, c.scope.Ended())
			}
		}
	}
}
