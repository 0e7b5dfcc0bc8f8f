package capture

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
)

// Tap is what stands between a framework and the handlers of the methods that are captured: the part
// that the adapters have in common.
//
// Thread rule: any goroutine.
type Tap struct {
	capture *Capture
	methods map[string]bool
}

// NewTap returns a tap of some methods, by their full names: "/package.Service/Method". It panics when a
// name is not full, or there is none.
func NewTap(c *Capture, methods ...string) *Tap {
	t := &Tap{capture: c, methods: make(map[string]bool)}
	for _, method := range methods {
		if strings.Count(method, "/") < 2 || method[0] != '/' {
			panic(fmt.Sprintf(`harena/capture: %q is no method's full name; write "/package.Service/Method"`, method))
		}
		t.methods[method] = true
	}
	if c == nil || len(methods) == 0 {
		panic("harena/capture: NewTap wants a Capture, and the full names of the methods to capture")
	}
	return t
}

// Unary serves a unary call, and captures it if it is one of those. What it returns is what serve does.
// A captured call's messages are encoded once more, before and after serve. A call that fails or panics
// is counted as dropped.
func (t *Tap) Unary(method string, request any, serve func() (response any, err error)) (response any, err error) {
	if !t.methods[method] || !t.capture.Wants() {
		return serve()
	}
	call, whole := Call{Method: method, Time: time.Now()}, false
	defer func() {
		if whole {
			t.capture.Offer(call)
		} else {
			t.capture.Drop()
		}
	}()
	var read bool
	call.Request, read = t.wire(request)
	response, err = serve()
	if read && err == nil {
		call.Response, whole = t.wire(response)
	}
	return response, err
}

// wire returns the bytes of a message, never nil, unless it is none or too large.
func (t *Tap) wire(message any) ([]byte, bool) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, false
	}
	size := proto.Size(m)
	if int64(size) > t.capture.CallBytesMax() {
		return nil, false
	}
	data, err := proto.MarshalOptions{AllowPartial: true}.MarshalAppend(make([]byte, 0, size), m)
	return data, err == nil
}
