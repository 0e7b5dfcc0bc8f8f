package scope

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// StreamScope says how long the memory of a stream's messages lives.
type StreamScope uint8

const (
	// StreamHeap leaves the messages of streams to the RPC framework. It is the default, because each
	// of the other two asks something of the handler. The handler has a scope all the same.
	StreamHeap StreamScope = iota

	// PerMessage ends a received message when the next one was received, and what the handler made on
	// its scope when the next message was sent. A stream of any length takes the memory of two
	// messages; the handler must not look back. RequestBytesMax bounds each message.
	PerMessage

	// PerStream ends everything when the handler returns, and memory grows until then.
	// RequestBytesMax bounds what is received as a whole, and what is made likewise.
	PerStream
)

// Validate says what is wrong with the value.
func (s StreamScope) Validate() error {
	if s > PerStream {
		return fmt.Errorf("harena/scope: StreamScope(%d) is not known; use StreamHeap, PerMessage or PerStream", s)
	}
	return nil
}

// Stream is the scopes of one stream: one for what is received, one for what the handler makes. They
// are two because a handler may receive and send from two goroutines. It is the [Source] of the
// stream's context.
//
// Thread rule: Receiving and Received by one goroutine, Sent by one, Close when both are done, the
// rest by any.
type Stream struct {
	pool     *Pool
	lifetime StreamScope
	retain   bool

	mu       sync.Mutex // guards the pointers
	received *Scope     // the message that the handler has
	next     *Scope     // the one that is being received
	work     *Scope
	err      error // of a scope that has ended
}

// StartStream makes *s the scopes of a new stream. With retain all memory is left to the garbage
// collector. REQUIRES: *s is the zero value.
func (p *Pool) StartStream(s *Stream, lifetime StreamScope, retain bool) {
	s.pool, s.lifetime, s.retain = p, lifetime, retain
}

// Receiving is to be called before each message that is received. It returns the scope for it, and
// whether that is another than for the message before. Nil means that the framework decodes this
// message by itself.
func (s *Stream) Receiving() (next *Scope, fresh bool) {
	if s.lifetime == StreamHeap {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lifetime == PerStream && s.received != nil {
		return s.received, false
	}
	s.next = s.begin()
	if s.next.Mode() == Heap {
		s.next = s.finish(s.next, true)
	}
	return s.next, true
}

// Received is to be called after each message that was received, or was not. It ends the message
// before, if there is a new one: the last message of a stream outlives the attempt to receive more. After
// an error, the memory of what was not received is left to the garbage collector; the end of the stream,
// io.EOF, is none.
func (s *Stream) Received(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lifetime == PerStream && s.next == nil {
		return // the same scope as before
	}
	if err != nil {
		s.next = s.finish(s.next, errors.Is(err, io.EOF))
		return
	}
	s.received, s.next = s.next, s.finish(s.received, true)
}

// Encodes reports whether Harena is to encode the next message that is sent.
func (s *Stream) Encodes() bool { return s.lifetime != StreamHeap && s.pool.Options().Mode == Codec }

// Sent is to be called after each message that was sent, or was not. It ends what the handler made for
// it, if that is to end; after an error, its memory is left to the garbage collector.
func (s *Stream) Sent(err error) {
	if s.lifetime == PerStream && s.Encodes() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work = s.finish(s.work, err == nil)
}

// Scope returns the scope for what the handler makes.
func (s *Stream) Scope() *Scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work == nil {
		s.work = s.begin()
	}
	return s.work
}

// Retain keeps the message received last, and what the handler made since it sent one.
func (s *Stream) Retain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, current := range []*Scope{s.received, s.next, s.work} {
		if current != nil {
			current.Retain()
		}
	}
}

// Err returns the first error that [Scope.Err] has, or had, for a scope of the stream.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, current := range []*Scope{s.received, s.next, s.work} {
		s.note(current)
	}
	return s.err
}

func (s *Stream) note(one *Scope) {
	if s.err == nil && one != nil {
		s.err = one.Err()
	}
}

// Close ends what is left. Memory is recycled only after a normal return without an error, which
// succeeded says; in every other case it is left to the garbage collector.
func (s *Stream) Close(succeeded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = s.finish(s.received, succeeded)
	s.next = s.finish(s.next, succeeded)
	s.work = s.finish(s.work, succeeded)
}

func (s *Stream) begin() *Scope {
	made := s.pool.Get()
	if s.retain || s.lifetime == StreamHeap {
		made.Retain()
	}
	return made
}

// finish ends a scope, if there is one, and returns nil.
func (s *Stream) finish(one *Scope, succeeded bool) *Scope {
	if one == nil {
		return nil
	}
	s.note(one)
	if succeeded && s.err == nil && one.Mode() == Codec {
		one.End()
	} else {
		one.Abandon()
	}
	return nil
}
