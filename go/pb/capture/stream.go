package capture

import (
	"sync"
	"time"
)

// Stream is one stream of a captured method. Its messages are captured as calls: a received message and
// the one that is sent next are a call; a received message after which another is received, or the stream
// ends, is a call without a response; and further messages that are sent are calls with an empty request,
// as nothing is parsed for them. One of so many such calls is captured.
//
// Thread rule: Received by one goroutine and Sending by one, at the same time; End when both are done.
type Stream struct {
	tap    *Tap
	method string

	mutex    sync.Mutex
	received *receivedMessage // that nothing was sent after
}

type receivedMessage struct {
	call   Call
	wanted bool
}

// Stream begins a stream. It returns nil for one of a method that is not captured.
func (t *Tap) Stream(method string) *Stream {
	if !t.methods[method] {
		return nil
	}
	return &Stream{tap: t, method: method}
}

// Received is to be called with each message, after it was received.
func (s *Stream) Received(message any) {
	now := &receivedMessage{wanted: s.tap.capture.Wants()}
	if now.wanted {
		now.call = Call{Method: s.method, Time: time.Now()}
		if now.call.Request, now.wanted = s.tap.wire(message); !now.wanted {
			s.tap.capture.Drop()
		}
	}
	s.offer(s.exchange(now))
}

// Sending is to be called with each message, before it is sent.
func (s *Stream) Sending(message any) {
	of := s.exchange(nil)
	if of == nil {
		of = &receivedMessage{call: Call{Method: s.method, Time: time.Now()}, wanted: s.tap.capture.Wants()}
	}
	if !of.wanted {
		return
	}
	var whole bool
	if of.call.Response, whole = s.tap.wire(message); !whole {
		s.tap.capture.Drop()
		return
	}
	s.offer(of)
}

// End is to be called when the stream has ended.
func (s *Stream) End() { s.offer(s.exchange(nil)) }

func (s *Stream) exchange(now *receivedMessage) (before *receivedMessage) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before, s.received = s.received, now
	return before
}

func (s *Stream) offer(m *receivedMessage) {
	if m != nil && m.wanted {
		s.tap.capture.Offer(m.call)
	}
}
