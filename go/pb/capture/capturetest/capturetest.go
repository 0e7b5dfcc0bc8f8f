// Package capturetest captures every call of a test, and reads what was captured.
package capturetest

import (
	"log/slog"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/pb/capture"
)

// Capturing is a capture into a directory of the test, which ends with it.
type Capturing struct {
	*capture.Capture
	directory string
}

// New begins one.
func New(t testing.TB) Capturing {
	t.Helper()
	directory := t.TempDir()
	c, err := capture.New(capture.Options{Directory: directory, OneIn: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return Capturing{c, directory}
}

// Calls ends the capture and returns what is in its files.
func (c Capturing) Calls(t testing.TB) []capture.Call {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	var calls []capture.Call
	for call, err := range capture.Calls(c.directory) {
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
	}
	return calls
}

// Message is a pointer to a generated message.
type Message[T any] interface {
	*T
	proto.Message
}

// Parsed is the message, or nil for bytes that are none.
func Parsed[T any, M Message[T]](t testing.TB, wire []byte) M {
	t.Helper()
	if wire == nil {
		return nil
	}
	out := M(new(T))
	if err := proto.Unmarshal(wire, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Counted says of each method how many calls were captured, and how many of them have a request that is
// not empty by its text, have a response, and have the response that answer gives to just that request.
func Counted[T any, M interface {
	Message[T]
	GetText() string
}](t testing.TB, calls []capture.Call, answer func(M) M) map[string][4]int {
	t.Helper()
	counts := map[string][4]int{}
	for _, call := range calls {
		n := counts[call.Method]
		in, out := Parsed[T, M](t, call.Request), Parsed[T, M](t, call.Response)
		n[0]++
		if in.GetText() != "" {
			n[1]++
		}
		if out != nil {
			n[2]++
			if proto.Equal(out, answer(in)) {
				n[3]++
			}
		}
		counts[call.Method] = n
	}
	return counts
}
