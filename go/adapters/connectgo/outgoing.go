package connectgo

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/internal/handoff"
	"github.com/harena-project/harena/go/scope"
)

// outgoing is a message on its way to the codec. It waits in the table of that name. With a scope it
// is the reply of a unary RPC, and owns the scope: whoever takes it from the table ends that.
type outgoing struct {
	entry handoff.Entry[*outgoing]
	scope *scope.Scope
	stop  func() bool
}

var outgoings handoff.Table[*outgoing]

// put makes the codec find the message, if it is one.
func (o *outgoing) put(message any) bool {
	key := handoff.Key(message)
	if _, ok := message.(proto.Message); !ok || key == nil {
		return false
	}
	o.entry.Value = o
	outgoings.Put(key, &o.entry)
	return true
}

// remove undoes put. It may be called in any case, and reports whether the message was still there.
func (o *outgoing) remove(message any) bool {
	key := handoff.Key(message)
	return key != nil && outgoings.Remove(key, &o.entry)
}

// own is put for a reply with the scope s. When the RPC ends without encoding it by our codec (as
// JSON, say, or because an interceptor put something else in its place), the scope is abandoned: the
// context ends with the RPC, and perhaps earlier, while somebody still reads the reply.
func (o *outgoing) own(ctx context.Context, message any, s *scope.Scope) {
	o.scope = s
	abandon := func() {
		if o.remove(message) {
			s.Abandon()
		}
	}
	o.stop = context.AfterFunc(ctx, abandon)
	if !o.put(message) {
		o.stop()
		s.Abandon()
	} else if ctx.Err() != nil {
		abandon() // the function may have run before there was anything to remove
	}
}

// done is for the codec, when the message is bytes or cannot be encoded.
func (o *outgoing) done(err error) {
	if o.scope == nil {
		return
	}
	o.stop()
	if err != nil {
		o.scope.Abandon()
	} else {
		o.scope.End()
	}
}
