package scope

import (
	"errors"
	"io"
	"testing"

	"github.com/harena-project/harena/go/arena"
)

func newStream(t *testing.T, o Options, lifetime StreamScope) (*Stream, *Pool) {
	t.Helper()
	p, s := newPool(t, o), new(Stream)
	p.StartStream(s, lifetime, false)
	return s, p
}

func TestPerMessage(t *testing.T) {
	s, p := newStream(t, Options{}, PerMessage)
	first, fresh := s.Receiving()
	if first == nil || !fresh {
		t.Fatal("no scope for the first message")
	}
	s.Received(nil)
	work := s.Scope()
	if work == first || s.Scope() != work {
		t.Error("what the handler makes needs one scope of its own")
	}
	second, fresh := s.Receiving()
	if first.Ended() || second == first || !fresh {
		t.Error("a message ends only when there is a next one")
	}
	s.Received(nil)
	if !first.Ended() || second.Ended() || work.Ended() {
		t.Error("the next message ends the one before, and nothing else")
	}
	third, _ := s.Receiving()
	s.Received(io.EOF)
	if !third.Ended() || second.Ended() {
		t.Error("the end of the stream ends what was not received, and nothing else")
	}
	s.Sent(nil)
	if !work.Ended() || second.Ended() {
		t.Error("sending ends what the handler made, and nothing else")
	}
	next := s.Scope()
	s.Close(true)
	if !second.Ended() || !next.Ended() || p.Stats().ScopesAlive() != 0 || p.Stats().ScopesRetained != 0 {
		t.Errorf("after Close: %+v", p.Stats())
	}
}

func TestPerStream(t *testing.T) {
	s, p := newStream(t, Options{}, PerStream)
	first, fresh := s.Receiving()
	s.Received(nil)
	second, freshAgain := s.Receiving()
	s.Received(io.EOF)
	work := s.Scope()
	s.Sent(nil)
	if first != second || !fresh || freshAgain || s.Scope() != work || first.Ended() || work.Ended() {
		t.Error("the scopes of a stream are not the same throughout")
	}
	s.Close(true)
	if !first.Ended() || !work.Ended() || p.Stats().ScopesRetained != 0 {
		t.Errorf("after Close: %+v", p.Stats())
	}
}

func TestStreamHeap(t *testing.T) {
	s, p := newStream(t, Options{}, StreamHeap)
	if received, _ := s.Receiving(); received != nil || s.Encodes() {
		t.Error("messages on the heap are not Harena's to decode or encode")
	}
	kept := arena.NewOf[int](s.Scope().Arena())
	*kept = 7
	s.Sent(nil)
	*arena.NewOf[int](s.Scope().Arena()) = 8
	s.Close(true)
	if *kept != 7 || p.Stats().ScopesRetained != 2 || p.Stats().ScopesAlive() != 0 {
		t.Errorf("value %d, %+v", *kept, p.Stats())
	}
}

func TestStreamFollowsTheMode(t *testing.T) {
	s, p := newStream(t, Options{Mode: Heap}, PerMessage)
	if received, _ := s.Receiving(); received != nil || s.Encodes() {
		t.Error("mode heap decodes or encodes")
	}
	s.Received(nil)
	if err := p.SetMode(Codec); err != nil {
		t.Fatal(err)
	}
	received, _ := s.Receiving()
	if received == nil || !s.Encodes() {
		t.Fatal("mode codec does not decode or encode")
	}
	s.Close(true)
	if p.Stats().ScopesAlive() != 0 {
		t.Errorf("after Close: %+v", p.Stats())
	}
}

func TestStreamRetainAndUnsoundClose(t *testing.T) {
	s, p := newStream(t, Options{}, PerMessage)
	received, _ := s.Receiving()
	s.Received(nil)
	work := s.Scope()
	s.Retain()
	if !received.Retained() || !work.Retained() {
		t.Error("Retain keeps both")
	}
	if after, _ := s.Receiving(); after.Retained() {
		t.Error("Retain is for what was there")
	}
	s.Close(false)
	if p.Stats().ScopesRetained != 3 || p.Stats().ScopesAlive() != 0 {
		t.Errorf("after Close: %+v", p.Stats())
	}
}

func TestRetainedStream(t *testing.T) {
	p, s := newPool(t, Options{}), new(Stream)
	p.StartStream(s, PerStream, true)
	received, _ := s.Receiving()
	if !received.Retained() || !s.Scope().Retained() {
		t.Error("not everything is retained")
	}
	s.Close(true)
	if StreamScope(3).Validate() == nil || PerStream.Validate() != nil {
		t.Error("Validate")
	}
}

// Memory of a message that was not received or not sent is left to the garbage collector.
func TestStreamErrorsLeaveMemoryAlone(t *testing.T) {
	s, p := newStream(t, Options{}, PerMessage)
	failed := errors.New("failed")
	next, _ := s.Receiving()
	s.Received(failed)
	work := s.Scope()
	s.Sent(failed)
	if !next.Ended() || !work.Ended() || p.Stats().ScopesRetained != 2 {
		t.Errorf("a failed receive and a failed send count as %+v", p.Stats())
	}
	s.Close(true)
}

// The stream tells of a limit that a goroutine crossed for a message before, and recycles nothing after it.
func TestStreamRemembersTheLimit(t *testing.T) {
	s, p := newStream(t, Options{RequestBytesMax: 10_000}, PerMessage)
	arena.MakeSlice[byte](s.Scope().NewArena(), 20_000, 20_000)
	s.Sent(nil)
	s.Scope()
	if !errors.Is(s.Err(), arena.ErrLimit) {
		t.Errorf("the stream tells of %v", s.Err())
	}
	s.Close(true)
	if p.Stats().ScopesRetained != 2 {
		t.Errorf("after Close: %+v", p.Stats())
	}
}
