package capture

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const methodName = "/s.S/M"

func message(text string) proto.Message { return wrapperspb.String(text) }

// texts returns the captured calls in the order of their offers: "request>response".
func texts(t testing.TB, c *Capture) []string {
	t.Helper()
	closed(t, c)
	calls, _ := written(t, c.options.Directory)
	text := func(wire []byte) string {
		var m wrapperspb.StringValue
		if err := proto.Unmarshal(wire, &m); err != nil {
			t.Fatal(err)
		}
		return m.Value
	}
	var all []string
	for _, call := range calls {
		if call.Method != methodName || call.Time.IsZero() {
			t.Errorf("captured %+v", call)
		}
		one := text(call.Request)
		if call.Response != nil {
			one += ">" + text(call.Response)
		}
		all = append(all, one)
	}
	return all
}

func want(t testing.TB, c *Capture, dropped uint64, calls ...string) {
	t.Helper()
	if got := texts(t, c); !reflect.DeepEqual(got, calls) {
		t.Errorf("captured %q, want %q", got, calls)
	}
	if got := c.Stats().CallsDropped; got != dropped {
		t.Errorf("%d calls dropped, want %d", got, dropped)
	}
}

func TestUnaryCallsThatFailAreNotCaptured(t *testing.T) {
	c := begin(t, Options{OneIn: 1, CallBytesMax: 100})
	tap := NewTap(c, methodName)
	failed := errors.New("failed")
	for _, one := range []struct {
		method            string
		request, response any
		err               error
	}{
		{methodName, message("a"), message("A"), nil},
		{methodName, message("b"), nil, failed},
		{methodName, message("c"), nil, nil},
		{methodName, nil, message("D"), nil},
		{methodName, message(strings.Repeat("e", 200)), message("E"), nil},
		{methodName, message("f"), message(strings.Repeat("F", 200)), nil},
		{"/s.S/Other", message("g"), message("G"), nil},
		{methodName, message(""), message(""), nil},
	} {
		response, err := tap.Unary(one.method, one.request, func() (any, error) { return one.response, one.err })
		if response != one.response || err != one.err {
			t.Errorf("Unary returns %v, %v", response, err)
		}
	}
	func() {
		defer func() {
			if recover() != "panicked" {
				t.Error("the panic is gone")
			}
		}()
		tap.Unary(methodName, message("p"), func() (any, error) { panic("panicked") })
	}()
	want(t, c, 6, "a>A", ">")
}

// What a handler does to its request is not what was on the wire.
func TestTheRequestIsAsItCame(t *testing.T) {
	c := begin(t, Options{OneIn: 1})
	request := wrapperspb.String("came")
	NewTap(c, methodName).Unary(methodName, request, func() (any, error) {
		request.Value = "changed"
		return message("R"), nil
	})
	want(t, c, 0, "came>R")
}

func TestAStreamsMessagesAreCalls(t *testing.T) {
	for script, calls := range map[string][]string{
		"a A b B":   {"a>A", "b>B"},      // a conversation
		"a b c A":   {"a", "b", "c>A"},   // a client's stream
		"a A B C":   {"a>A", ">B", ">C"}, // a server's stream
		"A B a":     {">A", ">B", "a"},   // a server that speaks first
		"a b A B c": {"a", "b>A", ">B", "c"},
		"":          nil,
	} {
		c := begin(t, Options{OneIn: 1})
		s := NewTap(c, methodName).Stream(methodName)
		for _, text := range strings.Fields(script) {
			if text == strings.ToLower(text) {
				s.Received(message(text))
			} else {
				s.Sending(message(text))
			}
		}
		s.End()
		s.End()
		want(t, c, 0, calls...)
	}
	if NewTap(begin(t, Options{}), methodName).Stream("/s.S/Other") != nil {
		t.Error("another method's stream is captured")
	}
}

// A chosen message and its answer belong together; so do those that were not chosen.
func TestOneOfSoManyCallsOfAStream(t *testing.T) {
	c := begin(t, Options{OneIn: 3})
	s := NewTap(c, methodName).Stream(methodName)
	for _, text := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		s.Received(message(text))
		s.Sending(message(strings.ToUpper(text)))
	}
	s.End()
	want(t, c, 0, "a>A", "d>D", "g>G")
}

func TestWhatIsTooLargeInAStreamIsDropped(t *testing.T) {
	c := begin(t, Options{OneIn: 1, CallBytesMax: 100})
	s := NewTap(c, methodName).Stream(methodName)
	large := message(strings.Repeat("x", 200))
	s.Received(large)
	s.Sending(message("A"))
	s.Received(message("b"))
	s.Sending(large)
	s.Received(message("c"))
	s.End()
	want(t, c, 2, "c")
}

// A handler may receive and send from two goroutines.
func TestBothDirectionsAtOnce(t *testing.T) {
	c := begin(t, Options{OneIn: 2})
	s := NewTap(c, methodName).Stream(methodName)
	const each = 1000
	var both sync.WaitGroup
	for _, step := range []func(){func() { s.Received(message("r")) }, func() { s.Sending(message("S")) }} {
		both.Go(func() {
			for range each {
				step()
			}
		})
	}
	both.Wait()
	s.End()
	count := uint64(len(texts(t, c)))
	if stats := c.Stats(); stats.CallsWritten != count || count < each/2 || count > each || stats.CallsDropped != 0 {
		t.Errorf("%d calls, %+v", count, stats)
	}
}
